"""Read operations: their records, and the row changes of each."""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.records import Operation, RowChange

from .row_images import current_row, parse_image
from .sql import scalar

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


def get(connection: apsw.Connection, op_id: int) -> Operation:
    """Raises NotFoundError."""
    operation = find(connection, op_id)
    if operation is None:
        raise NotFoundError(f"There is no operation {op_id}.", "memtui history lists them.")
    return operation


def find(connection: apsw.Connection, op_id: int) -> Operation | None:
    row = connection.execute(f"{_OPERATION} WHERE op_id = ?", (op_id,)).fetchone()
    return None if row is None else operation_of(row)


def latest(
    connection: apsw.Connection, *, limit: int = 100, offset: int = 0, actor: str | None = None
) -> list[Operation]:
    """Operations, newest first."""
    where, values = ("WHERE actor = ?", [actor]) if actor else ("", [])
    rows = connection.execute(
        f"{_OPERATION} {where} ORDER BY op_id DESC LIMIT ? OFFSET ?", (*values, limit, offset)
    )
    return [operation_of(row) for row in rows]


def unfinished(connection: apsw.Connection, actor: str, kind: str) -> list[Operation]:
    """Operations that are running, or that their process left open when it died."""
    rows = connection.execute(
        f"{_OPERATION} WHERE actor = ? AND kind = ? AND state = 'running' ORDER BY op_id", (actor, kind)
    )
    return [operation_of(row) for row in rows]


def count(connection: apsw.Connection) -> int:
    return int(scalar(connection, "SELECT count(*) FROM ops"))


def row_changes(connection: apsw.Connection, op_id: int, *, limit: int = 1_000) -> list[RowChange]:
    """What an operation did, row by row, in order; a run of inserted rows is unfolded up to ``limit``."""
    changes: list[RowChange] = []
    rows = connection.execute(
        "SELECT tbl, act, lo, hi, before, after FROM changes WHERE op_id = ? ORDER BY seq LIMIT ?",
        (op_id, limit),
    )
    for table, act, lo, hi, before, after in rows:
        for key in range(lo, hi + 1):
            if len(changes) == limit:
                return changes
            old, new = parse_image(before), parse_image(after)
            if act == "insert":
                new = current_row(connection, table, key)
            changes.append(
                RowChange(
                    table=table,
                    key=key,
                    before=old,
                    after=new,
                    memory_id=_memory_id(connection, table, key, old),
                )
            )
    return changes


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
    changes = []
    for op_id, before, after in rows:
        assert isinstance(op_id, int)
        old, new = parse_image(before), parse_image(after)
        change = RowChange(
            table="memories",
            key=rid,
            before=old,
            after=new,
            memory_id=_memory_id(connection, "memories", rid, old),
        )
        changes.append((get(connection, op_id), change))
    return changes


def _memory_id(connection: apsw.Connection, table: str, key: int, image: dict[str, Any] | None) -> str | None:
    if table != "memories":
        return None
    if image and "id" in image:
        return str(image["id"])
    id: str | None = scalar(connection, "SELECT id FROM memories WHERE rid = ?", (key,))
    return id
