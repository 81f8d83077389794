"""What leaves a memory out of a search before anything is ranked: the Trash, the filter, the running session."""

from __future__ import annotations

from datetime import UTC, datetime

import apsw

from memtui.engine.records import MemoryRecord, Record
from memtui.engine.store import memories
from memtui.engine.wording import quote_beginning

from .filters.compiler import CompiledFilter

_QUOTED = 60


class Exclusion(Record):
    """``reasons``: what leaves it out; ``steps``: what to do about each, as parts of one sentence.

    ``filter``: the filter after these steps.
    """

    reasons: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    filter: str = ""


def find_exclusion(
    connection: apsw.Connection, memory: MemoryRecord, filter: CompiledFilter, now: float
) -> Exclusion:
    """Why a memory does not pass a filter."""
    reasons, steps = [], []
    failed = [
        index for index, condition in enumerate(filter.conditions)
        if not _passes_condition(connection, condition, filter, memory.rid)
    ]  # fmt: skip
    kept = [str(term) for index, term in enumerate(filter.terms) if index not in failed]
    if memory.valid_until is not None and not filter.trash:
        reasons.append(_trash_reason(connection, memory, now))
        steps.append("restore it, or look there with is:trash in the filter")
        kept.append("is:trash")
    left_out = [str(filter.terms[index]) for index in failed]
    reasons += [f"The filter leaves it out: {term}" for term in left_out]
    if left_out:
        steps.append(f"leave {' and '.join(left_out)} out of the filter")
    return Exclusion(reasons=tuple(reasons), steps=tuple(steps), filter=" ".join(kept))


def _passes_condition(connection: apsw.Connection, condition: str, filter: CompiledFilter, rid: int) -> bool:
    [(holds,)] = connection.execute(
        f"SELECT ({condition}) IS TRUE FROM memories m WHERE m.rid = :memory",
        {**filter.bindings, "memory": rid},
    )
    return bool(holds)


def _trash_reason(connection: apsw.Connection, memory: MemoryRecord, now: float) -> str:
    """With the date, and with what took its place."""
    assert memory.valid_until is not None
    day = datetime.fromtimestamp(memory.valid_until, UTC).astimezone().strftime("%d %b %Y")
    reason = f"It is in the Trash ({memory.ended_by}, {day})"
    latest = memories.latest_version(connection, memory.id, now)
    if latest.id == memory.id:
        return f"{reason}."
    return f"{reason}. {latest.id} took its place: {quote_beginning(latest.content, _QUOTED)}"
