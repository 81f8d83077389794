"""The entity retriever: memories about the people, projects and places that the question names.

A question names an entity when one of its names is in it as whole words, in any case; of names that
overlap the longest counts. A memory that two of them are linked to is found once, with a score of two.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import apsw

from memtui.engine.search.scope import Scope
from memtui.engine.store import full_text
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import fold_text

_MOST_WORDS = 300
_LONGEST_NAME = 6
_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[^\w\s]{1,3}")


class NamedEntity(NamedTuple):
    """An entity that a question names. Merged entities are one, under the survivor's ``eid`` and ``name``.

    ``mentions``: how many memories are linked to it, of those that are looked through.
    """

    eid: int
    name: str
    mentions: int

    def idf_share(self, rows: int) -> float:
        """How much it says that one of ``rows`` memories is about this: 1 if it is the only one, 0 if all are."""
        most = math.log(max(rows, 2))
        return max(0.0, 1.0 - math.log(max(self.mentions, 1)) / most)


class LinkedMemory(NamedTuple):
    """A memory with the entities it is linked to, of those that were asked for."""

    rid: int
    entities: tuple[NamedEntity, ...]


def entities_named(
    connection: apsw.Connection, text: str, inside: list[int] | None = None
) -> list[NamedEntity]:
    """The entities that a text names, in its order, each once. ``inside``: the memories to count, None for all."""
    places = _name_candidates(fold_text(text))
    rows = connection.execute(
        """
        SELECT a.key, survivor.eid, survivor.canonical_name, survivor.mention_count
        FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities survivor ON survivor.eid = coalesce(e.merged_into, e.eid)
        WHERE a.key IN (SELECT value FROM json_each(?)) AND NOT survivor.hidden
        ORDER BY survivor.eid
        """,
        (as_json(places),),
    )
    known: dict[str, list[NamedEntity]] = {}
    for key, eid, name, mentions in rows:
        known.setdefault(key, []).append(NamedEntity(eid, name, mentions))
    taken: list[tuple[int, int, str]] = []
    spans = [(start, end, key) for key in known for start, end in places[key]]
    for start, end, key in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= other or start >= other_end for other, other_end, _ in taken):
            taken.append((start, end, key))
    found = list(dict.fromkeys(entity for _, _, key in sorted(taken) for entity in known[key]))
    return found if inside is None or not found else _counted_inside(connection, found, inside)


def _counted_inside(
    connection: apsw.Connection, entities: list[NamedEntity], inside: list[int]
) -> list[NamedEntity]:
    rows = connection.execute(
        """
        SELECT coalesce(e.merged_into, e.eid) AS survivor, count(DISTINCT me.rid)
        FROM json_each(?) asked CROSS JOIN memory_entities me ON me.rid = asked.value
        CROSS JOIN entities e ON e.eid = me.eid
        WHERE survivor IN (SELECT value FROM json_each(?)) GROUP BY survivor
        """,
        (as_json(inside), as_json(one.eid for one in entities)),
    )
    mentions: dict[int, int] = dict(rows)
    return [one._replace(mentions=mentions.get(one.eid, 0)) for one in entities]


def linked_memories(
    connection: apsw.Connection, entities: list[NamedEntity], scope: Scope, limit: int
) -> list[LinkedMemory]:
    """The ``limit`` memories of the scope linked to most of the entities, newer ones first among equals.

    Of the entity with most mentions, the newest alone will do: what has another one besides is found by that.
    """
    bindings = {**_sql_bindings(entities, scope), "limit": limit}
    common = max(entities, key=lambda entity: entity.mentions)
    newest = " UNION ALL ".join(
        f"""SELECT * FROM (
            SELECT me.rid FROM memory_entities me CROSS JOIN memories m ON m.rid = me.rid
            WHERE me.eid = {eid} AND {scope.where} ORDER BY me.at DESC, me.rid DESC LIMIT :limit)"""
        for (eid,) in connection.execute(
            "SELECT eid FROM entities WHERE eid = ?1 OR merged_into = ?1", (common.eid,)
        )
    )
    rows = connection.execute(
        f"""
        WITH candidates AS (
            {newest}
            UNION
            SELECT me.rid FROM json_each(:eids) asked
            CROSS JOIN entities e ON e.eid = asked.value OR e.merged_into = asked.value
            CROSS JOIN memory_entities me ON me.eid = e.eid CROSS JOIN memories m ON m.rid = me.rid
            WHERE asked.value <> :common AND {scope.where})
        SELECT me.rid, group_concat(coalesce(e.merged_into, e.eid)),
            count(DISTINCT coalesce(e.merged_into, e.eid)) AS found
        FROM candidates c CROSS JOIN memory_entities me ON me.rid = c.rid CROSS JOIN entities e ON e.eid = me.eid
        WHERE coalesce(e.merged_into, e.eid) IN (SELECT value FROM json_each(:eids))
        GROUP BY me.rid ORDER BY found DESC, max(me.at) DESC, me.rid DESC LIMIT :limit
        """,
        {**bindings, "common": common.eid},
    )
    return [_linked_entities(rid, eids, entities) for rid, eids, _ in rows]


def entity_rank(
    connection: apsw.Connection, entities: list[NamedEntity], scope: Scope, rid: int
) -> tuple[LinkedMemory, int] | None:
    """One memory's links, and how many of the scope come before it; None when it has none."""
    bindings = {**_sql_bindings(entities, scope), "rid": rid}
    row = connection.execute(
        f"{_count_column(scope)} SELECT eids, at FROM counted WHERE rid = :rid", bindings
    ).fetchone()
    if row is None:
        return None
    found = _linked_entities(rid, row[0], entities)
    [(before,)] = connection.execute(
        f"{_count_column(scope)} SELECT count(*) FROM counted WHERE (found, at, rid) > (:found, :at, :rid)",
        {**bindings, "found": len(found.entities), "at": row[1]},
    )
    return found, int(before)


