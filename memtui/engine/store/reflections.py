"""The facts and turns that a weekly reflection reads, and the time of the last one."""

from __future__ import annotations

import apsw

from memtui.engine.records import MemoryRecord

from . import memories
from .sql import scalar

TAG = "weekly"


def last_at(connection: apsw.Connection) -> int | None:
    """When the latest weekly reflection was written, whatever became of it."""
    found: int | None = scalar(
        connection,
        "SELECT max(created_at) FROM memories WHERE kind = 'reflection' "
        "AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)",
        (TAG,),
    )
    return found


def facts_since(connection: apsw.Connection, since: float, now: float, limit: int) -> list[MemoryRecord]:
    """Active facts recorded since then, the newest first."""
    return _since(connection, "m.kind <> 'episode' AND m.kind = 'fact' AND m.created_at", since, now, limit)


def turns_since(connection: apsw.Connection, since: float, now: float, limit: int) -> list[MemoryRecord]:
    """Active turns that were said since then, the newest first."""
    return _since(connection, "m.kind = 'episode' AND m.event_time", since, now, limit)


def _since(
    connection: apsw.Connection, column: str, since: float, now: float, limit: int
) -> list[MemoryRecord]:
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.valid_until IS NULL AND {column} BETWEEN ? AND ? "
        "ORDER BY m.event_time DESC, m.rid DESC LIMIT ?",
        (int(since), int(now), limit),
    )
    return [memories.record(row, now) for row in rows]
