"""Rows that history names: their current state, or their last one if they are deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from memtui.engine.records import Operation, RowChange

from . import operations
from .row_images import current_row

# The column by which people know a row.
_TITLES = {
    "memories": "content", "sessions_consolidations": "session_id", "entities": "canonical_name",
    "entity_aliases": "alias", "proposals": "kind", "saved_queries": "name", "profiles": "name",
    "scratchpad": "key",
}  # fmt: skip


def known_row(connection: apsw.Connection, table: str, key: int) -> dict[str, Any]:
    """The row, or its image from before it was deleted; empty when history has forgotten it."""
    if row := current_row(connection, table, key):
        return row
    image: Any = connection.execute(
        "SELECT before FROM changes WHERE tbl = ? AND lo = ? AND act = 'delete' ORDER BY seq DESC LIMIT 1",
        (table, key),
    ).fetchone()
    return msgspec.json.decode(image[0], type=dict[str, Any]) if image and image[0] else {}


def named(connection: apsw.Connection, changes: Iterable[RowChange]) -> list[RowChange]:
    """``changes`` with the ids of memories that are gone by now."""
    found = []
    for change in changes:
        if change.table == "memories" and change.memory_id is None:
            identity = known_row(connection, change.table, change.key).get("id")
            change = msgspec.structs.replace(change, memory_id=identity)
        found.append(change)
    return found


def title(connection: apsw.Connection, change: RowChange) -> str:
    """What people know the row by: a memory's text, a session's id, a name; "" when nothing is known."""
    column = _TITLES.get(change.table, "")
    for row in (change.after, change.before):
        if row and row.get(column):
            return str(row[column])
    return str(known_row(connection, change.table, change.key).get(column) or "")


def taken_by(connection: apsw.Connection, identity: str) -> tuple[str, Operation] | None:
    """The whole id of a memory that is gone (given by it or a beginning of it), and the operation that took it."""
    row: Any = connection.execute(
        """
        SELECT json_extract(before, '$.id'), op_id FROM changes
        WHERE tbl = 'memories' AND act = 'delete' AND substr(json_extract(before, '$.id'), 1, length(?1)) = ?1
        ORDER BY seq DESC LIMIT 1
        """,
        (identity,),
    ).fetchone()
    return (str(row[0]), operations.get(connection, row[1])) if row else None
