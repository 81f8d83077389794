"""Entities, their names, and which memories mention them.

Names are found by key: NFKC, casefolded. What a program links is derived; what the person decided
(``entity_decisions``, merges, hidden ones) is kept and wins.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import Entity, MemoryRecord

from . import memories
from .history import derived
from .sql import scalar


class Mention(NamedTuple):
    """An entity as a text names it: what to call it, its type, and the words as they stand there."""

    name: str
    type: str
    raw: str


def entity_key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def link(connection: apsw.Connection, rid: int, mentions: Iterable[Mention], now: int) -> int:
    """Link a memory to the entities it mentions, making those that are new. Returns how many links it has gained."""
    gained = 0
    for mention in mentions:
        eid = resolve(connection, mention.name, mention.type)
        if eid is None:
            with derived(connection):
                eid = _create(connection, mention, now)
        elif eid < 0:
            continue
        gained += add_link(connection, rid, eid)
    return gained


def resolve(connection: apsw.Connection, name: str, type: str) -> int | None:
    """The entity that has this name, merges followed; None if unknown; -1 if the person said it is none."""
    row = connection.execute(
        """
        SELECT coalesce(e.merged_into, e.eid), e.hidden FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        WHERE a.key = ? ORDER BY e.type = ? DESC, e.protected DESC, e.mention_count DESC, e.eid LIMIT 1
        """,
        (entity_key(name), type),
    ).fetchone()
    if row is None:
        return None
    return -1 if row[1] else int(row[0])


def names_after(connection: apsw.Connection, alias_id: int) -> list[tuple[int, str, str, str]]:
    """(alias id, alias, name, type) of names learned after ``alias_id``; what is found by its shape is left out."""
    rows = connection.execute(
        """
        SELECT a.alias_id, a.alias, s.canonical_name, s.type
        FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
        WHERE a.alias_id > ? AND NOT s.hidden AND s.type NOT IN ('date', 'url', 'email') ORDER BY a.alias_id
        """,
        (alias_id,),
    )
    return [(int(number), str(alias), str(name), str(type)) for number, alias, name, type in rows]


def _create(connection: apsw.Connection, mention: Mention, now: int) -> int:
    connection.execute(
        "INSERT INTO entities(id, canonical_name, type, created_at) VALUES (?, ?, ?, ?)",
        (f"ent_{secrets.token_hex(6)}", mention.name, mention.type, now),
    )
    eid = connection.last_insert_rowid()
    for alias in dict.fromkeys((mention.name, mention.raw)):
        connection.execute(
            "INSERT INTO entity_aliases(key, entity_id, alias) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (entity_key(alias), eid, alias),
        )
    return eid


def add_link(connection: apsw.Connection, rid: int, eid: int) -> int:
    """Link unless the person said no. Returns 1 when the link is new."""
    connection.execute(
        """
        INSERT INTO memory_entities(rid, eid)
        SELECT ?1, ?2 WHERE NOT EXISTS (
            SELECT 1 FROM entity_decisions WHERE rid = ?1 AND entity_id = ?2 AND decision = 'unlink')
        ON CONFLICT DO NOTHING
        """,
        (rid, eid),
    )
    return connection.changes()


_COLUMNS = "e.eid, e.id, e.canonical_name, e.type, e.mention_count, e.summary, e.merged_into"


def _entities(connection: apsw.Connection, rows: Iterable[Sequence[Any]]) -> list[Entity]:
    found = []
    for eid, identity, name, type, mentions, summary, merged_into in list(rows):
        aliases: Any = connection.execute(
            "SELECT alias FROM entity_aliases WHERE entity_id = ? ORDER BY alias_id", (eid,)
        ).fetchall()
        found.append(
            Entity(
                eid=eid,
                id=identity,
                canonical_name=name,
                type=type,
                mention_count=mentions,
                aliases=tuple(alias for (alias,) in aliases if alias != name),
                summary=summary,
                merged_into=merged_into,
            )
        )
    return found


def of_memory(connection: apsw.Connection, rid: int) -> list[Entity]:
    """The entities a memory is linked to, the most mentioned first."""
    rows = connection.execute(
        f"""
        SELECT DISTINCT {_COLUMNS} FROM memory_entities me JOIN entities l ON l.eid = me.eid
        JOIN entities e ON e.eid = coalesce(l.merged_into, l.eid)
        WHERE me.rid = ? AND NOT e.hidden ORDER BY e.mention_count DESC, e.eid
        """,
        (rid,),
    )
    return _entities(connection, rows)


def names_of(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The entity names of several memories at once, for lists."""
    found: dict[int, list[str]] = {}
    for start in range(0, len(rids), 500):
        some = rids[start : start + 500]
        for rid, name in connection.execute(
            f"""
            SELECT me.rid, e.canonical_name FROM memory_entities me JOIN entities l ON l.eid = me.eid
            JOIN entities e ON e.eid = coalesce(l.merged_into, l.eid)
            WHERE me.rid IN ({",".join("?" * len(some))}) AND NOT e.hidden
            GROUP BY me.rid, e.eid ORDER BY e.mention_count DESC
            """,
            tuple(some),
        ):
            found.setdefault(rid, []).append(name)
    return {rid: tuple(names) for rid, names in found.items()}


def page(connection: apsw.Connection, *, offset: int = 0, limit: int = 128) -> list[Entity]:
    """Entities that something mentions, the most mentioned first."""
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM entities e WHERE e.merged_into IS NULL AND NOT e.hidden AND e.mention_count > 0
        ORDER BY e.mention_count DESC, e.eid LIMIT ? OFFSET ?
        """,
        (limit, offset),
    ).fetchall()
    return _entities(connection, rows)


def count(connection: apsw.Connection) -> int:
    return int(
        scalar(
            connection,
            "SELECT count(*) FROM entities WHERE merged_into IS NULL AND NOT hidden AND mention_count > 0",
        )
    )


def linked_memories(
    connection: apsw.Connection, eid: int, now: float, *, limit: int = 100
) -> list[MemoryRecord]:
    """Active memories that mention an entity (or one merged into it), the latest first."""
    rows = connection.execute(
        f"""
        SELECT {memories.COLUMNS} FROM memories m WHERE m.valid_until IS NULL AND m.rid IN (
            SELECT me.rid FROM memory_entities me JOIN entities e ON e.eid = me.eid
            WHERE e.eid = ?1 OR e.merged_into = ?1)
        ORDER BY m.event_time DESC, m.rid DESC LIMIT ?2
        """,
        (eid, limit),
    )
    return [memories.record(row, now) for row in rows]
