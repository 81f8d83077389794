"""Entities that may be the same, found by their names; the person decides.

Looked at are the most mentioned ones, so that the work is bounded. Nothing is merged by itself: "Ann" is no
"Anna", and an initial fits many people.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from memtui.engine.entities import operations
from memtui.engine.errors import InputError
from memtui.engine.records import Entity, MemoryRecord, Record
from memtui.engine.store import entities, entity_lists, entity_names, proposals

KIND = "entities"
_LOOKED_AT = 2_000
_CARDS = 20
_EXAMPLES = 2
_MOST_ALIKE = 4
_NO_NAMES = ("date", "url")


class MergeCandidate(Record):
    """Two entities that may be one, the fuller name first; ``reason`` says why. ``examples`` mention them."""

    id: str
    reason: str
    pair: tuple[Entity, Entity]
    examples: tuple[MemoryRecord, ...] = ()


class _ComparableName(NamedTuple):
    """A name of an entity, to be compared: its words without accents and dots, and all of it in one piece."""

    eid: int
    type: str
    shown: str
    words: tuple[str, ...]
    piece: str


def pending_candidates(connection: apsw.Connection, now: float, limit: int = _CARDS) -> list[MergeCandidate]:
    """What is to be asked now, the most mentioned first."""
    return [_with_examples(connection, one, now) for one in _all_candidates(connection, now)[:limit]]


def candidates_for_entity(connection: apsw.Connection, entity: Entity, now: float) -> list[Entity]:
    """Those of whom it is to be asked whether they are this one, the most mentioned first."""
    pairs = [one.pair for one in _all_candidates(connection, now)]
    return [two if one.eid == entity.eid else one for one, two in pairs if entity.eid in (one.eid, two.eid)]


def _all_candidates(connection: apsw.Connection, now: float) -> list[MergeCandidate]:
    reasons: dict[tuple[int, int], str] = {}
    for one, other, reason in (*_shared_names(connection), *_similar_pairs(_comparable_names(connection))):
        reasons.setdefault((min(one, other), max(one, other)), reason)
    pairs_kept_apart = _pairs_kept_apart(connection)
    candidates: list[MergeCandidate] = []
    for pair, reason in reasons.items():
        if pair in pairs_kept_apart:
            continue
        two = entities.by_eid(connection, pair)
        if len(two) == 2:
            fuller, shorter = sorted(two, key=_name_quality, reverse=True)
            id = proposals.identity(KIND, fuller.id, shorter.id)
            candidates.append(MergeCandidate(id=id, reason=reason, pair=(fuller, shorter)))
    settled = proposals.settled_ids(connection, [one.id for one in candidates], now)
    waiting = [one for one in candidates if one.id not in settled]
    return sorted(waiting, key=lambda item: -sum(entity.mention_count for entity in item.pair))


def merge(connection: apsw.Connection, pair: tuple[Entity, Entity], *, keep: str | None, actor: str) -> None:
    """They are one. ``keep`` is the id of the one that stands; the fuller name if None."""
    one, other = (entity_names.find_entity(connection, entity.id) for entity in pair)
    if keep is not None and keep not in (pair[0].id, pair[1].id):
        raise InputError(f"{keep} is not on this card.", f"Choose {pair[0].id} or {pair[1].id}.")
    if keep == pair[1].id:
        one, other = other, one
    operations.merge(connection, one, other, actor=actor)


def keep_apart(connection: apsw.Connection, pair: tuple[Entity, Entity], *, actor: str, now: int) -> None:
    """They are two."""
    one, other = (entity_names.find_entity(connection, entity.id) for entity in pair)
    operations.keep_apart(connection, one, other, actor=actor, now=now)


def _name_quality(entity: Entity) -> tuple[bool, bool, int, int, int]:
    """Whether its name is the one to keep: what somebody decided, then names before addresses, then more of it."""
    words = entity.canonical_name.replace(".", " ").split()
    return (
        entity.decided, entity.type != "email", sum(len(word) > 1 for word in words), entity.mention_count, -entity.eid,
    )  # fmt: skip


def _with_examples(connection: apsw.Connection, item: MergeCandidate, now: float) -> MergeCandidate:
    examples = {
        memory.id: memory
        for entity in item.pair
        for memory in entity_lists.linked_memories(connection, entity, now, limit=_EXAMPLES)
    }
    return MergeCandidate(id=item.id, reason=item.reason, pair=item.pair, examples=tuple(examples.values()))


def _shared_names(connection: apsw.Connection) -> Iterator[tuple[int, int, str]]:
    """Entities that have the very same name: a text that has it is linked to neither of them."""
    rows: Any = connection.execute(
        f"""
        SELECT a.key, s.eid, s.type, a.alias FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
        WHERE a.key IN (SELECT key FROM entity_aliases GROUP BY key HAVING count(*) > 1) AND NOT s.hidden
        GROUP BY a.key, s.eid ORDER BY a.key, s.mention_count DESC LIMIT {_LOOKED_AT}
        """
    ).fetchall()
    by_key: dict[str, list[tuple[int, str, str]]] = {}
    for key, eid, type, alias in rows:
        by_key.setdefault(key, []).append((eid, type, alias))
    for (first, type, alias), *others in by_key.values():
        for other, other_type, _ in others:
            what = f"a {type} and a {other_type}" if type != other_type else "two of them"
            yield (
                first,
                other,
                f"“{alias}” is the name of {what}, and texts that have it are linked to neither",
            )


def _comparable_names(connection: apsw.Connection) -> list[_ComparableName]:
    rows: Any = connection.execute(
        f"""
        SELECT s.eid, s.type, a.alias FROM (
            SELECT eid, type FROM entities
            WHERE merged_into IS NULL AND NOT hidden AND mention_count > 0 AND type NOT IN {_NO_NAMES}
            ORDER BY mention_count DESC LIMIT {_LOOKED_AT}) s
        JOIN entities e ON e.eid = s.eid OR e.merged_into = s.eid
        JOIN entity_aliases a ON a.entity_id = e.eid
        """
    ).fetchall()
    names = []
    for eid, type, alias in rows:
        name = alias.partition("@")[0] if type == "email" else alias
        plain = "".join(
            sign for sign in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(sign)
        )
        words = tuple("".join(sign if sign.isalnum() else " " for sign in plain).split())
        if words:
            names.append(_ComparableName(eid, type, alias, words, "".join(words)))
    return names


def _similar_pairs(names: list[_ComparableName]) -> Iterator[tuple[int, int, str]]:
    """Pairs of entities (eid, eid) that may be one, and why; a pair may come more than once."""
    yield from _written_alike(names)
    yield from _initial_pairs(names)
    yield from _name_part_pairs(names)


def _written_alike(names: list[_ComparableName]) -> Iterator[tuple[int, int, str]]:
    for same in _names_by_key(names, lambda name: [name.piece] if len(name.piece) > 2 else []).values():
        first = same[0]
        for other in same[1:]:
            if other.eid != first.eid:
                reason = f"“{first.shown}” and “{other.shown}” are written almost the same"
                yield first.eid, other.eid, reason


def _initial_pairs(names: list[_ComparableName]) -> Iterator[tuple[int, int, str]]:
    """“A. Lovelace” and “Ada Lovelace”."""
    several = [name for name in names if len(name.words) > 1 and name.type in ("person", "other")]
    for alike in _names_by_key(several, lambda name: [name.words[-1]]).values():
        full_names = [name for name in alike if len(name.words[0]) > 1]
        for short in alike:
            for full in full_names if len(short.words[0]) == 1 else ():
                if full.eid != short.eid and full.words[0][0] == short.words[0]:
                    yield short.eid, full.eid, f"“{short.shown}” may be short for “{full.shown}”"


def _name_part_pairs(names: list[_ComparableName]) -> Iterator[tuple[int, int, str]]:
    """“Ada”, or “Lovelace”, and “Ada Lovelace”."""
    people = [
        name for name in names if name.type == "person" and len(name.words) > 1 and len(name.words[0]) > 1
    ]
    ends = _names_by_key(people, lambda name: {name.words[0], name.words[-1]})
    for name in names:
        if len(name.words) == 1 and len(name.piece) > 1 and name.type in ("person", "other"):
            full_names = {full.eid: full for full in ends.get(name.words[0], ()) if full.eid != name.eid}
            if len(full_names) <= _MOST_ALIKE:  # a name that so many have says nothing
                more = f", and {len(full_names) - 1} more have that name" if len(full_names) > 1 else ""
                for full in full_names.values():
                    yield name.eid, full.eid, f"“{name.shown}” may be “{full.shown}”{more}"


def _names_by_key(
    names: list[_ComparableName], keys: Callable[[_ComparableName], Iterable[str]]
) -> dict[str, list[_ComparableName]]:
    by_key: dict[str, list[_ComparableName]] = {}
    for name in names:
        for key in keys(name):
            by_key.setdefault(key, []).append(name)
    return by_key


def _pairs_kept_apart(connection: apsw.Connection) -> set[tuple[int, int]]:
    rows: Any = connection.execute(
        """
        SELECT coalesce(e.merged_into, e.eid), coalesce(o.merged_into, o.eid) FROM entity_decisions d
        JOIN entities e ON e.eid = d.entity_id JOIN entities o ON o.eid = d.other_id WHERE d.decision = 'distinct'
        """
    ).fetchall()
    return {(min(one, other), max(one, other)) for one, other in rows}
