"""What was let in and what was refused, counted in a small file that the command line shows.

It has times, numbers and addresses, no token and no words of a memory. A server adds to it every other second, so that
several can. It is safe to delete.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from memtui import paths
from memtui.atomic_file import write_atomically
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Record

from .tokens import Fault

FILE_NAME = "access.json"
KEPT_DAYS = 30
_MOST_BYTES = 4 << 20
_LOG_SECONDS = 60.0
_LOCK_SECONDS = 5.0
_DAY = 86_400
_log = logging.getLogger("memtui.access")

Reason = (
    Fault
    | Literal[
        "foreign host", "foreign origin", "not encrypted", "too large", "too many requests", "too many failures",
        "tokens cannot be read", "bad request",
    ]
)  # fmt: skip


class TokenUse(Record):
    """Of one token: how many requests were let in, and the latest (Unix seconds, the address)."""

    requests: int = 0
    last_at: int = 0
    last_address: str = ""


class Refusals(Record):
    """Of one reason on one UTC day (days since 1970)."""

    day: int
    reason: str
    count: int = 0
    last_at: int = 0
    last_address: str = ""


class StoredCounts(Record):
    """``tokens``: by id."""

    tokens: dict[str, TokenUse] = {}
    refused: tuple[Refusals, ...] = ()

    def refused_since(self, since: float) -> list[Refusals]:
        """The refusals of days that end after ``since``, the latest first."""
        recent = [one for one in self.refused if (one.day + 1) * _DAY > since]
        return sorted(recent, key=lambda one: one.last_at, reverse=True)


class AdmissionCounts:
    """Counts in memory; ``save_counts`` adds them to the file, unless nothing is ``kept``. Safe to share between threads."""

    def __init__(
        self, path: Path | None = None, *, kept: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path or paths.state_folder() / FILE_NAME
        self._kept = kept
        self._clock = clock
        self._lock = threading.Lock()
        self._new = StoredCounts()
        self._unlogged: dict[str, int] = {}
        self._logged_at = 0.0
        self._failed = False

    def count_admission(self, token_id: str, address: str) -> None:
        now = int(self._clock())
        use = TokenUse(requests=1, last_at=now, last_address=address)
        with self._lock:
            self._new = _add_counts(self._new, StoredCounts(tokens={token_id: use}), now)

    def count_refusal(self, reason: Reason, address: str) -> None:
        now = int(self._clock())
        one = Refusals(day=now // _DAY, reason=reason, count=1, last_at=now, last_address=address)
        with self._lock:
            self._new = _add_counts(self._new, StoredCounts(refused=(one,)), now)
            self._unlogged[reason] = self._unlogged.get(reason, 0) + 1

    def read_counts(self) -> StoredCounts:
        """What the file has; nothing where it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=StoredCounts)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return StoredCounts()

    def save_counts(self, *, last: bool = False) -> None:
        """Add what is new to the file, and once a minute (and at the ``last`` time) one line to the log."""
        self._write_log(last=last)
        with self._lock:
            new, self._new = self._new, StoredCounts()
        if new == StoredCounts() or not self._kept:
            return
        from filelock import FileLock, Timeout

        try:
            paths.make_private_folder(self.path.parent)
            with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600):
                content = msgspec.json.encode(_add_counts(self.read_counts(), new, int(self._clock())))
                with write_atomically(self.path, force=True) as file:
                    file.write(content)
        except (MemtuiError, OSError, Timeout) as error:
            with self._lock:
                self._new = _add_counts(new, self._new, int(self._clock()))
            if not self._failed:
                self._failed = True
                _log.warning("counts of requests cannot be saved: %s", type(error).__name__)

    def _write_log(self, *, last: bool) -> None:
        now = time.monotonic()
        with self._lock:
            if not self._unlogged or (now - self._logged_at < _LOG_SECONDS and not last):
                return
            refused, self._unlogged = self._unlogged, {}
            self._logged_at = now
        counted = ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items()))
        _log.warning("refused requests: %s", counted)


def _add_counts(old: StoredCounts, new: StoredCounts, now: int) -> StoredCounts:
    tokens = dict(old.tokens)
    for id, use in new.tokens.items():
        before = tokens.get(id, TokenUse())
        tokens[id] = msgspec.structs.replace(use, requests=before.requests + use.requests)
    days = {(one.day, one.reason): one for one in old.refused if one.day > now // _DAY - KEPT_DAYS}
    for one in new.refused:
        known = days.get((one.day, one.reason))
        days[one.day, one.reason] = msgspec.structs.replace(
            one, count=one.count + (known.count if known else 0)
        )
    return StoredCounts(tokens=tokens, refused=tuple(days.values()))
