"""Names in texts: which entity a name means, and which memories name it.

Every name has a row of its own, found by its key (NFKC, casefolded); a link points at the row of the name
that is in the text. One entity of several names is rows merged into one of them. Links by programs are
derived. Decisions of the person (``entity_decisions``, merges, hidden entities) are kept and take precedence.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import Entity

from .history import paused_history
from .sql import scalar, storable_text

# Bits of ``protected``: what of an entity somebody decided, and nothing else changes.
NAME_DECIDED, TYPE_DECIDED, SUMMARY_DECIDED, TYPE_DECIDED_BY_AGENT = 1, 2, 4, 8


class Mention(NamedTuple):
    """An entity as a text names it: what to call it, its type, and the words as written there.

    ``vote``: whether the type was seen in this text; a name that was only known says nothing of it.
    """

    name: str
    type: str
    raw: str
    vote: bool = True


def entity_key(name: str) -> str:
    """What two spellings of one name have in common: NFKC, no case, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", storable_text(name)).casefold().split())


def link(connection: apsw.Connection, rid: int, mentions: Iterable[Mention], now: int) -> int:
    """Link a memory to the entities it mentions, making those that are new. Returns how many links it has gained.

    A name that could be one of several entities is linked to none: the person decides (Review).
    """
    gained = 0
    for mention in mentions:
        eid = resolve(connection, mention)
        if eid is None:
            eid = _insert_name(connection, mention, now)
        if eid < 0:
            continue
        vote = mention.type if mention.vote else None
        gained += add_link(connection, rid, eid, vote)
        if vote is not None:
            _settle_type(connection, eid, vote)
    return gained


def resolve(connection: apsw.Connection, mention: Mention) -> int | None:
    """The row of the name that a text has; None if unknown; -1 if it could be one of several entities."""
    for name in dict.fromkeys((mention.raw, mention.name)):
        rows: Any = connection.execute(
            """
            SELECT e.eid, s.eid, s.type, s.hidden
            FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
            JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
            WHERE a.key = ? ORDER BY s.hidden, e.eid
            """,
            (entity_key(name),),
        ).fetchall()
        if not rows:
            continue
        rows = [
            row for row in rows if row[3] == rows[0][3]
        ]  # what is no entity takes no name from one that is
        if len({survivor for _, survivor, *_ in rows}) > 1:
            rows = [row for row in rows if mention.vote and row[2] == mention.type]
            if len({survivor for _, survivor, *_ in rows}) != 1:
                return -1
        if name == mention.raw or entity_key(mention.raw) == entity_key(name):
            return int(rows[0][0])
        return None  # another way of writing it, which is learned
    return None


def _insert_name(connection: apsw.Connection, mention: Mention, now: int) -> int:
    """Make the rows of a new name: the name's, and that of what is in the text, merged into it."""
    rows: Any = connection.execute(
        "SELECT coalesce(e.merged_into, e.eid) FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id WHERE a.key = ?",
        (entity_key(mention.name),),
    ).fetchall()
    with paused_history(connection):
        if rows:
            return make_row(connection, mention.raw, mention.type, now, merged_into=int(rows[0][0]))
        eid = make_row(connection, mention.name, mention.type, now)
        if entity_key(mention.raw) == entity_key(mention.name):
            return eid
        return make_row(connection, mention.raw, mention.type, now, merged_into=eid)


def make_row(
    connection: apsw.Connection, name: str, type: str, now: int, *, merged_into: int | None = None
) -> int:
    """A row for a name; returns its eid."""
    connection.execute(
        "INSERT INTO entities(id, canonical_name, type, merged_into, created_at) VALUES (?, ?, ?, ?, ?)",
        (_free_id(connection, name), storable_text(name), type, merged_into, now),
    )
    eid = connection.last_insert_rowid()
    connection.execute(
        "INSERT INTO entity_aliases(key, entity_id, alias) VALUES (?, ?, ?)",
        (entity_key(name), eid, storable_text(name)),
    )
    return eid


