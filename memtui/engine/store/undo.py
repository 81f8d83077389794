"""Undo and redo: a new operation that puts back what another one changed.

A row is put back only where no later operation changed it and nothing came to depend on it; the rest
is reported with both stamps. Redo is the undo of an undo. All of it is history itself, so it
survives a restart and can be undone again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import AgentChanges, AgentUndone, Conflict, Operation, Undone
from memtui.engine.records.history import RESTORE_BACKUP, SYNC
from memtui.engine.wording import without_again_note

from . import file_replacement, history, operations, stamps
from .connections import Connections
from .sql import as_json, scalar
from .undo_rows import (
    UNDO_OF_AGENT,
    RowToRestore,
    blocked_rows,
    restore_rows,
    rows_of_operation,
    rows_of_operations,
)

_ROWS_PER_TRANSACTION = 2_000
# Half a correction would leave both texts in force.
_INDIVISIBLE = {"correct"}


class NothingUndoneError(InputError):
    """An operation whose rows were all left as they are. ``conflicts``: what each of them is, and was to be."""

    def __init__(self, operation: Operation, conflicts: Sequence[Conflict]) -> None:
        reason = conflicts[0].reason if conflicts else "nothing of it is left"
        super().__init__(
            f"Operation {operation.op_id} cannot be undone: {reason}.",
            "memtui history shows the later operations; undo those first.",
        )
        self.operation = operation
        self.conflicts = tuple(conflicts)


def latest_undoable(connection: apsw.Connection, actor: str) -> int | None:
    """The actor's own latest operation that still stands and is not itself an undo.

    An undo or redo that was interrupted comes first: then what it takes back, or itself.
    """
    if (half := _latest_unfinished_undo(connection, actor)) is not None:
        return half.undoes if half.kind == "undo" else half.op_id
    latest: int | None = scalar(
        connection,
        "SELECT max(op_id) FROM ops WHERE actor = ? AND state = 'done' AND undoes IS NULL AND kind <> 'erase'",
        (actor,),
    )
    return latest


def erase_since(connection: apsw.Connection, actor: str, op_id: int) -> int | None:
    """The actor's latest erase after an operation, which no undo takes back."""
    erase: int | None = scalar(
        connection,
        "SELECT max(op_id) FROM ops WHERE actor = ? AND kind = 'erase' AND op_id > ?",
        (actor, op_id),
    )
    return erase


def latest_redoable(connection: apsw.Connection, actor: str) -> int | None:
    """The actor's latest undo that still stands, unless the actor did something else since; see ``latest_undoable``.

    One that was interrupted and finished keeps its number: which was last is seen from the changes.
    """
    if (half := _latest_unfinished_undo(connection, actor)) is not None:
        return half.op_id if half.kind == "undo" else half.undoes
    latest: int | None = scalar(
        connection,
        """
        SELECT op_id FROM ops AS done
        WHERE actor = ?1 AND kind = 'undo' AND state = 'done' AND NOT EXISTS (
          SELECT 1 FROM ops AS later WHERE later.actor = ?1 AND later.undoes IS NULL AND later.op_id > done.op_id
            AND coalesce((SELECT max(seq) FROM changes WHERE op_id = later.op_id)
              > (SELECT max(seq) FROM changes WHERE op_id = done.op_id), 1))
        ORDER BY (SELECT max(seq) FROM changes WHERE op_id = done.op_id) DESC, op_id DESC LIMIT 1
        """,
        (actor,),
    )
    # Of one that was interrupted and taken back, the undo of that may be left.
    root = None if latest is None else operations.find(connection, latest)
    while root is not None and root.undoes is not None:
        root = operations.find(connection, root.undoes)
    return latest if root is not None and root.undone_by is not None else None


def _latest_unfinished_undo(connection: apsw.Connection, actor: str | None = None) -> Operation | None:
    """The latest undo or redo that has not ended: it runs, or it was interrupted."""
    unfinished = scalar(
        connection,
        "SELECT max(op_id) FROM ops WHERE state = 'running' AND undoes IS NOT NULL AND actor = coalesce(?, actor)",
        (actor,),
    )
    return None if unfinished is None else operations.get(connection, unfinished)


