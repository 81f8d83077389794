"""Everything that History shows about one operation or recall, read outside the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.present.operation import is_restore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtui.engine.memory import Memory
    from memtui.engine.records import Entity, MemoryRecord, Operation, Recall, RowChange
    from memtui.engine.records.backups import Backup

    from .operation_rows import Entry

# More changes than this are only counted.
SHOWN = 200


class OperationDetail(NamedTuple):
    """``memories`` by id: the changed ones, and those that they correct.

    ``before``: for a restore, the backup that was made before it, while it exists.
    ``taken_back``: the rows that this operation added and its undo removed, by table and key.
    """

    operation: Operation
    changes: tuple[RowChange, ...]
    memories: dict[str, MemoryRecord]
    taken_back: dict[tuple[str, int], dict[str, Any]]
    undone_by: Operation | None
    undoes: Operation | None
    before: Backup | None = None


class RecallDetail(NamedTuple):
    """``memories``: each served memory with its id; None if it no longer exists."""

    recall: Recall
    memories: tuple[tuple[str, MemoryRecord | None], ...]
    session: str | None


def gather_operation(memory: Memory, op_id: int) -> OperationDetail:
    """Read everything about an operation. Blocks. Raises NotFoundError if it was removed from history."""
    view = memory.view
    operation = view.operation(op_id)
    changes = view.changes_of(op_id, limit=SHOWN)
    taken_back = {}
    if operation.undone_by is not None:
        for change in view.changes_of(operation.undone_by, limit=SHOWN):
            if change.before is not None and change.after is None:
                taken_back[change.table, change.key] = change.before
    # Read by key, all at once: asking for a memory that is gone would search all of history.
    changed = view.rows([change.key for change in changes if change.table == "memories"])
    memories = {one.id: one for one in changed}
    for one in changed:
        _add(memory, memories, one.supersedes)
    return OperationDetail(
        operation=operation,
        changes=tuple(changes),
        memories=memories,
        taken_back=taken_back,
        undone_by=None if operation.undone_by is None else view.operation(operation.undone_by),
        undoes=None if operation.undoes is None else view.operation(operation.undoes),
        before=memory.backups.before(op_id) if is_restore(operation) else None,
    )


def gather_recall(memory: Memory, recall: Recall) -> RecallDetail:
    """Read the memories that an agent got. Blocks."""
    found: dict[str, MemoryRecord] = {}
    for identity in recall.memory_ids[:SHOWN]:
        _add(memory, found, identity)
    session = None
    if recall.session_id is not None:
        from memtui.engine.errors import NotFoundError

        try:
            session = memory.view.session(recall.session_id).name
        except NotFoundError:
            session = recall.session_id
    memories = tuple((identity, found.get(identity)) for identity in recall.memory_ids[:SHOWN])
    return RecallDetail(recall=recall, memories=memories, session=session)


def entities_of(memory: Memory, row: Entry) -> list[Entity]:
    """The entities of an operation or recall: those that it changed, then those of its memories. Blocks."""
    from .entity_detail import entities_in
    from .operation_rows import operation_of, recall_of

    operation = operation_of(row)
    if operation is None:
        return entities_in(memory, recall_of(row).memory_ids)
    changes = memory.view.changes_of(operation.op_id, limit=SHOWN)
    changed = dict.fromkeys(eid for change in changes for eid in _changed_entities(change))
    found = memory.view.entity_list.rows(list(changed))
    known = {entity.eid for entity in found}
    mentioned = entities_in(memory, [change.memory_id for change in changes if change.memory_id is not None])
    return [*found, *(entity for entity in mentioned if entity.eid not in known)]


def _changed_entities(change: RowChange) -> Iterator[int]:
    if change.table == "entities":
        yield change.key
    if change.table in ("entity_aliases", "entity_decisions"):
        row = change.after or change.before or {}
        yield from (row[column] for column in ("entity_id", "other_id") if row.get(column) is not None)


def _add(memory: Memory, found: dict[str, MemoryRecord], identity: str | None) -> None:
    from memtui.engine.errors import NotFoundError

    if identity is None or identity in found:
        return
    try:
        found[identity] = memory.view.get(identity)
    except NotFoundError:
        return  # erased: what is shown of it comes from the change itself