def _free_id(connection: apsw.Connection, name: str) -> str:
    """An id that follows from the name, so that two devices which meet it call it the same."""
    from hashlib import blake2b

    for number in itertools.count():
        text = entity_key(name) + ("" if number == 0 else f"\0{number}")
        id = f"ent_{blake2b(text.encode(), digest_size=6).hexdigest()}"
        if scalar(connection, "SELECT 1 FROM entities WHERE id = ?", (id,)) is None:
            break
    return id


def add_link(connection: apsw.Connection, rid: int, eid: int, vote: str | None = None) -> int:
    """Link unless somebody said that the memory is not about this. Returns 1 when the link is new."""
    connection.execute(
        """
        INSERT INTO memory_entities(rid, eid, at, vote)
        SELECT m.rid, ?2, CASE WHEN m.valid_until IS NULL THEN m.event_time END, ?3
        FROM memories m WHERE m.rid = ?1 AND NOT EXISTS (
            SELECT 1 FROM entity_decisions d
            JOIN entities apart ON apart.eid = d.entity_id JOIN entities this ON this.eid = ?2
            WHERE d.rid = ?1 AND d.decision = 'unlink'
              AND coalesce(apart.merged_into, apart.eid) = coalesce(this.merged_into, this.eid))
        ON CONFLICT DO NOTHING
        """,
        (rid, eid, vote),
    )
    gained = connection.changes()
    if not gained and vote is not None:
        connection.execute(
            "UPDATE memory_entities SET vote = ?3 WHERE rid = ?1 AND eid = ?2 AND vote IS NOT ?3",
            (rid, eid, vote),
        )
    return gained


def add_first_link(connection: apsw.Connection, rid: int, eid: int, at: int | None, vote: str | None) -> None:
    """Link a memory that this transaction made, so that no decision about it can exist.

    ``at``: its event time, None for one in the Trash.
    """
    connection.execute(
        "INSERT INTO memory_entities(rid, eid, at, vote) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (rid, eid, at, vote),
    )


# Of a vote ``v`` for a name ``n``: "#heron" and "@ada" say it in so many words, other names are guessed at.
VOTES = "v.votes * CASE WHEN substr(n.canonical_name, 1, 1) IN ('#', '@') THEN 5 ELSE 1 END"


def _settle_type(connection: apsw.Connection, eid: int, vote: str) -> None:
    """The type is what most links say, unless somebody decided; among equals the one it has."""
    row = connection.execute(
        "SELECT s.eid, s.type, s.protected FROM entities e JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid) "
        "WHERE e.eid = ?",
        (eid,),
    ).fetchone()
    assert row is not None
    survivor, type, protected = row
    assert isinstance(protected, int)
    if type == vote or protected & (TYPE_DECIDED | TYPE_DECIDED_BY_AGENT):
        return
    counted: Any = connection.execute(
        f"""
            SELECT v.type, sum({VOTES}) FROM entity_votes v JOIN entities n ON n.eid = v.eid
            WHERE n.eid = ?1 OR n.merged_into = ?1 GROUP BY v.type
            """,
        (survivor,),
    ).fetchall()
    votes: dict[str, int] = dict(counted)
    # "other": the type is unknown.
    rank = {one: (one != "other", count, one == type) for one, count in votes.items()}
    best = max(rank, key=lambda one: rank[one], default=type)
    if best != type and rank[best][:2] > rank.get(type, (type != "other", 0, True))[:2]:
        with paused_history(connection):
            connection.execute("UPDATE entities SET type = ? WHERE eid = ?", (best, survivor))


def names_learned_after(connection: apsw.Connection, alias_id: int) -> list[tuple[int, str, str]]:
    """(alias id, alias, type) of names learned after ``alias_id``; what is found by its shape is left out."""
    rows = connection.execute(
        """
        SELECT a.alias_id, a.alias, s.type
        FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
        WHERE a.alias_id > ? AND NOT s.hidden AND s.type NOT IN ('date', 'url', 'email') ORDER BY a.alias_id
        """,
        (alias_id,),
    )
    return [(int(number), str(alias), str(type)) for number, alias, type in rows]


