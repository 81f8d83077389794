"""What facts took the place of others: the links of corrections, and the cards of Review that ask whether one did.

Nothing is written: an undo takes a replacement back as well.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import MemoryRecord, Replacement

from . import memories, proposals
from .sql import as_json, scalar

# A chain is followed through so many memories.
_MAX_CHAIN = 100
# The old one of a link was replaced: not restored or confirmed since, and not merely read otherwise (retired). A statement that
# came later and was rejected in favour of what was known is no former value of it.
_REPLACED = """
    o.content <> m.content
    AND (o.valid_until IS NULL OR o.rid < m.rid OR o.created_at < m.created_at)
    AND (o.attributes = '{}' OR json_type(o.attributes, '$.retired') IS NULL)
    AND (o.valid_until IS NOT NULL OR o.confirmed_at IS NULL AND json_type(m.attributes, '$.conflict_reason') IS NOT NULL)"""
# What a conversation said later holds from then on; what the person wrote in its place, from when they wrote it.
_AT = "iif(json_type(m.attributes, '$.conflict_reason') IS NULL, o.valid_until, m.event_time)"
_LATER_SIDES = f"""
    SELECT iif(n.event_time >= o.event_time, n.id, o.id) FROM proposals p
    CROSS JOIN memories n ON n.id = json_extract(p.payload, '$.new')
    CROSS JOIN memories o ON o.id = json_extract(p.payload, '$.old')
    WHERE p.kind = '{proposals.CONFLICT}' AND p.state IN ('open', 'snoozed') AND p.payload -> '$.weak' IS NULL
        AND n.valid_until IS NULL AND o.valid_until IS NULL"""
REPLACED_AT = f"""
    CASE WHEN m.kind = 'episode' THEN NULL
    ELSE coalesce(
        CASE WHEN m.attributes <> '{{}}' AND json_type(m.attributes, '$.supersedes') IN ('text', 'array') THEN (
            SELECT max({_AT}) FROM memory_links l CROSS JOIN memories o ON o.id = l.to_id
            WHERE l.from_id = m.id AND l.rel = 'supersedes' AND {_REPLACED}) END,
        CASE WHEN m.id IN ({_LATER_SIDES}) THEN m.event_time END,
        CASE WHEN m.attributes <> '{{}}' AND json_type(m.attributes, '$.was') = 'text' THEN m.event_time END) END"""
"""SQL: when the memory ``m`` took the place of another one, or may have; NULL if it did not."""

LEARNED_AT = """
    CASE WHEN m.kind <> 'episode' AND m.attributes <> '{}' AND json_type(m.attributes, '$.supersedes') IN ('text', 'array') THEN (
        WITH RECURSIVE earlier(id, at, reworded) AS (
            SELECT m.id, m.created_at, json_type(m.attributes, '$.conflict_reason') IS NULL
            UNION SELECT o.id, o.created_at, json_type(o.attributes, '$.conflict_reason') IS NULL FROM earlier
                CROSS JOIN memory_links l ON l.from_id = earlier.id AND l.rel = 'supersedes' AND earlier.reworded
                CROSS JOIN memories o ON o.id = l.to_id
        ) SELECT min(at) FROM earlier)
    ELSE m.created_at END"""
"""SQL: when the memory ``m`` was learned: a correction says anew what was learned with the text that it corrects."""

CANDIDATES = f"""
    SELECT rid FROM memories INDEXED BY memories_with_attributes
        WHERE attributes <> '{{}}' AND (
            json_type(attributes, '$.supersedes') IN ('text', 'array') OR json_type(attributes, '$.was') = 'text')
    UNION SELECT rid FROM memories WHERE id IN ({_LATER_SIDES})"""
"""SQL: the rids of all for which ``REPLACED_AT`` may be a time, found without reading the others."""

LATELY = f"""
    SELECT l.from_id FROM memories o INDEXED BY memories_ended
        CROSS JOIN memory_links l ON l.to_id = o.id AND l.rel = 'supersedes'
        WHERE o.valid_until >= :since
    UNION SELECT n.id FROM memories n INDEXED BY notes_by_time
        WHERE n.kind <> 'episode' AND n.valid_until IS NULL AND n.event_time >= :since AND n.attributes <> '{{}}'
            AND (json_type(n.attributes, '$.conflict_reason') IS NOT NULL OR json_type(n.attributes, '$.was') = 'text')
    UNION {_LATER_SIDES}"""
"""SQL: the ids among which is whatever took the place of another one since ``:since``, found by indexes."""
_LINKED = f"""
    SELECT o.id, m.id, {_AT}, json_type(m.attributes, '$.conflict_reason') IS NOT NULL
    FROM memory_links l CROSS JOIN memories m ON m.id = l.from_id CROSS JOIN memories o ON o.id = l.to_id
    WHERE l.rel = 'supersedes' AND m.kind <> 'episode' AND {_REPLACED}
        AND (l.from_id IN (SELECT value FROM json_each(:ids)) OR l.to_id IN (SELECT value FROM json_each(:ids)))
    ORDER BY o.rid, m.rid"""

_TOLD = """
    SELECT m.id, m.event_time, m.attributes ->> '$.was' FROM memories m
    WHERE m.id IN (SELECT value FROM json_each(:ids)) AND m.kind <> 'episode' AND m.attributes <> '{}'
        AND json_type(m.attributes, '$.was') = 'text'"""

# A correction of an agent names it. Else who ended the old one says who put the new one in its place (who undoes that this
# was rejected has ended it anew); where it was only weakened, who linked the two. What a person
# has confirmed or kept in Review is theirs. Files from before there were stamps tell an agent by its trust alone.
_AUTHORS = """
    SELECT l.from_id, l.to_id, n.created_at, CASE
        WHEN n.confirmed_at IS NOT NULL OR n.reviewed_at IS NOT NULL AND EXISTS (SELECT 1 FROM decided d
            WHERE d.thing = n.id AND d.aspect = 'reviewed' AND d.actor = 'person') THEN 'person'
        WHEN o.ended_by = 'superseded' AND n.trust = 'agent' AND json_type(n.attributes, '$.corrected_by') = 'text'
            THEN 'agent:' || (n.attributes ->> '$.corrected_by')
        WHEN o.ended_by = 'superseded' THEN coalesce(
            (SELECT d.actor FROM decided d WHERE d.thing = o.id AND d.aspect = 'state'),
            iif(n.trust = 'agent', 'agent:', 'person'))
        WHEN o.valid_until IS NULL AND json_type(n.attributes, '$.conflict_reason') IS NOT NULL THEN coalesce(
            (SELECT d.actor FROM decided d WHERE d.thing = n.id AND d.aspect = 'links'), 'scheduler')
        ELSE 'person' END
    FROM memory_links l CROSS JOIN memories n ON n.id = l.from_id CROSS JOIN memories o ON o.id = l.to_id
    WHERE l.rel = 'supersedes' AND l.from_id IN (SELECT value FROM json_each(:ids)) AND n.kind <> 'episode'
        AND (o.attributes = '{}' OR json_type(o.attributes, '$.retired') IS NULL)
        AND NOT EXISTS (SELECT 1 FROM memory_links other CROSS JOIN memories also ON also.id = other.from_id
            WHERE other.to_id = o.id AND other.rel IN ('supersedes', 'merged') AND also.id <> n.id AND also.valid_until IS NULL)
    ORDER BY o.rid"""


_STATEMENT_AFTER = """
    SELECT EXISTS (SELECT 1 FROM memory_links l CROSS JOIN memories n ON n.id = l.from_id
        WHERE l.to_id = ?1 AND l.rel = 'supersedes' AND n.valid_until IS NULL AND n.content <> ?2
            AND json_type(n.attributes, '$.conflict_reason') IS NOT NULL)"""
# From what was replaced: to look through all notes takes a large memory long.
_ANY_BY_AGENTS = """
    SELECT 1 FROM memories o INDEXED BY memories_ended
    CROSS JOIN memory_links l ON l.to_id = o.id AND l.rel = 'supersedes' CROSS JOIN memories m ON m.id = l.from_id
    WHERE o.valid_until IS NOT NULL AND m.kind <> 'episode' AND m.valid_until IS NULL AND m.trust = 'agent' LIMIT 1"""


def has_any_by_agents(connection: apsw.Connection) -> bool:
    """Whether an active text of an agent took the place of another. Quick where little was replaced."""
    return connection.execute(_ANY_BY_AGENTS).fetchone() is not None


def is_replaced(connection: apsw.Connection, memory: MemoryRecord) -> bool:
    """Whether another statement is in force in the place of an active fact, which was not confirmed since."""
    if not memory.active or memory.protected:
        return False
    return bool(scalar(connection, _STATEMENT_AFTER, (memory.id, memory.content)))


class Unasked(NamedTuple):
    """Memory ``new`` (an id) took the place of ``old`` at a time, and the person never said so. ``actor``: whose doing it was:
    ``agent:cursor``, or a job's or a reading's name."""

    new: str
    old: str
    at: int
    actor: str


def find_unasked(connection: apsw.Connection, ids: Collection[str]) -> list[Unasked]:
    """What some memories (by id) took the place of without the person, while nothing else has taken it too."""
    rows: list[Any] = connection.execute(_AUTHORS, {"ids": as_json(list(ids))}).fetchall() if ids else []
    return [Unasked(*row) for row in rows if row[3] != "person"]


def find_replacements(
    connection: apsw.Connection, ids: Collection[str], now: float, *, guessed: bool = False
) -> dict[str, tuple[Replacement, ...]]:
    """The replacements in which each of some memories (by id) is the old or the new one, the earliest first.

    Those without one are left out. Of a card that asks which of several facts a statement has changed the likeliest counts,
    and none where the card is weak: it is doubtful that this one changed. ``guessed``: all of them.
    """
    if not ids:
        return {}
    wanted_ids = set(ids)
    rows: list[Any] = connection.execute(_LINKED, {"ids": as_json(list(wanted_ids))}).fetchall()
    linked = {(old, new) for old, new, *_ in rows}
    cards = proposals.undecided_about_any(connection, proposals.CONFLICT, wanted_ids)
    told: list[Any] = connection.execute(_TOLD, {"ids": as_json(list(wanted_ids))}).fetchall()
    wanted = [
        *(id for id, *_ in told),
        *(id for pair in linked for id in pair),
        *(id for card in cards for id in proposals.conflict_ids(card)),
    ]
    known = {one.id: one for one in memories.by_ids(connection, list(dict.fromkeys(wanted)), now)}
    latest = {old: new for old, new, *_ in rows}
    replacements = [
        Replacement(old=known[old], new=known[new], at=at, how="replaced" if later else "corrected")
        for old, new, at, later in rows
        # What was rejected, and something else came in its place, is not what the old one says now.
        if latest[old] == new or known[new].ended_by != "forgotten"
    ]
    asked_pairs = set(linked)
    for card in cards:
        first, *olds = proposals.conflict_ids(card)
        sides = [known[id] for id in olds if id in known and known[id].active]
        if first not in known or not known[first].active or (card.payload.get("weak") and not guessed):
            continue
        for side in sides if guessed else sides[:1]:
            one = known[first]
            new, old = (one, side) if one.event_time >= side.event_time else (side, one)
            if (old.id, new.id) not in asked_pairs:
                asked_pairs.add((old.id, new.id))
                replacements.append(Replacement(old=old, new=new, at=new.event_time, how="asked"))
    paired = {one.new.id for one in replacements}
    replacements += [
        Replacement(old=None, new=known[id], at=at, how="told", was=was)
        for id, at, was in told
        if id not in paired
    ]
    replacements.sort(key=lambda one: one.at)
    return {id: those for id in wanted_ids if (those := tuple(one for one in replacements if id in one.ids))}


def chain(connection: apsw.Connection, start: MemoryRecord, now: float) -> tuple[Replacement, ...]:
    """The replacements that lead to a memory and on from it, the earliest first.

    Of what a card of Review only asks about, the other side belongs to it; what that replaced does not.
    """
    replacements: dict[tuple[str, ...], Replacement] = {}
    seen: set[str] = set()
    ahead = {start.id}
    while ahead and len(seen) < _MAX_CHAIN:
        seen |= ahead
        steps = [one for those in find_replacements(connection, ahead, now).values() for one in those]
        replacements.update({one.ids: one for one in steps})
        ahead = {id for one in steps if one.how != "asked" for id in one.ids} - seen
    return tuple(sorted(replacements.values(), key=lambda one: (one.at, one.sides[0].rid)))
