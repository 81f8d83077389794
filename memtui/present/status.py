"""The status as text: what waits in Review, and how many memories agents got today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .format import count, local_time, plural
from .text import one_line

if TYPE_CHECKING:
    from memtui.engine.records import Status

_NAME = 40


def line(status: Status, now: float) -> str:
    """``3 to review, 31 memories told today``, and whether recording is paused."""
    parts = [f"{count(status.review)} to review", f"{plural(status.memories, 'memory')} told today"]
    return ", ".join([*parts, *([paused(status, now)] if status.pause else [])])


def paused(status: Status, now: float) -> str:
    until = status.pause.until if status.pause else None
    return f"recording paused until {local_time(until, now)}" if until else "recording paused"


def agent_lines(status: Status) -> Iterator[str]:
    """``claude-code: 28 memories in 12 answers``."""
    for one in status.told:
        times = plural(one.times, "time")
        yield f"{one_line(one.agent, _NAME)}: {plural(one.memories, 'memory')}, {times}"
