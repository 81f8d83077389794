"""Who is seen with whom: the entities that the same memories mention. Read in the caller's snapshot.

Of an entity with very many memories only the latest are looked at, so that it costs as much as any other.
"""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.records import Companion, Entity, MemoryRecord, Neighbourhood
from memtui.engine.search.filters.compiler import CompiledFilter
from memtui.engine.store import entities, memories
from memtui.engine.store.entity_lists import GROUP
from memtui.engine.store.sql import as_json, scalar

LOOKED_THROUGH = 5_000
"""Of more memories than this, the latest are looked at."""

# The latest memories that mention the entity and pass the filter, each once however many of its names it has.
_SHARED = f"""
    shared AS MATERIALIZED (
        SELECT m.rid, m.event_time AS at, m.kind = 'fact' AS fact FROM (
            SELECT DISTINCT rid, at FROM memory_entities
            WHERE eid IN {GROUP.format(eid=":eid")} AND at IS NOT NULL
            ORDER BY at DESC, rid DESC LIMIT {LOOKED_THROUGH}) mine
        CROSS JOIN memories m ON m.rid = mine.rid WHERE {{where}})"""
# What else they mention: one row for each entity (``eid``) and name.
_BESIDE = """
    shared CROSS JOIN memory_entities other ON other.rid = shared.rid
    CROSS JOIN entities name ON name.eid = other.eid
    CROSS JOIN entities e ON e.eid = coalesce(name.merged_into, name.eid)"""


def neighbourhood(
    connection: apsw.Connection,
    entity: Entity,
    within: CompiledFilter,
    now: float,
    *,
    limit: int,
    type: str | None = None,
    with_latest: bool = True,
) -> Neighbourhood:
    """The ``limit`` entities that most memories mention together with this one.

    Only memories that pass the filter count. ``type``: only entities of this type. Without it dates and links,
    which are in half of all texts, are left out. ``with_latest``: with a memory of each.
    """
    shared = _SHARED.format(where=within.where)
    typed = "e.type NOT IN ('date', 'url')" if type is None else "e.type = :type"
    given = {**within.bindings, "eid": entity.eid}
    rows: Any = connection.execute(
        f"""
        WITH {shared}
        SELECT e.eid, count(DISTINCT shared.rid) AS together, max(shared.at), count(*) OVER () FROM {_BESIDE}
        WHERE e.eid <> :eid AND NOT e.hidden AND {typed}
        GROUP BY e.eid ORDER BY together DESC, e.eid LIMIT :limit
        """,
        {**given, "type": type, "limit": limit},
    ).fetchall()
    found = {eid: (together, last) for eid, together, last, _ in rows}
    known = rows[0][3] if rows else 0
    latest = _latest(connection, shared, given, list(found), now) if with_latest else {}
    return Neighbourhood(
        entity=entity,
        companions=tuple(
            Companion(entity=one, together=together, last=last, latest=latest.get(one.eid))
            for one in entities.by_eid(connection, list(found))
            for together, last in [found[one.eid]]
        ),
        others=known - len(found),
        memories=entity.mention_count
        if not within.terms
        else scalar(connection, f"WITH {shared} SELECT count(*) FROM shared", given),
        partly=entity.mention_count > LOOKED_THROUGH,
    )


def _latest(
    connection: apsw.Connection, shared: str, given: dict[str, Any], eids: list[int], now: float
) -> dict[int, MemoryRecord]:
    """The latest fact that each of them shares with the entity, without one the latest memory."""
    rows: Any = connection.execute(
        f"""
        WITH {shared}
        SELECT e.eid, shared.rid, max(shared.fact * (1 << 40) + shared.at) FROM {_BESIDE}
        WHERE e.eid IN (SELECT value FROM json_each(:eids)) GROUP BY e.eid
        """,
        {**given, "eids": as_json(eids)},
    ).fetchall()
    rid_of = {eid: rid for eid, rid, _ in rows}
    by_rid = {one.rid: one for one in memories.by_rid(connection, list(set(rid_of.values())), now)}
    return {eid: by_rid[rid] for eid, rid in rid_of.items() if rid in by_rid}