def _count_column(scope: Scope) -> str:
    return f"""
        WITH counted AS (
            SELECT me.rid AS rid, ifnull(max(me.at), 0) AS at, count(DISTINCT asked.value) AS found,
                group_concat(asked.value) AS eids
            FROM json_each(:eids) asked
            JOIN entities e ON e.eid = asked.value OR e.merged_into = asked.value
            JOIN memory_entities me ON me.eid = e.eid
            JOIN memories m ON m.rid = me.rid
            WHERE {scope.where} GROUP BY me.rid)"""


def _sql_bindings(entities: list[NamedEntity], scope: Scope) -> dict[str, Any]:
    return {**scope.bindings, "eids": as_json(entity.eid for entity in entities)}


def _linked_entities(rid: int, eids: str, entities: list[NamedEntity]) -> LinkedMemory:
    linked_to = {int(eid) for eid in eids.split(",")}
    return LinkedMemory(rid, tuple(entity for entity in entities if entity.eid in linked_to))


def _name_candidates(folded: str) -> dict[str, list[tuple[int, int]]]:
    """Every run of whole words that could be a name, with the places where it stands."""
    found: dict[str, list[tuple[int, int]]] = {}
    spans = [match.span() for match in _WORD.finditer(folded)][:_MOST_WORDS]
    for first, (start, _) in enumerate(spans):
        for _, end in spans[first : first + _LONGEST_NAME]:
            signs = _SIGNS.match(folded, end)
            for stop in range(end, signs.end() + 1 if signs else end + 1):  # "C++" is a name too
                found.setdefault(folded[start:stop], []).append((start, stop))
    runs = () if folded.isascii() else full_text.cjk_pattern().finditer(folded)
    for match in runs:  # no spaces there: every piece may be a name
        for start in range(match.start(), match.end()):
            for end in range(start + 2, min(start + _LONGEST_NAME, match.end()) + 1):
                found.setdefault(folded[start:end], []).append((start, end))
    return found
