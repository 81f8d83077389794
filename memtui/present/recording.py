"""Whether conversations are recorded, as text."""

from __future__ import annotations

from memtui.engine.records import Recording
from memtui.engine.wording import until_when

from .format import plural


def paused_line(recording: Recording, now: float) -> str:
    """Whether recording is paused, and how many texts were not kept."""
    pause = recording.pause
    if pause is None:
        return "recording"
    when = "until you end it (memtui pause --off)" if pause.until is None else until_when(pause.until, now)
    return f"paused {when}: no conversation is recorded{_not_kept(recording)}"


def ended_line(before: Recording) -> str:
    """The message when a pause ends. ``before``: the state until then."""
    if before.pause is None:
        return "it was not paused: recording goes on"
    return f"recording again{_not_kept(before)}"


def never_lines(recording: Recording) -> list[str]:
    """A line for each client, project and folder that is never recorded."""
    return [f"never recorded: {one.kind} {one.name}" for one in recording.never]


def _not_kept(recording: Recording) -> str:
    count = recording.turned_away
    return f"; {plural(count, 'text was', 'texts were')} not kept" if count else ""
