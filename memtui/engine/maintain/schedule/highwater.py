"""Whether the clock can be believed when it is the reason to take something away.

The latest time at which maintenance saw the clock is kept in the file. A clock that stands before it went
back; one that is far beyond it jumped, or nothing ran for days: both look the same from here. What fades
by the clock waits then: for the clock to catch up, or for the person to say that the time is right.
"""

from __future__ import annotations

from typing import Literal

import apsw

from memtui.engine.records import Record
from memtui.engine.store import metadata

KEY = "clock_high_water"
BACK_SECONDS = 300
JUMP_SECONDS = 48 * 3_600
_STEP_SECONDS = 600


class ClockState(Record):
    """``seconds`` between the clock and the mark, negative when it went back. ``note`` is "" when all is well."""

    verdict: Literal["good", "back", "jump"]
    seconds: float
    note: str = ""


def look(connection: apsw.Connection, now: float) -> ClockState:
    """Whether the clock can be believed at ``now`` (Unix seconds), beside the latest time that the file has seen."""
    stored = metadata.get(connection, KEY)
    if stored is None:
        return ClockState(verdict="good", seconds=0.0)
    gap = now - float(stored)
    if gap < -BACK_SECONDS:
        return ClockState(
            verdict="back",
            seconds=gap,
            note=f"the clock went back by {_span(-gap)}: nothing fades until it catches up",
        )
    if gap > JUMP_SECONDS:
        return ClockState(
            verdict="jump",
            seconds=gap,
            note=f"the clock moved on by {_span(gap)} since maintenance last ran: nothing fades until you say it is right",
        )
    return ClockState(verdict="good", seconds=gap)


def advance(connection: apsw.Connection, now: float) -> None:
    """Note a good clock, inside the caller's transaction."""
    if look(connection, now).verdict == "good":
        stored = metadata.get(connection, KEY)
        metadata.put(connection, KEY, str(int(max(now, float(stored or 0)))))


def behind(connection: apsw.Connection, now: float) -> bool:
    """Whether the mark is worth moving: it is written every ten minutes, not at every look."""
    stored = metadata.get(connection, KEY)
    return stored is None or _STEP_SECONDS <= now - float(stored) <= JUMP_SECONDS


def accept(connection: apsw.Connection, now: float) -> None:
    """The person says that the time is right, inside the caller's transaction."""
    metadata.put(connection, KEY, str(int(now)))


def _span(seconds: float) -> str:
    days = seconds / 86_400
    if days >= 2:
        return f"{days:,.0f} days"
    hours = seconds / 3_600
    return f"{hours:.0f} hours" if hours >= 2 else f"{seconds / 60:.0f} minutes"
