"""Entities as a list for people: found by words, a page at a time or by key; and what goes with one of them.

A filter is words that must stand in one of an entity's names, in any case and any script; a word with ``-``
before it must not; ``type:person`` asks for a type, ``id:ent_3f,ent_40`` for these entities, whether or not
they are listed otherwise.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records import Entity, EntityType, MemoryRecord

from . import entities, memories
from .connections import Connections
from .lists import keys_named
from .sql import keys_in_chunks, scalar
from .tokens import fold_text

EntityOrder = Literal["mentions", "name", "last_seen", "first_seen"]
TYPES: tuple[str, ...] = get_args(EntityType)

# Beyond so many memories of an entity, its facts are found by going through all facts.
_LOOKED_THROUGH = 5_000
# (terms, whether the greatest come first by themselves)
_ORDERS: dict[str, tuple[tuple[str, ...], bool]] = {
    "mentions": (("e.mention_count",), True),
    "name": (("fold(e.canonical_name)",), False),
    "last_seen": (("e.last",), True),
    "first_seen": (("e.first",), False),
}
_LISTED = (
    "e.merged_into IS NULL AND NOT e.hidden AND (e.mention_count > 0 OR e.protected <> 0 OR e.pinned <> 0)"
)
# The entities with when they were seen: one pass over the links, asking for each entity takes longer.
_WITH_TIMES = """(
    SELECT e.eid, e.pinned, seen.first, seen.last FROM (
        SELECT coalesce(l.merged_into, l.eid) AS eid, min(t.first) AS first, max(t.last) AS last
        FROM (SELECT eid, min(at) AS first, max(at) AS last FROM memory_entities GROUP BY eid) t
        JOIN entities l ON l.eid = t.eid WHERE t.last IS NOT NULL GROUP BY 1) seen
    CROSS JOIN entities e ON e.eid = seen.eid WHERE {where}
    UNION ALL SELECT e.eid, e.pinned, NULL, NULL FROM entities e WHERE e.mention_count = 0 AND {where}) e"""
GROUP = "(SELECT {eid} UNION ALL SELECT eid FROM entities WHERE merged_into = {eid})"
"""SQL for the rows of an entity: its own, and those merged into it."""


class EntityList:
    """The entities that something mentions, or that somebody decided on; pinned ones first.

    Safe to call from any thread; every method blocks. ``order``: mentions, name, last_seen, first_seen;
    ``falling`` False turns it round (not the pinned ones).
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def count(self, words: str = "") -> int:
        where, values = _filter_condition(words)
        with self._connections.read() as connection:
            return int(scalar(connection, f"SELECT count(*) FROM entities e WHERE {where}", values))

    def page(
        self,
        words: str = "",
        *,
        order: str = "mentions",
        falling: bool = True,
        offset: int = 0,
        limit: int = 128,
    ) -> list[Entity]:
        """``limit`` entities from ``offset`` on. Raises InputError for an unknown order or type."""
        statement, values = _ordered_query(words, order, falling)
        with self._connections.read() as connection:
            keys = [
                eid
                for (eid,) in connection.execute(f"{statement} LIMIT ? OFFSET ?", (*values, limit, offset))
            ]
            return entities.by_eid(connection, keys)

    def keys(self, words: str = "", *, order: str = "mentions", falling: bool = True) -> Iterator[array[int]]:
        """The ``eid`` of all of them in order, in chunks; stop iterating (and close) to cancel."""
        statement, values = _ordered_query(words, order, falling)
        with self._connections.read() as connection:
            yield from keys_in_chunks(connection.execute(statement, values))

    def rows(self, keys: Sequence[int]) -> list[Entity]:
        """The entities with these keys, in this order; those that are gone are left out."""
        with self._connections.read() as connection:
            return entities.by_eid(connection, keys)


def check_type(type: str) -> str:
    """A type in small letters. Raises InputError for one that is none."""
    folded = fold_text(type)
    if folded not in TYPES:
        raise InputError(f"{type!r} is not a type of entity.", f"Types: {', '.join(TYPES)}.")
    return folded


def _filter_condition(words: str) -> tuple[str, tuple[str, ...]]:
    terms, values = [_LISTED], []
    for word in words.split():
        if named := keys_named(word):
            terms[0] = "true"
            terms.append(f"e.id IN ({','.join('?' * len(named))})")
            values += named
            continue
        missing = word.startswith("-") and len(word) > 1
        wanted = fold_text(word[1:] if missing else word)
        if wanted.startswith("type:") and len(wanted) > 5:
            terms.append(f"e.type {'<>' if missing else '='} ?")
            values.append(check_type(wanted[5:]))
            continue
        terms.append(
            f"""e.eid {"NOT " if missing else ""}IN (
                SELECT coalesce(g.merged_into, g.eid) FROM entity_aliases a JOIN entities g ON g.eid = a.entity_id
                WHERE instr(a.key, ?) > 0)"""
        )
        # SQLite cannot store a surrogate or a NUL, so nothing contains one.
        values.append(wanted.encode("utf-8", "replace").decode().replace("\0", "\ufffd"))
    return " AND ".join(terms), tuple(values)


