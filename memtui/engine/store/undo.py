"""Undo and redo: a new operation that puts back what another one changed.

A row is put back only where no later operation changed it and nothing came to depend on it; the rest
is reported with both versions. Redo is the undo of an undo. All of it is history itself, so it
survives a restart and can be undone again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import Conflict, Operation, Undone

from . import history
from .columns import COVERED
from .connection import Connections
from .sql import scalar

_ROWS_PER_TRANSACTION = 2_000


class _Row(NamedTuple):
    """What to do with one row: remove it (``before`` None) or put ``before`` back."""

    table: str
    key: int
    existed: bool
    before: dict[str, Any]
    last_seq: int


def latest_undoable(connection: apsw.Connection, actor: str) -> int | None:
    """The actor's own latest operation that still stands and is not itself an undo."""
    found: int | None = scalar(
        connection,
        "SELECT max(op_id) FROM ops WHERE actor = ? AND state = 'done' AND undoes IS NULL",
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
    Raises InputError when it is already taken back or still running, NotFoundError when unknown.
    """
    with connections.read() as connection:
        target = history.get_operation(connection, op_id)
        _assert_undoable(target)
    kind = "redo" if target.kind == "undo" else "undo"
    verb = "Redid" if kind == "redo" else "Undid"
    name = target.label
    for prefix in ("Undid: ", "Redid: "):
        name = name.removeprefix(prefix)
    small = target.rows <= _ROWS_PER_TRANSACTION
    if small:
        with history.operation(connections, clock, actor, kind, f"{verb}: {name}", undoes=op_id) as op:
            _assert_undoable(history.get_operation(op.connection, op_id))
            restored, conflicts = _put_back(op.connection, list(_rows(op.connection, op_id)))
            if not restored:
                raise _nothing_left(target, conflicts)
            _mark(op.connection, target, op.op_id)
            by_id = op.op_id
    else:
        by_id, restored, conflicts = _undo_in_slices(
            connections, clock, actor, kind, f"{verb}: {name}", target
        )
    with connections.read() as connection:
        return Undone(
            operation=history.get_operation(connection, op_id),
            by=history.get_operation(connection, by_id),
            restored=restored,
            conflicts=tuple(conflicts),
        )


def _assert_undoable(target: Operation) -> None:
    if target.state == "undone":
        raise InputError(f"Operation {target.op_id} is already undone.", "memtui redo brings it back.")


def _nothing_left(target: Operation, conflicts: list[Conflict]) -> InputError:
    reason = conflicts[0].reason if conflicts else "nothing of it is left"
    return InputError(
        f"Operation {target.op_id} cannot be undone: {reason}.",
        "memtui history shows the later operations; undo those first.",
    )


def _undo_in_slices(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, target: Operation
) -> tuple[int, int, list[Conflict]]:
    by_id = history.begin(connections, clock, actor, kind, label, undoes=target.op_id)
    restored = 0
    conflicts: list[Conflict] = []
    with connections.read() as connection:
        slices = list(_slices(connection, target.op_id))
    for table, first, last in slices:
        with history.part(connections, by_id) as connection:
            done, left = _put_back(connection, list(_rows(connection, target.op_id, table, first, last)))
        restored += done
        conflicts += left[: max(0, 1_000 - len(conflicts))]
    history.finish(connections, by_id, label)
    if not restored:
        raise _nothing_left(target, conflicts)
    with connections.write() as connection:
        _mark(connection, target, by_id)
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
    """(table, first key, last key): disjoint, together all rows of the operation, newest first."""
    spans: Any = connection.execute(
        "SELECT tbl, min(lo), max(hi) FROM changes WHERE op_id = ? GROUP BY tbl ORDER BY tbl <> 'memories'",
        (op_id,),
    ).fetchall()
    for table, low, high in spans:
        for last in range(high, low - 1, -_ROWS_PER_TRANSACTION):
            yield table, max(low, last - _ROWS_PER_TRANSACTION + 1), last


def _rows(
    connection: apsw.Connection, op_id: int, table: str | None = None, first: int = 0, last: int = 2**62
) -> Iterator[_Row]:
    """The rows of an operation with the state before it.

    Of several changes of one row the first one knows that state, column by column.
    """
    found: dict[tuple[str, int], _Row] = {}
    for seq, tbl, act, lo, hi, before in connection.execute(
        """
        SELECT seq, tbl, act, lo, hi, before FROM changes
        WHERE op_id = ? AND (?2 IS NULL OR tbl = ?2) AND hi >= ?3 AND lo <= ?4 ORDER BY seq
        """,
        (op_id, table, first, last),
    ):
        image = msgspec.json.decode(before, type=dict[str, Any]) if before else {}
        for key in range(max(lo, first), min(hi, last) + 1):
            earlier = found.get((tbl, key))
            if earlier is None:
                found[tbl, key] = _Row(tbl, key, act != "insert", image, seq)
            else:
                found[tbl, key] = earlier._replace(before=image | earlier.before, last_seq=seq)
    yield from found.values()


def _put_back(connection: apsw.Connection, rows: list[_Row]) -> tuple[int, list[Conflict]]:
    """Removals first, then the rest: a row that comes back may need the unique key of one that goes."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    ours = {(row.table, row.key) for row in rows}
    restored = 0
    conflicts: list[Conflict] = []
    # Memories before sessions: a session goes only when its turns have gone.
    for row in sorted(rows, key=lambda r: (r.existed, r.table != "memories", -r.key)):
        reason: str | None = _changed_since(connection, row) or _needed(connection, row, ours)
        if not reason:
            reason = _restore(connection, row) if row.existed else _remove(connection, row)
        if reason == "":
            restored += 1
        elif reason is not None:
            conflicts.append(
                Conflict(
                    table=row.table,
                    key=row.key,
                    reason=reason,
                    memory_id=_memory_id(connection, row),
                    wanted=row.before or None,
                    current=history.current_row(connection, row.table, row.key),
                )
            )
    return restored, conflicts


def _memory_id(connection: apsw.Connection, row: _Row) -> str | None:
    if row.table != "memories":
        return None
    found: str | None = scalar(connection, "SELECT id FROM memories WHERE rid = ?", (row.key,))
    return found or row.before.get("id")


def _changed_since(connection: apsw.Connection, row: _Row) -> str:
    """Why a later operation forbids putting the row back; "" when none does.

    A later operation and the undo that took it back cancel each other out.
    """
    later: Any = connection.execute(
        """
        SELECT DISTINCT o.op_id, o.undoes, o.label, o.state, c.act FROM changes c JOIN ops o ON o.op_id = c.op_id
        WHERE c.tbl = ? AND c.lo = ? AND c.act <> 'insert' AND c.seq > ? ORDER BY o.op_id
        """,
        (row.table, row.key, row.last_seq),
    ).fetchall()
    if not later:
        return ""
    standing: dict[int, tuple[int | None, str]] = {
        op_id: (undoes, label)
        for op_id, undoes, label, state, act in later
        if not (act == "delete" and state == "undone")  # else it was brought back since
    }
    for op_id in sorted(standing, reverse=True):
        undone = standing[op_id][0] if op_id in standing else None
        if undone in standing:
            del standing[undone], standing[op_id]
    if not standing:
        return ""
    return f"changed since by “{standing[max(standing)][1]}”"


def _needed(connection: apsw.Connection, row: _Row, ours: set[tuple[str, int]]) -> str:
    """Why a row cannot be removed: something that stays depends on it. "" for a row that only goes back."""
    if row.existed:
        return ""
    if row.table == "memories":
        for rid, identity in connection.execute(
            """
            SELECT m.rid, m.id FROM memory_links l JOIN memories m ON m.id = l.from_id
            WHERE l.to_id = (SELECT id FROM memories WHERE rid = ?)
            """,
            (row.key,),
        ):
            if ("memories", rid) not in ours:
                return f"{identity} was derived from it since"
    elif row.table == "sessions_consolidations":
        turn = connection.execute(
            """
            SELECT 1 FROM memories WHERE session_id =
                (SELECT session_id FROM sessions_consolidations WHERE sid = ?) LIMIT 1
            """,
            (row.key,),
        ).fetchone()
        if turn:
            return "the session has other turns"
    return ""


def _remove(connection: apsw.Connection, row: _Row) -> str | None:
    """Returns "" when removed, None when it was gone already."""
    covered = COVERED[row.table]
    connection.execute(f"DELETE FROM {row.table} WHERE {covered.key} = ?", (row.key,))
    return "" if connection.changes() else None


def _restore(connection: apsw.Connection, row: _Row) -> str:
    covered = COVERED[row.table]
    exists = connection.execute(f"SELECT 1 FROM {row.table} WHERE {covered.key} = ?", (row.key,)).fetchone()
    image = {column: value for column, value in row.before.items() if column in covered.all_columns}
    try:
        if exists:
            image.pop(covered.key, None)
            connection.execute(
                f"UPDATE {row.table} SET {', '.join(f'{column} = ?' for column in image)} WHERE {covered.key} = ?",
                (*image.values(), row.key),
            )
        else:
            if covered.key not in image:
                return "the row is gone"
            connection.execute(
                f"INSERT INTO {row.table}({', '.join(image)}) VALUES ({', '.join('?' * len(image))})",
                tuple(image.values()),
            )
    except apsw.ConstraintError:
        return "another row took its place"
    return ""
