"""Details for the preview of Maintenance, read outside the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.present.format import local_date

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.records.jobs import FadingForecast, JobRun
    from memtui.engine.review.health import Complaint
    from memtui.ui.presenters.operation import OperationDetail

_SOON = 20
_LISTED = 12


def operation_of_run(memory: Memory, run: JobRun | None) -> OperationDetail | None:
    """What a run changed. None if nothing, or if history no longer has it. Blocks."""
    from memtui.engine.errors import NotFoundError
    from memtui.ui.presenters.operation import gather_operation

    if run is None or run.op_id is None:
        return None
    try:
        return gather_operation(memory, run.op_id)
    except NotFoundError:
        return None  # history no longer has it


def memories_of(memory: Memory, ids: Sequence[str]) -> list[MemoryRecord]:
    """The first of them that still exist. Blocks."""
    from memtui.engine.errors import NotFoundError

    found = []
    for identity in ids[:_LISTED]:
        try:
            found.append(memory.get(identity))
        except NotFoundError:
            continue
    return found


def texts_of(memory: Memory, complaint: Complaint) -> list[str]:
    """The first rows of a finding as text. Blocks."""
    if complaint.about == "entities":
        return [one.canonical_name for one in memory.view.entity_list.page(complaint.filter, limit=_LISTED)]
    return [one.content for one in memories_of(memory, complaint.ids)]


def soon_to_fade(memory: Memory, forecast: FadingForecast, now: float) -> list[tuple[str, MemoryRecord]]:
    """The first facts to fade, each with its day. Blocks."""
    named = [("faded", rid) for rid in forecast.overdue]
    named += [
        ("today" if number == 0 else local_date(day.start, now), rid)
        for number, day in enumerate(forecast.days)
        for rid in day.rids
    ]
    rows = {row.rid: row for row in memory.view.rows([rid for _, rid in named[:_SOON]])}
    return [(day, rows[rid]) for day, rid in named[:_SOON] if rid in rows]
