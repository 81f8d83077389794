"""Who is seen with whom: the entities that the same memories mention. Read in the caller's snapshot.

Of an entity with very many memories only the latest are looked at, so that it costs as much as any other.
"""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.records import Companion, Entity, Neighbourhood
from memtui.engine.search.filters.compiler import CompiledFilter
from memtui.engine.search.filters.dates import Period
from memtui.engine.store import entities, memories
from memtui.engine.store.entity_lists import GROUP
from memtui.engine.store.sql import scalar

LOOKED_THROUGH = 5_000
"""Of more memories than this, the latest are looked at."""

# The latest memories that mention the entity and pass the filter, each once however many of its names it has. Of two,
# the one of the greater ``place`` is shown: facts before others, then the later.
_SHARED = f"""
    shared AS MATERIALIZED (
        SELECT m.rid, m.event_time AS at, row_number() OVER (ORDER BY m.kind = 'fact', m.event_time, m.rid) AS place
        FROM (
            SELECT DISTINCT rid, at FROM memory_entities
            WHERE eid IN {GROUP.format(eid=":eid")} AND at >= :since AND at < :until
            ORDER BY at DESC, rid DESC LIMIT {LOOKED_THROUGH}) mine
        CROSS JOIN memories m ON m.rid = mine.rid WHERE {{where}})"""


def load_neighbourhood(
    connection: apsw.Connection,
    entity: Entity,
    compiled_filter: CompiledFilter,
    now: float,
    *,
    limit: int,
    type: str | None = None,
    with_latest: bool = True,
    period: Period = (EARLIEST, LATEST),
) -> Neighbourhood:
    """The ``limit`` entities that most memories mention together with this one.

    Only memories of the ``period`` that pass the filter count. ``type``: only entities of this type. Without it dates and links,
    which are in half of all texts, are left out. ``with_latest``: with a memory of each.
    """
    shared = _SHARED.format(where=compiled_filter.where)
    typed = "e.type NOT IN ('date', 'url')" if type is None else "e.type = :type"
    given = {**compiled_filter.bindings, "eid": entity.eid, "since": period[0], "until": period[1]}
    whole = period == (EARLIEST, LATEST)
    rows: Any = connection.execute(
        f"""
        WITH {shared}, beside AS MATERIALIZED (
            SELECT e.eid, count(DISTINCT shared.rid) AS together, max(shared.at) AS last, max(shared.place) AS place,
                count(*) OVER () AS known
            FROM shared CROSS JOIN memory_entities other ON other.rid = shared.rid
            CROSS JOIN entities name ON name.eid = other.eid
            CROSS JOIN entities e ON e.eid = coalesce(name.merged_into, name.eid)
            WHERE e.eid <> :eid AND NOT e.hidden AND {typed}
            GROUP BY e.eid ORDER BY together DESC, e.eid LIMIT :limit)
        SELECT eid, together, last, known, (SELECT rid FROM shared WHERE shared.place = beside.place)
        FROM beside ORDER BY together DESC, eid
        """,
        {**given, "type": type, "limit": limit},
    ).fetchall()
    wanted = [rid for *_, rid in rows] if with_latest else []
    latest = {one.rid: one for one in memories.by_rid(connection, wanted, now)}
    named = {one.eid: one for one in entities.by_eid(connection, [eid for eid, *_ in rows])}
    number = entity.mention_count
    if compiled_filter.terms or not whole:
        number = scalar(connection, f"WITH {shared} SELECT count(*) FROM shared", given)
    return Neighbourhood(
        entity=entity,
        companions=tuple(
            Companion(entity=named[eid], together=together, last=last, latest=latest.get(rid))
            for eid, together, last, _, rid in rows
        ),
        others=rows[0][3] - len(rows) if rows else 0,
        memories=number,
        partly=(entity.mention_count if whole else number) > LOOKED_THROUGH - (not whole),
    )
