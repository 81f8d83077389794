"""Undo and redo: a new operation that puts back what another one changed.

A row is put back only where no later operation changed it and nothing came to depend on it; the rest
is reported with both versions. Redo is the undo of an undo. All of it is history itself, so it
survives a restart and can be undone again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import Conflict, Operation, Undone

from . import exchange, history, operations
from .connection import Connections
from .sql import scalar
from .undo_rows import put_back, rows_of

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
    """The actor's own latest operation that still stands and is not itself an undo."""
    found: int | None = scalar(
        connection,
        "SELECT max(op_id) FROM ops WHERE actor = ? AND state = 'done' AND undoes IS NULL AND kind <> 'erase'",
        (actor,),
    )
    return found


def latest_redoable(connection: apsw.Connection, actor: str) -> int | None:
    """The actor's latest undo that still stands, unless the actor did something else since."""
    found: int | None = scalar(
        connection,
        """
        SELECT max(op_id) FROM ops
        WHERE actor = ?1 AND kind = 'undo' AND state = 'done'
          AND op_id > coalesce((SELECT max(op_id) FROM ops WHERE actor = ?1 AND undoes IS NULL), 0)
        """,
        (actor,),
    )
    return found


def undo(connections: Connections, clock: Clock, actor: str, op_id: int) -> Undone:
    """Take an operation back (or, when it is an undo, do it again).

    A large operation is taken back in slices, each its own transaction, so that other programs are
    not kept waiting; a slice is whole or not there, and a second undo continues a broken one.
    Raises InputError when it is already taken back, NothingUndoneError when all of it must be left as it is,
    NotFoundError when unknown.
    """
    with connections.read() as connection:
        target = _target(connection, op_id)
    kind = "redo" if target.kind == "undo" else "undo"
    verb = "Redid" if kind == "redo" else "Undid"
    name = target.label
    for prefix in ("Undid: ", "Redid: "):
        name = name.removeprefix(prefix)
    small = target.rows <= _ROWS_PER_TRANSACTION
    if small:
        with history.operation(connections, clock, actor, kind, f"{verb}: {name}", undoes=target.op_id) as op:
            if _target(op.connection, op_id) != target:  # somebody was quicker, and did it again as well
                raise InputError(f"Operation {op_id} was just taken back and done again.", "Try again.")
            restored, conflicts = put_back(op.connection, list(rows_of(op.connection, target.op_id)))
            if not restored or (conflicts and _root(op.connection, target).kind in _INDIVISIBLE):
                raise NothingUndoneError(target, conflicts)
            _mark(op.connection, target, op.op_id)
            by_id = op.op_id
    else:
        by_id, restored, conflicts = _undo_in_slices(
            connections, clock, actor, kind, f"{verb}: {name}", target
        )
    with connections.read() as connection:
        return Undone(
            operation=operations.get(connection, target.op_id),
            by=operations.get(connection, by_id),
            restored=restored,
            conflicts=tuple(conflicts),
        )


def _target(connection: apsw.Connection, op_id: int) -> Operation:
    """What to take back. An operation may have been undone and redone many times; only the latest counts.

    A redo stands for the operation that it did again, an undo for the one undo that stands now.
    """
    chosen = operations.get(connection, op_id)
    if chosen.kind == "erase":
        raise InputError(
            f"Operation {op_id} erased for good: there is no way back.", "Nothing of it is left."
        )
    if chosen.kind == operations.RESTORE:
        from .past import gaps

        before = next(
            (gap.backup for gap in gaps(connection) if gap.operation == op_id), "the backup before it"
        )
        raise InputError(
            f"Operation {op_id} restored a backup, which only another restore takes back.",
            f"What was there before could not be used: it is in {before}."
            if f".{exchange.ASIDE}-" in before
            else f"memtui restore {before} brings back what was there before.",
        )
    root = _root(connection, chosen)
    if chosen.kind != "undo":
        if root.undone_by is not None:
            raise InputError(f"Operation {op_id} is already undone.", "memtui redo brings it back.")
        return root
    if root.undone_by is None:
        raise InputError(f"Operation {op_id} is already taken back: {root.label}.", "Undo that one instead.")
    return operations.get(connection, root.undone_by)


def _root(connection: apsw.Connection, operation: Operation) -> Operation:
    """The operation itself, or the one that an undo or redo goes back to."""
    while operation.undoes is not None:
        operation = operations.get(connection, operation.undoes)
    return operation


def _undo_in_slices(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, target: Operation
) -> tuple[int, int, list[Conflict]]:
    by_id = history.begin(connections, clock, actor, kind, label, undoes=target.op_id)
    restored = 0
    conflicts: list[Conflict] = []
    with connections.read() as connection:
        token = operations.get(connection, by_id).run_id
        slices = list(_slices(connection, target.op_id))
    try:
        for table, first, last in slices:
            with history.part(connections, by_id) as connection:
                done, left = put_back(connection, list(rows_of(connection, target.op_id, table, first, last)))
            restored += done
            conflicts += left[: max(0, 1_000 - len(conflicts))]
        with connections.write() as connection:
            history.close(connection, by_id, label)
            if restored:
                _mark(connection, target, by_id)
    except BaseException:
        # Whole slices stay; undoing it again goes on from there.
        with suppress(MemtuiError):
            history.finish(connections, by_id, f"{label} (interrupted)")
        raise
    connections.runs.release(token)
    if not restored:
        raise NothingUndoneError(target, conflicts)
    return by_id, restored, conflicts


def _mark(connection: apsw.Connection, target: Operation, by_id: int) -> None:
    connection.execute(
        "UPDATE ops SET state = 'undone', undone_by = ? WHERE op_id = ?", (by_id, target.op_id)
    )
    if target.undoes is not None:  # undoing an undo: the first operation stands again
        connection.execute(
            "UPDATE ops SET state = 'done', undone_by = NULL WHERE op_id = ?", (target.undoes,)
        )


def _slices(connection: apsw.Connection, op_id: int) -> Iterator[tuple[str, int, int]]:
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