def undo(connections: Connections, clock: Clock, actor: str, op_id: int) -> Undone:
    """Take an operation back (or, when it is an undo, do it again).

    A large operation is taken back in slices, each its own transaction, so that other programs are
    not kept waiting; a slice is whole or not there. One that is interrupted stays open: undoing the same operation
    again goes on with it, undoing the interrupted undo itself takes back what it did.
    Raises InputError when it is already taken back, NothingUndoneError when all of it must be left as it is,
    NotFoundError when unknown.
    """
    with connections.read() as connection:
        half = _find_unfinished_undo(connection, op_id)
        target = half or _find_target(connection, op_id)
    if half is not None and _continues_undo(connections, half, op_id):
        return _finish_undo(connections, half)
    kind = "redo" if target.kind == "undo" else "undo"
    verb = "Redid" if kind == "redo" else "Undid"
    with connections.read() as connection:
        first = _root_operation(connection, target)
    name = target.label
    for prefix in ("Undid: ", "Redid: "):
        name = name.removeprefix(prefix)
    if kind == "undo":
        name = without_again_note(name)
    elif name == without_again_note(first.label):
        name = first.label
    small = target.rows <= _ROWS_PER_TRANSACTION
    if small:
        with history.operation(connections, clock, actor, kind, f"{verb}: {name}", undoes=target.op_id) as op:
            now = operations.find(op.connection, half.op_id) if half else _find_target(op.connection, op_id)
            if now != target:  # somebody was quicker, and did it again as well
                raise InputError(f"Operation {op_id} was just taken back and done again.", "Try again.")
            restored, conflicts = _restore_slice(
                op.connection, target.op_id, list(rows_of_operation(op.connection, target.op_id))
            )
            if not restored or (conflicts and _root_operation(op.connection, target).kind in _INDIVISIBLE):
                raise NothingUndoneError(target, conflicts)
            _mark_undone(op.connection, target, op.op_id)
            by_id = op.op_id
    else:
        by_id, restored, conflicts = _undo_in_slices(
            connections, clock, actor, kind, f"{verb}: {name}", target
        )
    return _make_undone(connections, target.op_id, by_id, restored, conflicts)


def _restore_slice(
    connection: apsw.Connection, target: int, rows: list[RowToRestore], by_id: int | None = None
) -> tuple[int, list[Conflict]]:
    """To take back what an import took over from another device is as if it had never come: it decides nothing.

    Devices that are in touch would bring it again: to take back what a sync took over is a decision against it.
    """
    if _root_operation(connection, operations.get(connection, target)).kind == SYNC:
        rows = [row for row in rows if row.table != "decided"]
        stamping = stamps.stamp_together
    else:
        stamping = (
            stamps.carrying_stamps if stamps.carried_stamps(connection, target) else stamps.stamp_together
        )
    with stamping(connection):
        return restore_rows(connection, rows, by_id)


def _make_undone(
    connections: Connections, target: int, by_id: int, restored: int, conflicts: Sequence[Conflict]
) -> Undone:
    with connections.read() as connection:
        return Undone(
            operation=operations.get(connection, target),
            by=operations.get(connection, by_id),
            restored=restored,
            conflicts=tuple(conflicts),
        )


def _find_unfinished_undo(connection: apsw.Connection, op_id: int) -> Operation | None:
    """The unfinished undo or redo that concerns the same operation as ``op_id``."""
    root = _root_operation(connection, operations.get(connection, op_id)).op_id
    running = connection.execute(
        "SELECT op_id FROM ops WHERE state = 'running' AND undoes IS NOT NULL ORDER BY op_id DESC"
    ).fetchall()
    operations_found = (operations.get(connection, int(str(one))) for (one,) in running)
    return next((half for half in operations_found if _root_operation(connection, half).op_id == root), None)


def _continues_undo(connections: Connections, unfinished: Operation, op_id: int) -> bool:
    """Whether undoing ``op_id`` is what was begun, or takes back what was begun. Raises InputError while it runs."""
    if connections.runs.is_alive(unfinished.run_id):
        raise InputError(f"This is being done right now: {unfinished.label}.", "Wait for it to end.")
    with connections.read() as connection:
        root = _root_operation(connection, unfinished).op_id
    return op_id == unfinished.undoes or (op_id == root and unfinished.kind == "undo")


