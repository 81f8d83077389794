"""Operations: every change has a name, an actor and the rows it touched.

The rows are written by triggers in the writer's own transaction (triggers.py); this module opens and
closes operations and reads them back. An operation that changed nothing leaves no trace. A long one
(an import) spans many transactions and stays ``running`` in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import msgspec

from memtui.engine.clock import Clock
from memtui.engine.errors import DiskFullError, NotFoundError, StoreError
from memtui.engine.records import Operation, RowChange

from . import metadata
from .columns import COVERED
from .connection import Connections
from .sql import scalar

KEEP_DAYS = 90
KEEP_BYTES = 50_000_000
THINNED = "history_thinned"
"""Metadata: the time (Unix seconds) up to which operations were forgotten; after it history is whole."""


class RestoredError(StoreError):
    """The file was restored in the middle of an operation: what it had stored is not there."""


class Op:
    """An open operation: the connection of its transaction, and its label, which may still change.

    ``wrote``: whoever knows that rows have changed may say so; else it is looked up at the end.
    """

    def __init__(self, connection: apsw.Connection, op_id: int, label: str) -> None:
        self.connection = connection
        self.op_id = op_id
        self.label = label
        self.wrote = False
        self._label = label

    @property
    def relabelled(self) -> bool:
        return self.label != self._label


@contextmanager
def operation(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, *, undoes: int | None = None
) -> Iterator[Op]:
    """One operation in one transaction."""
    end_unfinished(connections)
    with connections.write() as connection:
        op_id = _insert(connection, clock, actor, kind, label, "done", undoes)
        op = Op(connection, op_id, label)
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
        yield op
        connection.execute("DELETE FROM current_op")
        if not op.wrote and not scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? LIMIT 1", (op_id,)):
            connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))
        elif op.relabelled:
            connection.execute("UPDATE ops SET label = ? WHERE op_id = ?", (op.label, op_id))


def begin(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, *, undoes: int | None = None
) -> int:
    """Start an operation of many transactions; ``part`` runs each of them, ``finish`` ends it."""
    end_unfinished(connections)
    token = connections.runs.hold()
    with connections.write() as connection:
        return _insert(connection, clock, actor, kind, label, "running", undoes, token)


@contextmanager
def part(connections: Connections, op_id: int) -> Iterator[apsw.Connection]:
    """One transaction of a running operation. Raises RestoredError when a restore took the operation away."""
    with connections.write_in_turn() as connection:
        if not _is_ours(connections, connection, op_id):
            raise RestoredError(
                "A backup was restored meanwhile: this was broken off.",
                "Look at what is there now, and try again.",
            )
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
        yield connection
        connection.execute("DELETE FROM current_op")


@contextmanager
def more(connections: Connections, op_id: int) -> Iterator[apsw.Connection | None]:
    """One more transaction of an operation that is done; None if another one came since, its undo for one, or it went."""
    with connections.write_in_turn() as connection:
        latest = scalar(connection, "SELECT max(op_id) FROM ops") == op_id
        if not latest or not _is_ours(connections, connection, op_id):
            yield None
            return
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
        yield connection
        connection.execute("DELETE FROM current_op")


def _is_ours(connections: Connections, connection: apsw.Connection, op_id: int) -> bool:
    """Whether it is there, and is the one that this process began: a restored file may have another of its number."""
    found: Any = connection.execute("SELECT run_id FROM ops WHERE op_id = ?", (op_id,)).fetchone()
    return found is not None and connections.runs.ours(found[0])


def finish(connections: Connections, op_id: int, label: str) -> None:
    """End a running operation. Without room for that it is ended by the next change (``end_unfinished``)."""
    with connections.read() as connection:
        token = scalar(connection, "SELECT run_id FROM ops WHERE op_id = ?", (op_id,))
    try:
        with connections.write() as connection:
            close(connection, op_id, label)
    except DiskFullError:
        connections.unfinished[op_id] = label
        raise
    connections.unfinished.pop(op_id, None)
    connections.runs.release(token)


def end_unfinished(connections: Connections) -> None:
    """End the operations of this process that a full disk kept open."""
    for op_id, label in list(connections.unfinished.items()):
        finish(connections, op_id, label)


def close_dead(connections: Connections) -> int:
    """End the operations whose process died before it could, so that they can be undone; returns how many."""
    with connections.read() as connection:
        running: Any = connection.execute(
            "SELECT op_id, label, run_id FROM ops WHERE state = 'running'"
        ).fetchall()
    dead = [(op_id, label) for op_id, label, token in running if not connections.runs.alive(token)]
    for op_id, label in dead:
        finish(connections, op_id, f"{label} (interrupted)")
    return len(dead)


def close(connection: apsw.Connection, op_id: int, label: str) -> None:
    """End a running operation inside the caller's transaction; one that changed nothing leaves no trace."""
    if scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? LIMIT 1", (op_id,)):
        connection.execute("UPDATE ops SET state = 'done', label = ? WHERE op_id = ?", (label, op_id))
    else:
        connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))


