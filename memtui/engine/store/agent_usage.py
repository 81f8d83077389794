"""Hourly counts of the calls and writes of each agent. They are in the file, so all processes share the limits.

A write through an agent's tool is counted in the transaction that writes (``history.operation``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import apsw

from memtui.engine.records import Usage

_KEPT_HOURS = 24


class Charge:
    """What the call of a tool that is under way costs, if it writes. ``accept`` raises for a total over a limit."""

    def __init__(
        self, agent: str, scope: int, hour: int, *, size: int, calls: int, accept: Callable[[Usage], None]
    ) -> None:
        self.agent, self.scope, self.hour = agent, scope, hour
        self.size, self.calls = size, calls
        self.accept = accept
        self.total: Usage | None = None


_under_way: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def charging(charge: Charge) -> Iterator[None]:
    """The first operation of this thread inside is charged."""
    token = _under_way.set(charge)
    try:
        yield
    finally:
        _under_way.reset(token)


def count_write(connection: apsw.Connection) -> None:
    """Count the call under way, inside the transaction that writes. Raises what its ``accept`` raises."""
    charge = _under_way.get()
    if charge is None or charge.total is not None:
        return
    [(writes, size, calls)] = connection.execute(
        "INSERT INTO agent_usage(agent, scope, hour, writes, bytes, calls) VALUES (?, ?, ?, 1, ?, ?) "
        "ON CONFLICT (agent, scope, hour) DO UPDATE SET writes = writes + 1, bytes = bytes + excluded.bytes, "
        "calls = calls + excluded.calls RETURNING writes, bytes, calls",
        (charge.agent, charge.scope, charge.hour, charge.size, charge.calls),
    ).fetchall()
    total = Usage(agent=charge.agent, writes=int(writes), bytes=int(size), calls=int(calls))  # type: ignore[arg-type]
    charge.accept(total)
    charge.total = total
    if total.writes == 1:
        connection.execute("DELETE FROM agent_usage WHERE abs(hour - ?) > ?", (charge.hour, _KEPT_HOURS))


def usage_of_hour(connection: apsw.Connection, hour: int) -> list[Usage]:
    """What each agent (in each scope) did in that hour. Empty for a file from before it was counted."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'agent_usage'").fetchall():
        return []
    rows = connection.execute(
        "SELECT agent, writes, bytes, calls FROM agent_usage WHERE hour = ? ORDER BY agent, scope", (hour,)
    )
    return [
        Usage(agent=str(agent), writes=int(str(writes)), bytes=int(str(size)), calls=int(str(calls)))
        for agent, writes, size, calls in rows
    ]