def _finish_undo(connections: Connections, unfinished: Operation) -> Undone:
    """Go on with an undo that was interrupted, as the same operation: so that one redo takes back all of it."""
    assert unfinished.undoes is not None
    token = connections.runs.acquire()
    with connections.write() as connection:
        connection.execute(
            "UPDATE ops SET run_id = ? WHERE op_id = ? AND state = 'running' AND run_id IS ?",
            (token, unfinished.op_id, unfinished.run_id),
        )
        changes = connection.changes()
        target = operations.get(connection, unfinished.undoes)
    if not changes:
        connections.runs.release(token)
        raise InputError("Another program has just finished this.", "Look at memtui history.")
    label = unfinished.label.removesuffix(history.INTERRUPTED)
    restored, conflicts = _run_slices(connections, unfinished.op_id, label, target, token)
    return _make_undone(connections, target.op_id, unfinished.op_id, restored, conflicts)


def _find_target(connection: apsw.Connection, op_id: int) -> Operation:
    """What to take back. An operation may have been undone and redone many times; only the latest counts.

    A redo stands for the operation that it did again, an undo for the one undo that stands now.
    """
    chosen = operations.get(connection, op_id)
    if chosen.kind == "erase":
        raise InputError(
            f"Operation {op_id} erased for good: there is no way back.", "Nothing of it is left."
        )
    if chosen.kind == RESTORE_BACKUP:
        from .past import restore_gaps

        before = next(
            (gap.backup for gap in restore_gaps(connection) if gap.operation == op_id), "the backup before it"
        )
        raise InputError(
            f"Operation {op_id} restored a backup, which only another restore takes back.",
            f"What was there before could not be used: it is in {before}."
            if f".{file_replacement.ASIDE}-" in before
            else f"memtui restore {before} brings back what was there before.",
        )
    root = _root_operation(connection, chosen)
    if chosen.kind != "undo":
        if root.state == "undone":
            raise InputError(f"Operation {op_id} is already undone.", "memtui redo brings it back.")
        return root
    if root.undone_by is None:
        raise InputError(f"Operation {op_id} is already taken back: {root.label}.", "Undo that one instead.")
    return operations.get(connection, root.undone_by)


def _root_operation(connection: apsw.Connection, operation: Operation) -> Operation:
    """The operation itself, or the one that an undo or redo goes back to."""
    while operation.undoes is not None:
        operation = operations.get(connection, operation.undoes)
    return operation


def _undo_in_slices(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, target: Operation
) -> tuple[int, int, list[Conflict]]:
    by_id = history.begin_long(connections, clock, actor, kind, label, undoes=target.op_id)
    with connections.read() as connection:
        token = operations.get(connection, by_id).run_id
    restored, conflicts = _run_slices(connections, by_id, label, target, token)
    if not restored:
        raise NothingUndoneError(target, conflicts)
    return by_id, restored, conflicts


def _run_slices(
    connections: Connections, by_id: int, label: str, target: Operation, token: str | None
) -> tuple[int, list[Conflict]]:
    """Put back all rows of ``target`` as ``by_id``; those that it put back already stay as they are."""
    conflicts: list[Conflict] = []
    try:
        with connections.read() as connection:
            slices = list(_row_slices(connection, target.op_id))
        for table, first, last in slices:
            with history.continue_long(connections, by_id) as connection:
                rows = list(rows_of_operation(connection, target.op_id, table, first, last))
                _, new_conflicts = _restore_slice(connection, target.op_id, rows, by_id)
            conflicts += new_conflicts[: max(0, 1_000 - len(conflicts))]
        with connections.write() as connection:
            restored = operations.get(connection, by_id).rows
            history.close(connection, by_id, label)
            if restored:
                _mark_undone(connection, target, by_id)
    except BaseException:
        # Whole slices stay, and the operation stays open: the next undo or redo goes on with it, or takes it back.
        with suppress(MemtuiError), connections.write() as connection:
            history.interrupt_undo(connection, by_id, label)
        raise
    finally:
        connections.runs.release(token)
    return restored, conflicts