@contextmanager
def derived(connection: apsw.Connection) -> Iterator[None]:
    """Inside it, rows that a program derives (an entity found in a text) are kept out of history."""
    row = connection.execute("SELECT op_id FROM current_op").fetchone()
    connection.execute(
        "INSERT INTO current_op(one, op_id) VALUES (1, 0) ON CONFLICT(one) DO UPDATE SET op_id = 0"
    )
    yield
    if row is None:
        connection.execute("DELETE FROM current_op")
    else:
        connection.execute("UPDATE current_op SET op_id = ?", row)


def _insert(
    connection: apsw.Connection,
    clock: Clock,
    actor: str,
    kind: str,
    label: str,
    state: str,
    undoes: int | None,
    run_id: str | None = None,
) -> int:
    connection.execute(
        "INSERT INTO ops(at, actor, kind, label, state, undoes, run_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (int(clock()), actor, kind, label, state, undoes, run_id),
    )
    return connection.last_insert_rowid()


COLUMNS = """
    o.op_id, o.at, o.actor, o.kind, o.label, o.state, o.run_id, o.undoes, o.undone_by,
    (SELECT coalesce(sum(hi - lo + 1), 0) FROM changes c WHERE c.op_id = o.op_id) AS row_count"""
_OPERATION = f"SELECT {COLUMNS} FROM ops o"


def operation_of(row: tuple[Any, ...]) -> Operation:
    """The record of a row selected with ``COLUMNS``."""
    return Operation(
        op_id=row[0], at=row[1], actor=row[2], kind=row[3], label=row[4], state=row[5],
        run_id=row[6], undoes=row[7], undone_by=row[8], rows=row[9],
    )  # fmt: skip


def get_operation(connection: apsw.Connection, op_id: int) -> Operation:
    found = find_operation(connection, op_id)
    if found is None:
        raise NotFoundError(f"There is no operation {op_id}.", "memtui history lists them.")
    return found


def find_operation(connection: apsw.Connection, op_id: int) -> Operation | None:
    row = connection.execute(f"{_OPERATION} WHERE op_id = ?", (op_id,)).fetchone()
    return None if row is None else operation_of(row)


def list_operations(
    connection: apsw.Connection, *, limit: int = 100, offset: int = 0, actor: str | None = None
) -> list[Operation]:
    """Operations, newest first."""
    where, values = ("WHERE actor = ?", [actor]) if actor else ("", [])
    rows = connection.execute(
        f"{_OPERATION} {where} ORDER BY op_id DESC LIMIT ? OFFSET ?", (*values, limit, offset)
    )
    return [operation_of(row) for row in rows]


def open_operations(connection: apsw.Connection, actor: str, kind: str) -> list[Operation]:
    """Operations that are running, or that their process left open when it died."""
    rows = connection.execute(
        f"{_OPERATION} WHERE actor = ? AND kind = ? AND state = 'running' ORDER BY op_id", (actor, kind)
    )
    return [operation_of(row) for row in rows]


def count_operations(connection: apsw.Connection) -> int:
    return int(scalar(connection, "SELECT count(*) FROM ops"))


def _image(json: Any) -> dict[str, Any] | None:
    return msgspec.json.decode(json, type=dict[str, Any]) if json else None


