"""Memories that the enrichment job has read again for names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw

from memtui.engine.records import Enrichment, Kind, MemoryRecord

from . import entities, memories
from .entity_lists import GROUP

KINDS: tuple[Kind, ...] = ("fact", "episode")


def unread_memories(
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
    return [memories.memory_record(row, now) for row in rows]


def linked_entities(connection: apsw.Connection, rid: int) -> set[int]:
    """The entities (eids) that a memory is linked to."""
    return {
        int(eid) for (eid,) in connection.execute("SELECT eid FROM memory_entities WHERE rid = ?", (rid,))
    }


def mark_enriched(connection: apsw.Connection, rid: int, now: int, gained: Collection[int]) -> None:
    """It was read, and ``gained`` links to these entities; those of earlier readings stay. Inside the caller's
    transaction."""
    connection.execute(
        "INSERT INTO enrichments(rid, at, links) VALUES (?, ?, ?) "
        "ON CONFLICT(rid) DO UPDATE SET at = excluded.at, links = links + excluded.links",
        (rid, now, len(gained)),
    )
    connection.executemany(
        "INSERT INTO enriched_links(rid, eid) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(rid, eid) for eid in gained],
    )


def enrichment_of_memory(connection: apsw.Connection, rid: int) -> Enrichment | None:
    """When a memory was read again, and which of its entities it has from that; None if it was not."""
    row = connection.execute("SELECT at FROM enrichments WHERE rid = ?", (rid,)).fetchone()
    if row is None:
        return None
    gained = {
        int(eid)
        for (eid,) in connection.execute(
            """
            SELECT coalesce(e.merged_into, e.eid) FROM enriched_links el JOIN entities e ON e.eid = el.eid
            JOIN memory_entities me ON me.rid = el.rid AND me.eid = el.eid WHERE el.rid = ?
            """,
            (rid,),
        )
    }
    added = tuple(entity for entity in entities.of_memory(connection, rid) if entity.eid in gained)
    return Enrichment(at=int(row[0]), added=added)


def rids_added_to_entity(connection: apsw.Connection, eid: int) -> set[int]:
    """The memories (rids) that are linked to an entity only since they were read again."""
    rows = connection.execute(
        f"""
        SELECT el.rid FROM enriched_links el JOIN memory_entities me ON me.rid = el.rid AND me.eid = el.eid
        WHERE el.eid IN {GROUP.format(eid="?1")}
        """,
        (eid,),
    )
    return {int(rid) for (rid,) in rows}