def _mark_undone(connection: apsw.Connection, target: Operation, by_id: int) -> None:
    connection.execute(
        "UPDATE ops SET state = 'undone', undone_by = ? WHERE op_id = ?", (by_id, target.op_id)
    )
    # What was taken back together stands again with the undo of that, and is taken back again with its redo.
    if target.kind == UNDO_OF_AGENT:
        connection.execute("UPDATE ops SET state = 'done' WHERE undone_by = ?", (target.op_id,))
    elif target.undoes is not None and target.state == "done":
        connection.execute(
            "UPDATE ops SET state = 'undone' WHERE undone_by = ?1 AND undoes IS NULL AND "
            "(SELECT kind FROM ops WHERE op_id = ?1) = ?2",
            (target.undoes, UNDO_OF_AGENT),
        )
    # Undoing an undo: the first operation stands again. What an interrupted one was to take back still stands.
    if target.undoes is not None and target.state == "done":
        connection.execute(
            "UPDATE ops SET state = 'done', undone_by = NULL WHERE op_id = ?", (target.undoes,)
        )


def _row_slices(connection: apsw.Connection, op_id: int) -> Iterator[tuple[str, int, int]]:
    """(table, first key, last key): disjoint, together all rows of the operation, newest first.

    Entities that are to go go last, as names and other entities point at them; those that come back come before
    these, the oldest first.
    """
    spans: Any = connection.execute(
        """
        SELECT tbl, min(lo), max(hi), max(act = 'insert') AS made FROM changes WHERE op_id = ?
        GROUP BY tbl ORDER BY tbl <> 'memories', tbl = 'entities' AND max(act = 'insert'), tbl
        """,
        (op_id,),
    ).fetchall()
    for table, low, high, made in spans:
        firsts = range(high - _ROWS_PER_TRANSACTION + 1, low - _ROWS_PER_TRANSACTION, -_ROWS_PER_TRANSACTION)
        for first in firsts if made else reversed(firsts):
            yield table, max(low, first), first + _ROWS_PER_TRANSACTION - 1


RECORDED, CONSOLIDATED = "record", "consolidate"
# Half of one of these would leave both texts in force.
_INDIVISIBLE_BY_AGENT = frozenset({"correct", "merge", "review"})


def agent_changes(
    connection: apsw.Connection, agent: str, since: float, *, turns: bool = False
) -> AgentChanges:
    """What would be taken back, the latest first; nothing is changed.

    ``turns``: what it recorded of talks as well, and what was drawn from that alone.
    """
    done = _operations_of_agent(connection, agent, since)
    recorded = [] if turns else [one for one in done if one.kind == RECORDED]
    chosen = [one for one in done if turns or one.kind != RECORDED]
    consolidations, mixed = _consolidations_of(
        connection, [one.op_id for one in done if turns and one.kind == RECORDED]
    )
    chosen = sorted(
        {one.op_id: one for one in (*chosen, *consolidations)}.values(), key=lambda one: -one.op_id
    )
    undoable, conflicts = _undoable_operations(connection, chosen)
    return AgentChanges(
        agent=agent,
        since=int(since),
        operations=tuple(undoable),
        turns_left=len(recorded),
        conflicts=tuple(conflicts),
        undo_first=tuple(one for one in mixed if one not in undoable) if conflicts else (),
    )


def _consolidations_of(
    connection: apsw.Connection, recorded: Sequence[int]
) -> tuple[list[Operation], list[Operation]]:
    """The consolidations that read turns that these operations recorded: those that read nothing else (what they drew goes
    with the turns), and those that read other turns too."""
    if not recorded:
        return [], []
    rows: Any = connection.execute(
        """
        WITH turns AS MATERIALIZED (
          SELECT m.id, m.session_id FROM changes c JOIN memories m ON m.rid BETWEEN c.lo AND c.hi
          WHERE c.op_id IN (SELECT value FROM json_each(?1)) AND c.tbl = 'memories' AND c.act = 'insert' AND m.kind = 'episode')
        SELECT o.op_id, EXISTS (
            SELECT 1 FROM changes c JOIN sessions_consolidations s ON s.sid BETWEEN c.lo AND c.hi
            JOIN memories m ON m.session_id = s.session_id AND m.kind = 'episode'
            WHERE c.op_id = o.op_id AND c.tbl = 'sessions_consolidations' AND m.id NOT IN (SELECT id FROM turns))
        FROM ops o WHERE o.kind = ?2 AND o.state = 'done' AND o.undoes IS NULL AND o.op_id > ?3 AND EXISTS (
            SELECT 1 FROM changes c JOIN sessions_consolidations s ON s.sid BETWEEN c.lo AND c.hi
            WHERE c.op_id = o.op_id AND c.tbl = 'sessions_consolidations' AND s.session_id IN (SELECT session_id FROM turns))
        """,
        (as_json(list(recorded)), CONSOLIDATED, min(recorded)),
    ).fetchall()
    consolidations = [(operations.get(connection, int(op_id)), bool(others)) for op_id, others in rows]
    return [one for one, others in consolidations if not others], [
        one for one, others in consolidations if others
    ]


