"""Which memories a model has read again for the names in them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memtui.engine.records import Kind, MemoryRecord

from . import memories

KINDS: tuple[Kind, ...] = ("fact", "episode")


def waiting(
    connection: apsw.Connection, now: float, *, kinds: Sequence[Kind], most_entities: int, limit: int
) -> list[MemoryRecord]:
    """Active memories that have at most so many entities and were not read yet, the newest first."""
    rows = connection.execute(
        f"""
        SELECT {memories.COLUMNS} FROM memories m
        WHERE m.valid_until IS NULL AND m.kind IN ({", ".join("?" * len(kinds))})
          AND NOT EXISTS (SELECT 1 FROM enrichments e WHERE e.rid = m.rid)
          AND (SELECT count(*) FROM memory_entities l WHERE l.rid = m.rid) <= ?
        ORDER BY m.event_time DESC, m.rid DESC LIMIT ?
        """,
        (*kinds, most_entities, limit),
    )
    return [memories.record(row, now) for row in rows]


def stamp(connection: apsw.Connection, rid: int, now: int, links: int) -> None:
    """It was read; ``links`` came of it. Inside the caller's transaction."""
    connection.execute(
        "INSERT INTO enrichments(rid, at, links) VALUES (?, ?, ?) "
        "ON CONFLICT(rid) DO UPDATE SET at = excluded.at, links = excluded.links",
        (rid, now, links),
    )