def names_version(connection: apsw.Connection) -> int:
    """A number that changes when a name that was known no longer counts."""
    return int(scalar(connection, "SELECT value FROM memory_metadata WHERE key = 'names_version'") or 0)


# Reading

_SEEN = """(SELECT {which}(x.t) FROM (
        SELECT (SELECT {which}(at) FROM memory_entities WHERE eid = e.eid) AS t
        UNION ALL SELECT (SELECT {which}(at) FROM memory_entities WHERE eid = g.eid) FROM entities g WHERE g.merged_into = e.eid
    ) x)"""
FIRST_SEEN, LAST_SEEN = _SEEN.format(which="min"), _SEEN.format(which="max")
COLUMNS = (
    "e.eid, e.id, e.canonical_name, e.type, e.mention_count, e.summary, e.merged_into, e.pinned, e.protected, "
    f"{FIRST_SEEN}, {LAST_SEEN}"
)


def entities_of(connection: apsw.Connection, rows: Iterable[Sequence[Any]]) -> list[Entity]:
    """The records of rows selected with ``COLUMNS``."""
    entities = []
    for eid, id, name, type, mentions, summary, merged_into, pinned, protected, first, last in list(rows):
        aliases: Any = connection.execute(
            """
            SELECT alias FROM (
                SELECT alias_id, alias FROM entity_aliases WHERE entity_id = ?1
                UNION ALL SELECT a.alias_id, a.alias FROM entities g JOIN entity_aliases a ON a.entity_id = g.eid
                WHERE g.merged_into = ?1) ORDER BY alias_id
            """,
            (eid,),
        ).fetchall()
        entities.append(
            Entity(
                eid=eid, id=id, canonical_name=name, type=type, mention_count=mentions,
                aliases=tuple(dict.fromkeys(alias for (alias,) in aliases if alias != name)),
                summary=summary, merged_into=merged_into, pinned=bool(pinned), first_seen=first, last_seen=last,
                decided=bool(protected & (NAME_DECIDED | TYPE_DECIDED)),
            )
        )  # fmt: skip
    return entities


def by_eid(connection: apsw.Connection, eids: Sequence[int]) -> list[Entity]:
    """Entities in the order of ``eids``; those that are gone are left out."""
    entities: dict[int, Entity] = {}
    for start in range(0, len(eids), 500):
        some = eids[start : start + 500]
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM entities e WHERE e.eid IN ({','.join('?' * len(some))})", tuple(some)
        )
        entities |= {entity.eid: entity for entity in entities_of(connection, rows)}
    return [entities[eid] for eid in eids if eid in entities]


def of_memory(connection: apsw.Connection, rid: int) -> list[Entity]:
    """The entities a memory is linked to, the most mentioned first."""
    rows = connection.execute(
        f"""
        SELECT {COLUMNS} FROM entities e WHERE NOT e.hidden AND e.eid IN (
            SELECT coalesce(l.merged_into, l.eid) FROM memory_entities me JOIN entities l ON l.eid = me.eid
            WHERE me.rid = ?)
        ORDER BY e.mention_count DESC, e.eid
        """,
        (rid,),
    )
    return entities_of(connection, rows)


def names_of(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The entity names of several memories at once, for lists."""
    names_by_rid: dict[int, list[str]] = {}
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
            names_by_rid.setdefault(rid, []).append(name)
    return {rid: tuple(names) for rid, names in names_by_rid.items()}


def count(connection: apsw.Connection) -> int:
    return int(
        scalar(
            connection,
            "SELECT count(*) FROM entities WHERE merged_into IS NULL AND NOT hidden AND mention_count > 0",
        )
    )