def row_changes(connection: apsw.Connection, op_id: int, *, limit: int = 1_000) -> list[RowChange]:
    """What an operation did, row by row, in order; a run of inserted rows is unfolded up to ``limit``."""
    found: list[RowChange] = []
    rows = connection.execute(
        "SELECT tbl, act, lo, hi, before, after FROM changes WHERE op_id = ? ORDER BY seq LIMIT ?",
        (op_id, limit),
    )
    for table, act, lo, hi, before, after in rows:
        for key in range(lo, hi + 1):
            if len(found) == limit:
                return found
            old, new = _image(before), _image(after)
            if act == "insert":
                new = current_row(connection, table, key)
            found.append(
                RowChange(
                    table=table,
                    key=key,
                    before=old,
                    after=new,
                    memory_id=_memory_id(connection, table, key, old),
                )
            )
    return found


def memory_changes(connection: apsw.Connection, rid: int) -> list[tuple[Operation, RowChange]]:
    """Every recorded change of one memory, oldest first, with the operation it belongs to."""
    rows = connection.execute(
        """
        SELECT op_id, before, after FROM (
            SELECT seq, op_id, before, after FROM changes
            WHERE tbl = 'memories' AND lo = ?1 AND act <> 'insert'
            UNION ALL
            -- Runs of inserted rows do not overlap, but for rows that a redo brought back.
            SELECT * FROM (
                SELECT seq, op_id, NULL, NULL FROM (
                    SELECT seq, op_id, hi FROM changes
                    WHERE tbl = 'memories' AND act = 'insert' AND lo <= ?1 ORDER BY lo DESC LIMIT 64)
                WHERE hi >= ?1))
        ORDER BY seq
        """,
        (rid,),
    ).fetchall()
    found = []
    for op_id, before, after in rows:
        assert isinstance(op_id, int)
        old, new = _image(before), _image(after)
        change = RowChange(
            table="memories",
            key=rid,
            before=old,
            after=new,
            memory_id=_memory_id(connection, "memories", rid, old),
        )
        found.append((get_operation(connection, op_id), change))
    return found


def current_row(connection: apsw.Connection, table: str, key: int) -> dict[str, Any] | None:
    """The covered columns of a row as it is now."""
    covered = COVERED[table]
    row = connection.execute(
        f"SELECT {', '.join(covered.all_columns)} FROM {table} WHERE {covered.key} = ?", (key,)
    ).fetchone()
    return dict(zip(covered.all_columns, row, strict=True)) if row else None


def insert_row(connection: apsw.Connection, table: str, image: dict[str, Any]) -> None:
    """Bring a row back from its image; inside the caller's operation."""
    connection.execute(
        f"INSERT INTO {table}({', '.join(image)}) VALUES ({', '.join('?' * len(image))})",
        tuple(image.values()),
    )


def _memory_id(connection: apsw.Connection, table: str, key: int, image: dict[str, Any] | None) -> str | None:
    if table != "memories":
        return None
    if image and "id" in image:
        return str(image["id"])
    found: str | None = scalar(connection, "SELECT id FROM memories WHERE rid = ?", (key,))
    return found


def prune(connections: Connections, now: float, *, keep_bytes: int = KEEP_BYTES) -> int:
    """Forget operations older than 90 days, and the oldest beyond ``keep_bytes`` of images.

    Returns how many operations went. Runs of inserted rows carry no image, so they are never
    the reason to forget a younger operation.
    """
    with connections.write() as connection:
        newest_old = scalar(
            connection,
            "SELECT coalesce(max(op_id), 0) FROM ops WHERE at < ? AND state <> 'running'",
            (now - KEEP_DAYS * 86_400,),
        )
        over = scalar(
            connection,
            """
            SELECT coalesce(max(op_id), 0) FROM (
                SELECT op_id, sum(coalesce(length(before), 0) + coalesce(length(after), 0))
                              OVER (ORDER BY seq DESC) AS total
                FROM changes WHERE before IS NOT NULL)
            WHERE total > ?
            """,
            (keep_bytes,),
        )
        last = max(newest_old, over)
        until = scalar(connection, "SELECT max(at) FROM ops WHERE op_id <= ?", (last,))
        if until is not None:
            metadata.put(
                connection, THINNED, str(max(until, int(metadata.get(connection, THINNED) or until)))
            )
        connection.execute("DELETE FROM changes WHERE op_id <= ?", (last,))
        connection.execute("DELETE FROM ops WHERE op_id <= ?", (last,))
        return connection.changes()