def _ordered_query(words: str, order: str, falling: bool) -> tuple[str, tuple[str, ...]]:
    if order not in _ORDERS:
        raise InputError(f"{order!r} is not a sort order.", f"Orders: {', '.join(_ORDERS)}.")
    where, values = _filter_condition(words)
    terms, greatest_first = _ORDERS[order]
    direction = "DESC" if falling == greatest_first else "ASC"
    by = ", ".join(f"{term} {direction}" for term in terms)
    if order.endswith("_seen"):
        source, values = f"{_WITH_TIMES.format(where=where)}", (*values, *values)
    else:
        source = f"entities e WHERE {where}"
    return f"SELECT e.eid FROM {source} ORDER BY e.pinned DESC, {by}, e.eid", values


def most_mentioned(connection: apsw.Connection, type: EntityType, limit: int) -> list[Entity]:
    """The entities of a type that most memories mention, pinned ones first."""
    rows = connection.execute(
        f"""
        SELECT e.eid FROM entities e WHERE {_LISTED} AND e.type = ?
        ORDER BY e.pinned DESC, e.mention_count DESC, e.eid LIMIT ?
        """,
        (type, limit),
    )
    return entities.by_eid(connection, [int(eid) for (eid,) in rows])


def linked_memories(
    connection: apsw.Connection, entity: Entity, now: float, *, limit: int = 100
) -> list[MemoryRecord]:
    """Active memories that mention an entity: facts first, then the rest, the latest first."""
    group = GROUP.format(eid=entity.eid)
    of_it = f"SELECT rid FROM memory_entities WHERE eid IN {group} AND at IS NOT NULL"
    # With very many links it is quicker to go through the facts, the latest first, until enough are found.
    facts, index = (
        (f"m.rid IN ({of_it})", "")
        if entity.mention_count <= _LOOKED_THROUGH
        else (
            f"EXISTS (SELECT 1 FROM memory_entities l WHERE l.rid = m.rid AND l.eid IN {group})",
            "INDEXED BY notes_by_time",
        )
    )
    rows = connection.execute(
        f"""
        SELECT {memories.COLUMNS} FROM memories m {index}
        WHERE m.kind = 'fact' AND m.kind <> 'episode' AND m.valid_until IS NULL AND {facts}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT ?
        """,
        (limit,),
    )
    records = [memories.memory_record(row, now) for row in rows]
    latest: dict[int, int] = {}
    for (eid,) in connection.execute(group[1:-1]).fetchall():
        latest |= _latest_mentions(connection, eid, limit + len(records))
    known = {memory.rid for memory in records}
    rids = sorted((rid for rid in latest if rid not in known), key=lambda rid: (-latest[rid], -rid))
    others = memories.by_rid(connection, rids, now)
    return [*records, *(memory for memory in others if memory.kind != "fact")][:limit]


def _latest_mentions(connection: apsw.Connection, eid: Any, limit: int) -> dict[int, int]:
    rows: Any = connection.execute(
        "SELECT rid, at FROM memory_entities WHERE eid = ? AND at IS NOT NULL ORDER BY at DESC, rid DESC LIMIT ?",
        (eid, limit),
    ).fetchall()
    return dict(rows)


def count_unlinked(connection: apsw.Connection, eid: int) -> int:
    """How many active memories somebody took off an entity."""
    return int(
        scalar(
            connection,
            f"""
            SELECT count(DISTINCT d.rid) FROM entity_decisions d JOIN memories m ON m.rid = d.rid
            WHERE d.decision = 'unlink' AND m.valid_until IS NULL AND d.entity_id IN {GROUP.format(eid="?1")}
            """,
            (eid,),
        )
    )


def count_unread_texts(connection: apsw.Connection) -> int:
    """Texts that have not been read for names yet."""
    return int(scalar(connection, "SELECT count(*) FROM index_queue WHERE text = 1"))


def mentions_by_month(connection: apsw.Connection, eid: int) -> list[tuple[int, int, int]]:
    """(year, month, active memories), in local time, the oldest first; months without any are left out."""
    rows: Any = connection.execute(
        f"""
        SELECT strftime('%Y-%m', at, 'unixepoch', 'localtime') AS month, count(DISTINCT rid)
        FROM memory_entities WHERE eid IN {GROUP.format(eid="?1")} AND at IS NOT NULL
        GROUP BY month ORDER BY month
        """,
        (eid,),
    )
    return [(int(month[:-3]), int(month[-2:]), number) for month, number in rows if month]
