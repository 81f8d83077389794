"""Jobs that delete check the clock first: whether it can be believed.

The latest time that was believed is kept in the file, the mark. A clock that is earlier than it was set back. One that is far
beyond it jumped, or the machine was off: both look the same at first. Such a clock is believed once

- a process has run steadily for some hours: the clock and the processor's own count agree; or
- the file shows work by this clock some hours ago (only for a clock that is ahead); or
- runs on several days agree, each later than the one before.

So nothing stops for good, and a wrong clock that is believed in the end does harm within the caps of each day.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import apsw
import msgspec

from memtui.engine.records import Record
from memtui.engine.store import metadata
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import json_text, scalar

if TYPE_CHECKING:
    from logging import Logger

MARK = "clock_high_water"
_SEEN = "clock_seen"
"""Metadata: when a clock that is not believed was looked at, once on each day."""
BACK_SECONDS = 300
JUMP_SECONDS = 48 * 3_600
STEADY_SECONDS = 3 * 3_600
DAYS = 3
_STEP_SECONDS = 600

Monotonic = Callable[[], float]


class ClockState(Record):
    """``seconds`` between the clock and the mark, negative when it went back. ``note`` is "" when all is well."""

    verdict: Literal["good", "back", "jump"]
    seconds: float
    note: str = ""


def check_clock(connection: apsw.Connection, now: float) -> ClockState:
    """Whether the clock can be trusted at ``now`` (Unix seconds), beside the latest time that was."""
    stored = metadata.get(connection, MARK)
    if stored is None:
        return ClockState(verdict="good", seconds=0.0)
    gap = now - float(stored)
    until = f"nothing fades until it has run steadily for {STEADY_SECONDS // 3_600} hours or on {DAYS} days"
    if gap < -BACK_SECONDS:
        return ClockState(
            verdict="back",
            seconds=gap,
            note=f"the clock went back by {_duration_text(-gap)}: {until}, or catches up",
        )
    if gap > JUMP_SECONDS:
        return ClockState(
            verdict="jump",
            seconds=gap,
            note=f"the clock moved on by {_duration_text(gap)} since maintenance last ran: {until}, or you say it is right",
        )
    return ClockState(verdict="good", seconds=gap)


class ClockGuard:
    """What one process sees of the clock. ``monotonic`` counts seconds, but not those of sleep."""

    def __init__(self, connections: Connections, monotonic: Monotonic = time.monotonic) -> None:
        self._connections = connections
        self._monotonic = monotonic
        self._steady_since: tuple[float, float] | None = None
        self._reported = ""

    def observe(self, now: float) -> None:
        """Look at the clock: move the mark when it is good or believed by now, else note that it was seen."""
        steady = self._steady_for(now)
        with self._connections.read() as connection:
            state = check_clock(connection, now)
            if state.verdict == "good":
                self._reported = ""
                if not _is_behind(connection, now):
                    return
            else:
                self._warn_once(state)
                seen = _agreeing_looks(connection, now)
                believed = (
                    steady >= STEADY_SECONDS
                    or len(seen) >= DAYS
                    or (state.verdict == "jump" and _did_work_recently(connection, now))
                )
                if not believed and seen == _stored_state(connection):
                    return
        with self._connections.write() as connection:
            if state.verdict == "good":
                advance_mark(connection, now)
            elif believed:
                accept_time(connection, now)
                _logger().info("the clock is trusted again: it agreed for long enough")
            else:
                metadata.set_value(connection, _SEEN, json_text(seen))

    def _steady_for(self, now: float) -> float:
        """Seconds for which the clock has agreed with the processor's count."""
        count = self._monotonic()
        if self._steady_since is None:
            self._steady_since = now, count
        began, counted = self._steady_since
        if abs((now - began) - (count - counted)) > BACK_SECONDS:
            self._steady_since = now, count
            return 0.0
        return count - counted

    def _warn_once(self, state: ClockState) -> None:
        """In the log, once for each trouble."""
        if state.verdict != self._reported:
            self._reported = state.verdict
            _logger().warning("%s", state.note)


def _logger() -> Logger:
    import logging  # the hook, which only looks, has no time for it

    return logging.getLogger("memtui.maintain")


def advance_mark(connection: apsw.Connection, now: float) -> None:
    """Note a good clock, inside the caller's transaction."""
    if check_clock(connection, now).verdict == "good":
        stored = metadata.get(connection, MARK)
        accept_time(connection, max(now, float(stored or 0)))


def accept_time(connection: apsw.Connection, now: float) -> None:
    """The time is right: by the person's word, or by what was seen. Inside the caller's transaction."""
    metadata.set_value(connection, MARK, str(int(now)))
    connection.execute("DELETE FROM memory_metadata WHERE key = ?", (_SEEN,))


def _is_behind(connection: apsw.Connection, now: float) -> bool:
    """Whether the mark is worth moving: it is written every ten minutes, not at every look."""
    stored = metadata.get(connection, MARK)
    return stored is None or now - float(stored) >= _STEP_SECONDS or bool(_stored_state(connection))


def _stored_state(connection: apsw.Connection) -> tuple[float, ...]:
    text = metadata.get(connection, _SEEN)
    return msgspec.json.decode(text, type=tuple[float, ...]) if text else ()


def _agreeing_looks(connection: apsw.Connection, now: float) -> tuple[float, ...]:
    """The looks on different days that agree, this one included: each later than the one before."""
    before = tuple(at for at in _stored_state(connection) if at <= now)
    if before and _day_number(before[-1]) == _day_number(now):
        return before
    return (*before, float(int(now)))


def _day_number(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _did_work_recently(connection: apsw.Connection, now: float) -> bool:
    """Whether something was done by this clock hours ago, and lately enough to belong to the same run of days."""
    mark = float(metadata.get(connection, MARK) or 0)
    recent = scalar(
        connection,
        "SELECT 1 FROM ops WHERE at > ? AND at BETWEEN ? AND ? LIMIT 1",
        (mark + BACK_SECONDS, now - JUMP_SECONDS, now - STEADY_SECONDS),
    )
    return recent is not None


def _duration_text(seconds: float) -> str:
    days = seconds / 86_400
    if days >= 2:
        return f"{days:,.0f} days"
    hours = seconds / 3_600
    return f"{hours:.0f} hours" if hours >= 2 else f"{seconds / 60:.0f} minutes"
