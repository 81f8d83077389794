"""Reading a session again: what is drawn from it now is set against what was drawn from it before.

What the person decided stays as they left it: a fact that they corrected, confirmed, tagged or kept is not touched,
and what they took away does not come back. The rest follows the new reading: what is no longer drawn goes to the Trash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
from msgspec.structs import replace

from memtui.engine.memories import validation
from memtui.engine.records import MemoryRecord, Operation, Record
from memtui.engine.store import memories, operations
from memtui.engine.store.sql import as_json, scalar

from . import planner
from .compare import conflicts
from .compare.similarity import analyse_statement, compare_analysed
from .extract.protocol import Draft
from .plan import OPERATION, RETIRED, PlanLine
from .preview_facts import PreviewFacts

_DECIDED = (
    "content",
    "tags",
    "confirmed_at",
    "reviewed_at",
    "project",
    "category",
    "attributes",
    "topic",
    "happens_at",
)
_ALIKE = 0.5


class DerivedNote(Record):
    """A fact or observation that was drawn from a session. ``decided``: why it is not to be touched, else empty."""

    memory: MemoryRecord
    decided: str = ""


def drawn_from(connection: apsw.Connection, session_id: str, now: float) -> list[DerivedNote]:
    """All of them, those in the Trash too, in the order in which they were stored."""
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.session_id = ? AND m.kind IN ('fact', 'observation') "
        "AND m.source = 'session:' || ? AND m.attributes ->> 'extractor' IS NOT NULL ORDER BY m.rid",
        (session_id, session_id),
    ).fetchall()
    return [_reason_decided(connection, memories.memory_record(row, now)) for row in rows]


def _reason_decided(connection: apsw.Connection, memory: MemoryRecord) -> DerivedNote:
    return DerivedNote(memory=memory, decided=reason_to_keep(connection, memory) if memory.active else "")


def reason_to_keep(connection: apsw.Connection, memory: MemoryRecord) -> str:
    """Why a reading may not take this active memory away; empty when it may."""
    if memory.protected or memory.confirmed_at is not None:
        return "you confirmed it"
    if memory.pinned:
        return "you pinned it"
    if _has_other_sessions(connection, memory):
        return "another conversation says it too"
    changes = operations.memory_changes(connection, memory.rid)
    if not any(change.before is None for _, change in changes):
        # History no longer knows what it was like when it was drawn.
        reviewed = memory.reviewed_at not in (None, memory.created_at)
        return "it has tags" if memory.tags else "you kept it" if reviewed else ""
    first: dict[str, Any] = {}
    for operation, change in changes:
        if change.before is not None and _is_by_person(operation):
            first = {**change.before, **first}
    now = _former_columns(connection, memory.rid)
    changed = [
        name for name in _DECIDED if name in first and _parse_value(first[name]) != _parse_value(now[name])
    ]
    if not changed:
        return ""
    return (
        "you tagged it"
        if changed == ["tags"]
        else "you kept it"
        if changed == ["reviewed_at"]
        else "you changed it"
    )


def _is_by_person(operation: Operation) -> bool:
    # An undo only puts back what a change was compared with.
    return operation.actor == "person" and operation.kind != OPERATION and operation.undoes is None


def _former_columns(connection: apsw.Connection, rid: int) -> Mapping[str, Any]:
    row = connection.execute(f"SELECT {', '.join(_DECIDED)} FROM memories WHERE rid = ?", (rid,)).fetchone()
    assert row is not None
    return dict(zip(_DECIDED, row, strict=True))


def _parse_value(stored: Any) -> Any:
    """Lists and objects whatever their JSON looks like."""
    if isinstance(stored, str) and stored[:1] in ("[", "{"):
        try:
            return json.loads(stored)
        except ValueError:
            return stored
    return stored


def _has_other_sessions(connection: apsw.Connection, memory: MemoryRecord) -> bool:
    return bool(
        scalar(
            connection,
            "SELECT EXISTS (SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND session_id IS NOT ?)",
            (as_json(memory.source_ids), memory.session_id),
        )
    )


def plan_difference(
    connection: apsw.Connection, drafts: Sequence[Draft], turns: Mapping[str, MemoryRecord], session_id: str,
    now: float, *, limit: int | None, supersedes_left: int, foreseen: PreviewFacts | None = None,
) -> list[PlanLine]:  # fmt: skip
    """The difference to what was drawn before: what is new, reworded, ``retired`` and ``unchanged``."""
    before = drawn_from(connection, session_id, now)
    open_ = {one.memory.rid: one.memory for one in before if one.memory.active and not one.decided}
    stays = [one for one in before if one.decided]
    gone = [
        one.memory
        for one in before
        if not one.memory.active and one.memory.ended_by != "faded" and RETIRED not in one.memory.attributes
    ]
    planned = planner.plan_lines(
        connection,
        drafts,
        turns,
        now,
        limit=limit,
        supersedes_left=supersedes_left,
        within=lambda rids: set(rids) - open_.keys(),
        settled={one.rid for one in gone},
        foreseen=foreseen,
    )
    found: list[PlanLine] = []
    same: list[PlanLine] = []
    for line in planned:
        known = next((one for one in open_.values() if one.content == line.content), None)
        known = known or next((one for one in open_.values() if _repeats_known(line, one)), None)
        if known is not None:
            del open_[known.rid]
            same.append(_kept_line(known, "drawn again"))
        elif taken_away := next(
            (one for one in gone if _repeats_known(line, one) or _is_similar(line, one)), None
        ):
            why = "you corrected it" if taken_away.ended_by == "superseded" else "you took it away"
            found.append(
                replace(
                    line,
                    accepted=False,
                    reason=f"{why}: “{validation.open_text(taken_away)}”",
                    target=None,
                    known=None,
                )
            )
        elif line.action == "reinforce" and any(one.memory.id == line.target for one in stays):
            continue  # it is among those that stay
        else:
            found.append(line)
    found = [_find_reworded(line, open_) for line in found]
    same += [_kept_line(one.memory, one.decided) for one in stays]
    return [*found, *map(_removal_line, open_.values()), *same]


def _repeats_known(line: PlanLine, known: MemoryRecord) -> bool:
    if (known.kind == "observation") != (line.action == "observation"):
        return False
    return conflicts.relation_between(line.content, known.content).kind == "duplicate"


def _is_similar(line: PlanLine, known: MemoryRecord) -> bool:
    """Drawn from the same turn, and of much the same words: the same thing said in another way."""
    if set(line.sources).isdisjoint(known.source_ids) or (known.kind == "observation") != (
        line.action == "observation"
    ):
        return False
    mine, theirs = analyse_statement(line.content), analyse_statement(known.content)
    fewest = min(len(set(mine.content)), len(set(theirs.content)))
    shared = len(set(mine.content) & set(theirs.content))
    return compare_analysed(mine, theirs).kind != "different" or (fewest > 0 and shared / fewest >= _ALIKE)


def _find_reworded(line: PlanLine, open_: dict[int, MemoryRecord]) -> PlanLine:
    """A new line that takes the place of an old one, which is taken out of ``open_``."""
    if line.action != "add" or not line.accepted:
        return line
    old = next((one for one in open_.values() if _is_similar(line, one)), None)
    if old is None:
        return line
    del open_[old.rid]
    return replace(
        line,
        action="reword",
        reason="said in other words than before",
        target=old.id,
        known=validation.open_text(old),
    )


def _kept_line(memory: MemoryRecord, reason: str) -> PlanLine:
    return replace(_unchanged_line(memory), action="unchanged", reason=reason)


def _removal_line(memory: MemoryRecord) -> PlanLine:
    return replace(
        _unchanged_line(memory), action="retire", reason="it is no longer drawn from this conversation"
    )


def _unchanged_line(memory: MemoryRecord) -> PlanLine:
    return PlanLine(
        action="unchanged", content=validation.open_text(memory), sources=memory.source_ids, target=memory.id,
        confidence=memory.confidence, trust=memory.trust, tags=memory.tags, category=memory.category,
        topic=memory.topic, project=memory.project, event_time=memory.event_time,
    )  # fmt: skip


def find_removable(connection: apsw.Connection, id: str, now: float) -> MemoryRecord | None:
    """The memory that a line removes, if nothing was decided about it since; else None."""
    known = memories.get(connection, id, now)
    return known if known.active and not reason_to_keep(connection, known) else None


def retire_note(
    connection: apsw.Connection, memory: MemoryRecord, extractor: str, now: int, *, replaced: bool
) -> None:
    """Move it to the Trash, with the mark that no person did it."""
    memories.update(
        connection, memory.rid, valid_until=now, ended_by="superseded" if replaced else "forgotten",
        attributes={**memory.attributes, RETIRED: extractor},
    )  # fmt: skip
