"""The status as text: what waits in Review, how many memories agents got today, whether recording is paused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .format import format_count, local_time, plural
from .text import one_line

if TYPE_CHECKING:
    from memtui.engine.records import Recording, Status
from memtui.engine.wording import until_when

_NAME = 40


def status_line(status: Status, now: float) -> str:
    """``3 to review, 31 memories told today``, and whether recording is paused."""
    parts = [f"{format_count(status.review)} to review", f"{plural(status.memories, 'memory')} told today"]
    return ", ".join([*parts, *([pause_text(status, now)] if status.pause else [])])


def pause_text(status: Status, now: float) -> str:
    until = status.pause.until if status.pause else None
    return f"recording paused until {local_time(until, now)}" if until else "recording paused"


def agent_lines(status: Status) -> Iterator[str]:
    """``claude-code: 28 memories in 12 answers``."""
    for one in status.served:
        times = plural(one.times, "time")
        yield f"{one_line(one.agent, _NAME)}: {plural(one.memories, 'memory')}, {times}"


def paused_line(recording: Recording, now: float) -> str:
    """Whether recording is paused, and how many texts were not kept."""
    pause = recording.pause
    if pause is None:
        return "recording"
    when = "until you end it (memtui pause --off)" if pause.until is None else until_when(pause.until, now)
    return f"paused {when}: no conversation is recorded{_turned_away_text(recording)}"


def pause_ended_line(before: Recording) -> str:
    """The message when a pause ends. ``before``: the state until then."""
    if before.pause is None:
        return "it was not paused: recording goes on"
    return f"recording again{_turned_away_text(before)}"


def never_recorded_lines(recording: Recording) -> list[str]:
    """A line for each client, project, folder and subject that is never recorded."""
    return [f"never recorded: {one.kind} {one.name}" for one in recording.never]


def _turned_away_text(recording: Recording) -> str:
    count = recording.turned_away
    return f"; {plural(count, 'text was', 'texts were')} not kept" if count else ""
