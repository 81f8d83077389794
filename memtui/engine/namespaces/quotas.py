"""``memory.quotas``: what an agent may write and call in a clock hour.

What programs record under their own actor (the Python API, the SDK's session, hooks, imports) is not counted: these are
the person's words, and none may be lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.engine.core import Core
from memtui.engine.errors import QuotaError
from memtui.engine.records import Quota, QuotaName, Usage
from memtui.engine.store import agent_usage
from memtui.engine.store.agent_usage import Charge
from memtui.engine.wording import plural

_HOUR = 3_600
_NEAR = 0.9
_log = logging.getLogger("memtui.quotas")


class _AgentCalls:
    """Of one agent in one hour: ``counted`` as the file had it last, ``pending`` are not in it yet."""

    def __init__(self, hour: int) -> None:
        self.hour = hour
        self.counted = 0
        self.pending = 0
        self.logged: set[QuotaName] = set()


class Quotas:
    """Safe to call from any thread. Writes are counted in the file, calls that only read in this process.

    They are added to the file with the agent's next write.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._calls: dict[tuple[str, str], _AgentCalls] = {}

    @contextmanager
    def call(self, scope: str, size: int | None = None) -> Iterator[None]:
        """Run one call of a tool inside. ``size``: the bytes of text that it may store; None for one that only reads.

        Raises QuotaError when a limit is reached; nothing of the call is stored then.
        """
        now = self._core.clock()
        agent = self._core.actor.removeprefix("agent:")
        calls = self._calls_of_hour((agent, scope), int(now // _HOUR))

        def accept(total: Usage) -> None:
            for quota in self._core.options.quotas:
                if 0 < quota.limit < total.of(quota):
                    self._log_once(calls, agent, quota)
                    raise _quota_error(
                        quota, now, too_long=quota.name == "bytes" and (size or 0) > quota.limit
                    )

        try:
            accept(Usage(agent=agent, calls=calls.counted + calls.pending))
        except QuotaError:
            with self._lock:
                calls.pending -= 1
            raise
        if size is None:
            yield
            return
        with self._lock:
            carried, calls.pending = calls.pending, 0
        charge = Charge(agent, _scope_hash(scope), calls.hour, size=size, calls=carried, accept=accept)
        stored = False
        try:
            with agent_usage.charging(charge):
                yield
            stored = charge.total is not None
        finally:
            with self._lock:
                if stored and charge.total is not None:
                    calls.counted = max(calls.counted, charge.total.calls)
                else:
                    calls.pending += carried

    def near(self) -> list[tuple[Usage, Quota]]:
        """Agents that have used nine tenths of a limit in this hour, or all of it."""
        with self._core.connections.read() as connection:
            used = agent_usage.usage_of_hour(connection, int(self._core.clock() // _HOUR))
        return [
            (usage, quota)
            for usage in used
            for quota in self._core.options.quotas
            if quota.limit and usage.of(quota) >= _NEAR * quota.limit
        ]

    def _calls_of_hour(self, who: tuple[str, str], hour: int) -> _AgentCalls:
        with self._lock:
            calls = self._calls.get(who)
            if calls is None or calls.hour != hour:
                calls = self._calls[who] = _AgentCalls(hour)
            calls.pending += 1
            return calls

    def _log_once(self, calls: _AgentCalls, agent: str, quota: Quota) -> None:
        """One line an hour: an agent that goes on trying does not fill the log."""
        with self._lock:
            new = quota.name not in calls.logged
            calls.logged.add(quota.name)
        if new:
            _log.warning(
                "agent %s has reached its limit of %s an hour", agent, f"{quota.limit:,} {quota.unit}"
            )


def _quota_error(quota: Quota, now: float, *, too_long: bool) -> QuotaError:
    minutes = plural(int(-(-(_HOUR - now % _HOUR) // 60)), "minute")
    if too_long:
        step = "This text alone is longer: store a shorter one."
    elif quota.name == "calls":
        step = f"Go on in {minutes}."
    else:
        step = f"Writing goes on in {minutes}; reading works meanwhile."
    return QuotaError(
        f"Your limit of {quota.limit:,} {quota.unit} an hour is reached.", f"Nothing was stored. {step}"
    )


def _scope_hash(scope: str) -> int:
    """A scope as the file has it: a number, since its words are somebody's."""
    if not scope:
        return 0
    from hashlib import blake2b  # for few; opening a memory goes without

    return int.from_bytes(blake2b(scope.encode("utf-8", "replace"), digest_size=7).digest())