def _operations_of_agent(connection: apsw.Connection, agent: str, since: float) -> list[Operation]:
    rows: Any = connection.execute(
        f"SELECT {operations.COLUMNS} FROM ops o WHERE o.actor = ? AND o.at >= ? AND o.state = 'done' "
        "AND o.undoes IS NULL AND o.kind NOT IN (?, ?) ORDER BY o.op_id DESC",
        (f"agent:{agent}", int(since), "erase", RESTORE_BACKUP),
    )
    return [operations.operation_of(tuple(row)) for row in rows]


def _undoable_operations(
    connection: apsw.Connection, chosen: list[Operation]
) -> tuple[list[Operation], list[Conflict]]:
    """Those that can be taken back, and the rows that are left alone.

    Of the operations on a row that is left alone the first one stays, where that is all that it did, or where half of it
    would be wrong; then the later ones may go.
    """
    left: dict[tuple[str, int], Conflict] = {}
    while chosen:
        ids = [one.op_id for one in chosen]
        conflicts = blocked_rows(connection, rows_of_operations(connection, ids), ids)
        left |= {(one.table, one.key): one for one in conflicts}
        stay = _operations_that_stay(connection, chosen, {(one.table, one.key) for one in conflicts})
        if not stay:
            break
        chosen = [one for one in chosen if one.op_id not in stay]
    return chosen, list(left.values())


def _operations_that_stay(
    connection: apsw.Connection, chosen: list[Operation], conflicts: set[tuple[str, int]]
) -> set[int]:
    if not conflicts:
        return set()
    first: dict[tuple[str, int], int] = {}
    free: set[int] = set()
    for one in reversed(chosen):  # the earliest first
        touched = {(row.table, row.key) for row in rows_of_operation(connection, one.op_id)}
        for row_key in touched & conflicts:
            first.setdefault(row_key, one.op_id)
        if touched - conflicts and one.kind not in _INDIVISIBLE_BY_AGENT:
            free.add(one.op_id)
    return set(first.values()) - free


def undo_agent(
    connections: Connections, clock: Clock, actor: str, agent: str, since: float, *, turns: bool = False
) -> AgentUndone:
    """Take them back in one operation. Raises InputError where there is nothing that can be."""
    with history.operation(connections, clock, actor, UNDO_OF_AGENT, f"Undid what {agent} did") as op:
        changes = agent_changes(op.connection, agent, since, turns=turns)
        ids = [one.op_id for one in changes.operations]
        if not ids:
            raise InputError(
                f"{agent} did nothing since then that can be taken back.",
                "memtui history lists who did what.",
            )
        number = f"{len(ids):,} change" + ("" if len(ids) == 1 else "s")
        op.label = f"Undid {number} of {agent}"
        restored, conflicts = restore_rows(
            op.connection, rows_of_operations(op.connection, ids), op.op_id, ids
        )
        op.connection.execute(
            "UPDATE ops SET state = 'undone', undone_by = ? WHERE op_id IN (SELECT value FROM json_each(?))",
            (op.op_id, as_json(ids)),
        )
        op_id = op.op_id
    known = {(one.table, one.key) for one in changes.conflicts}
    with connections.read() as connection:
        return AgentUndone(
            by=operations.get(connection, op_id), operations=changes.operations, restored=restored, undo_first=changes.undo_first,
            conflicts=(*changes.conflicts, *(one for one in conflicts if (one.table, one.key) not in known)),
        )  # fmt: skip
