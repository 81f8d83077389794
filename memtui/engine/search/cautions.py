"""What memories say that no longer holds: turns and notes from which a fact was drawn that was corrected or forgotten.

It is derived from the links between memories and the states of facts, and nothing is written. So a correction brings a
caution, and its undo takes it back. A text without a link to the fact has a weaker caution, if it says the same in the
same words (``said_again``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.records import Caution, Entity, MemoryRecord
from memtui.engine.store import memories, proposals
from memtui.engine.store.sql import as_json

from . import said_again
from .filters.compiler import compile_filter
from .fusion import FusedCandidate
from .scope import Scope, make_scope, rids_in_scope

MOST_COMPARED = 2_000
"""So many facts that were corrected or forgotten, the latest, are looked for in texts that no link connects with them."""

# Of each memory asked about: what was drawn from it, what it was drawn from, and itself, where that was replaced or
# forgotten; ``settled``: what those became of which the person said that it stands all the same. A reading that drew it
# otherwise (retired) was decided by no one.
_ENDED = """
    WITH asked(rid, id, kind, attributes) AS (
        SELECT m.rid, m.id, m.kind, m.attributes FROM memories m
        WHERE m.{column} IN (SELECT value FROM json_each(:asked))),
    near(rid, id, old, settled) AS (
        SELECT a.rid, a.id, l.from_id, NULL FROM asked a JOIN memory_links l ON l.to_id = a.id AND l.rel = 'source'
            WHERE a.kind <> 'fact'
        UNION ALL SELECT a.rid, a.id, l.to_id, json_extract(a.attributes, '$.settled')
            FROM asked a JOIN memory_links l ON l.from_id = a.id AND l.rel = 'source'
            WHERE a.kind IN ('reflection', 'observation')
        UNION ALL SELECT a.rid, a.id, a.id, NULL FROM asked a WHERE a.kind <> 'episode')
    SELECT near.{column}, f.id, f.rid, near.settled FROM near JOIN memories f ON f.id = near.old
    WHERE f.kind <> 'episode' AND (f.kind <> 'reflection' OR f.id = near.id)
        AND (f.ended_by IN ('superseded', 'forgotten')
            OR EXISTS (SELECT 1 FROM memory_links l WHERE l.to_id = f.id AND l.rel IN ('supersedes', 'merged')))
        AND (f.attributes = '{{}}' OR json_type(f.attributes, '$.retired') IS NULL)
    ORDER BY near.rid, f.rid
"""
# From each of them to all that took its place, step by step.
_LATER = """
    WITH RECURSIVE chain(start, id, rel, steps) AS (
        SELECT value, value, '', 0 FROM json_each(:ids)
        UNION SELECT chain.start, l.from_id, l.rel, steps + 1 FROM chain JOIN memory_links l ON l.to_id = chain.id
        WHERE l.rel IN ('supersedes', 'merged') AND steps < 50)
    SELECT chain.start, m.rid, chain.rel FROM chain JOIN memories m ON m.id = chain.id ORDER BY steps, m.rid
"""


# What was corrected or forgotten and may be said again, the latest first.
_DECIDED = f"""
    SELECT f.id, f.content FROM memories f INDEXED BY facts_decided
    WHERE f.kind = 'fact' AND f.ended_by IN ('superseded', 'forgotten')
        AND (f.attributes = '{{}}' OR json_type(f.attributes, '$.retired') IS NULL)
        AND NOT EXISTS (SELECT 1 FROM memories o INDEXED BY notes_by_hash WHERE o.content_hash = f.content_hash
            AND o.kind <> 'episode' AND o.kind = 'fact' AND o.valid_until IS NULL)
    ORDER BY f.rid DESC LIMIT {MOST_COMPARED}
"""


class _CorrectionChain(NamedTuple):
    """What became of a fact: itself, then what took its place. ``by``: how each came to its place.

    ``cut``: whoever asks does not know what came then.
    """

    links: list[MemoryRecord]
    by: list[str]
    cut: bool = False

    @property
    def current_id(self) -> str:
        """The id of what it is now."""
        return self.links[-1].id


def find_cautions(
    connection: apsw.Connection, ids: Collection[str], now: float, *, known: Scope | None = None
) -> dict[str, tuple[Caution, ...]]:
    """The cautions of memories, by their id, the latest first; those without one are left out.

    ``known``: all that there is for whoever asks; None for everything.
    """
    return _all_cautions(connection, "id", ids, now, known) if ids else {}


def decided_cautions(
    connection: apsw.Connection, ids: Collection[str], now: float
) -> dict[str, tuple[Caution, ...]]:
    """Like ``find_cautions``, of what is linked and decided: without what is said again, and without what waits in Review."""
    return _find_by_column(connection, "id", ids, now, None) if ids else {}


def summary_cautions(
    connection: apsw.Connection, shown: Sequence[Entity], now: float
) -> dict[str, tuple[Caution, ...]]:
    """What the summaries of some entities (by id) tell that no longer holds, as far as an undecided card asks about them."""
    with_summary = {one.id: one.summary for one in shown if one.summary}
    cautions_of_summaries: dict[str, tuple[Caution, ...]] = {}
    for proposal in proposals.undecided_proposals(connection, proposals.DEPENDENTS) if with_summary else ():
        about = [id for id, text in proposal.payload["summaries"].items() if with_summary.get(id) == text]
        if about:
            ended = [str(id) for id in proposal.payload["of"]]
            known = [one for some in decided_cautions(connection, ended, now).values() for one in some]
            cautions_of_summaries |= {
                id: (*cautions_of_summaries.get(id, ()), *known) for id in about if known
            }
    return cautions_of_summaries


def ended_sources(connection: apsw.Connection, id: str, now: float) -> tuple[str, ...]:
    """What a note was drawn from and no longer holds, by the ids of what that is now: what ``SETTLED`` may hold."""
    rows: list[Any] = connection.execute(_ENDED.format(column="id"), {"asked": as_json([id])}).fetchall()
    olds = dict.fromkeys(old for _, old, _, _ in rows if old != id)
    return tuple(dict.fromkeys(chain.current_id for chain in _load_chains(connection, olds, now).values()))


def read_ids(settled: object) -> tuple[str, ...]:
    """The ids of an attribute, as it is stored, whatever another program wrote there."""
    try:
        found = msgspec.json.decode(settled) if isinstance(settled, str) else settled
    except msgspec.DecodeError:
        return ()
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def visible_scope(filter: str, now: float, *, fade_threshold: float) -> Scope | None:
    """What there is for whoever is confined to a filter, the Trash too; None where there is no filter."""
    return (
        make_scope(compile_filter(f"is:active,trash {filter}", now, fade_threshold=fade_threshold))
        if filter
        else None
    )


def _find_by_column(
    connection: apsw.Connection, column: str, values: Collection[Any], now: float, scope: Scope | None
) -> dict[Any, tuple[Caution, ...]]:
    """By what ``column`` holds."""
    rows: list[Any] = connection.execute(_ENDED.format(column=column), {"asked": as_json(values)}).fetchall()
    if not rows:
        return {}
    chains = _load_chains(connection, dict.fromkeys(old for _, old, _, _ in rows), now)
    rows = [row for row in rows if row[3] is None or chains[row[1]].current_id not in read_ids(row[3])]
    known = None
    if scope is not None:
        known = rids_in_scope(
            connection, scope, {one.rid for chain in chains.values() for one in chain.links}
        )
    if known is not None:
        chains = {
            start: chain if chain.links[-1].withheld else _limit_chain(chain, known)
            for start, chain in chains.items()
        }
    olds: dict[Any, dict[str, None]] = {}
    for asked_of, old, rid, _ in rows:
        # What is withheld is so from everybody, whatever they may know of the fact.
        if known is None or rid in known or chains[old].links[-1].withheld:
            olds.setdefault(asked_of, {})[old] = None
    found = {key: _cautions_of_chains([chains[old] for old in starts], known) for key, starts in olds.items()}
    return {key: given for key, given in found.items() if given}


def _all_cautions(
    connection: apsw.Connection, column: str, values: Collection[Any], now: float, scope: Scope | None
) -> dict[Any, tuple[Caution, ...]]:
    """What is linked, what is said again where no link tells the same, and what waits for the person's decision."""
    found = _find_by_column(connection, column, values, now, scope)
    for key, repeats in _cautions_of_repeats(connection, column, values, now, scope).items():
        linked = found.get(key, ())
        ends = {(one.successor or one.old).id for one in linked} | {one.old.id for one in linked}
        found[key] = (
            *linked,
            *(one for one in repeats if {(one.successor or one.old).id, one.old.id}.isdisjoint(ends)),
        )
    found = {key: given for key, given in found.items() if given}
    for card in _disputed_cards(connection, column, values):
        sides = [
            one
            for one in proposals.side_memories(connection, proposals.memory_ids(connection, card), now)
            if one.active
        ]
        known = None if scope is None else rids_in_scope(connection, scope, {one.rid for one in sides})
        for one in sides:
            key = getattr(one, column)
            others = [
                other for other in sides if other.id != one.id and (known is None or other.rid in known)
            ]
            if key in values and others:
                disputed = Caution(how="disputed", at=card.created_at, old=one, successor=others[0])
                found[key] = (*found.get(key, ()), disputed)
    return found


def _disputed_cards(
    connection: apsw.Connection, column: str, values: Collection[Any]
) -> list[proposals.Proposal]:
    """The undecided cards of two devices, and of what was said again after it was corrected, that may show one of the
    memories, as it is now or as it was."""
    cards = proposals.disputed_proposals(connection)
    if not cards:
        return []
    shown = {card.id: proposals.memory_ids(connection, card) for card in cards}
    concerned: set[str] = {
        id
        for (id,) in connection.execute(
            f"SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND ({column} IN "
            "(SELECT value FROM json_each(?)) OR ended_by IN ('superseded', 'merged'))",
            (as_json([id for ids in shown.values() for id in ids]), as_json(values)),
        )
    }
    return [card for card in cards if not concerned.isdisjoint(shown[card.id])]


def _cautions_of_repeats(
    connection: apsw.Connection, column: str, values: Collection[Any], now: float, scope: Scope | None
) -> dict[Any, list[Caution]]:
    """The cautions of texts that say what was corrected or forgotten, though it was not drawn from them.

    What the person said after the decision is not compared: that they say it again is a question for Review.
    """
    olds: list[Any] = connection.execute(_DECIDED).fetchall()
    if not olds:
        return {}
    texts: list[Any] = connection.execute(
        f"SELECT {column}, content, source_role, event_time FROM memories WHERE {column} IN "
        "(SELECT value FROM json_each(?)) AND kind <> 'fact'",
        (as_json(values),),
    ).fetchall()
    says: dict[str, list[tuple[Any, str, str | None, int]]] = {}
    beginnings = {key: said_again.word_beginnings(text) for key, text, _, _ in texts}
    anywhere = set().union(*beginnings.values())
    same = [(id, old) for id, old in olds if said_again.required_beginnings(old) <= anywhere]
    valued: dict[str, dict[str, str]] = {}
    for id, old in olds:
        for word in said_again.fact_values(old):
            valued.setdefault(word, {})[id] = old
    for key, text, role, said_at in texts:
        by = role or "user"
        found_here = {
            id
            for id, old in same
            if said_again.required_beginnings(old) <= beginnings[key]
            and said_again.says_again(text, old, by=by)
        }
        found_here |= said_again.give_a_value(text, valued, by=by)
        for id in found_here:
            says.setdefault(id, []).append((key, text, role, said_at))
    chains = _load_chains(connection, says, now) if says else {}
    if scope is not None:
        known = rids_in_scope(
            connection, scope, {one.rid for chain in chains.values() for one in chain.links}
        )
        chains = {
            id: _limit_chain(chain, known) for id, chain in chains.items() if chain.links[0].rid in known
        }
    found: dict[Any, list[Caution]] = {}
    ends: dict[Any, set[str]] = {}
    for id, chain in chains.items():
        caution = _caution_of_chain(chain, None)
        if caution is None:
            continue
        caution = replace(caution, compared=True, withheld=False)
        new = caution.successor.content if caution.successor else ""
        for key, text, role, said_at in says[id]:
            later = role == "user" and said_at > caution.at
            old, by = caution.old.content, role or "user"
            if later or said_again.names_successor(text, old, new):
                continue
            if not said_again.says_again(text, old, by=by) and not said_again.gives_value(
                text, old, new, by=by
            ):
                continue
            known_ends = ends.setdefault(key, set())
            if chain.current_id not in known_ends:  # two that came to the same end tell the same
                known_ends.add(chain.current_id)
                found.setdefault(key, []).append(caution)
    return found


def _limit_chain(chain: _CorrectionChain, known: Collection[int]) -> _CorrectionChain:
    """The chain as far as it is known; what took a place outside has taken none."""
    first_unknown = next(
        (first_unknown for first_unknown, one in enumerate(chain.links) if one.rid not in known), None
    )
    return (
        chain
        if not first_unknown
        else _CorrectionChain(chain.links[:first_unknown], chain.by[:first_unknown], cut=True)
    )


def _load_chains(connection: apsw.Connection, ids: Iterable[str], now: float) -> dict[str, _CorrectionChain]:
    rows: list[Any] = connection.execute(_LATER, {"ids": as_json(list(ids))}).fetchall()
    records = {one.rid: one for one in memories.by_rid(connection, list({rid for _, rid, _ in rows}), now)}
    found: dict[str, _CorrectionChain] = {}
    for start, rid, rel in rows:
        chain = found.setdefault(start, _CorrectionChain([], []))
        chain.links.append(records[rid])
        chain.by.append(rel)
    return found


def _cautions_of_chains(
    chains: Sequence[_CorrectionChain], known: Collection[int] | None
) -> tuple[Caution, ...]:
    """One for each end that the chains come to. A correction inherits the sources of what it corrects: it is not asked."""
    inherited = {one.id for chain in chains for one in chain.links[1:]}
    found: dict[tuple[str, str], Caution] = {}
    for chain in chains:
        if chain.links[0].id in inherited:
            continue
        caution = _caution_of_chain(chain, known)
        if caution is not None:
            end = caution.successor.id if caution.successor else chain.links[-1].id
            found.setdefault((caution.how, end), caution)
    return tuple(sorted(found.values(), key=lambda one: -one.at))


def _standing_part(chain: _CorrectionChain) -> _CorrectionChain:
    """The chain up to the last one that stands although what took its place is gone: it was restored, or that was rejected."""
    links = chain.links
    for index in range(len(links) - 2, -1, -1) if not links[-1].active else ():
        later = links[index + 1]
        by_statement = chain.by[index + 1] == "supersedes" and "conflict_reason" in later.attributes
        if links[index].active and (links[index].protected or not by_statement):
            return _CorrectionChain(links[: index + 1], chain.by[: index + 1], chain.cut)
    return chain


def _caution_of_chain(chain: _CorrectionChain, known: Collection[int] | None) -> Caution | None:
    chain = _standing_part(chain)
    old, last = chain.links[0], chain.links[-1]
    if last.ended_by == "forgotten" and "retired" not in last.attributes:
        at = last.valid_until or 0
        return Caution(how="forgotten", at=at, old=old, withheld=last.withheld)
    step = next((index for index, rel in enumerate(chain.by) if rel == "supersedes"), None)
    if chain.cut and step is None and old.active:
        return None  # nothing within took its place
    if step is None:  # settled in favour of what was known before, or only merged
        decided = old.ended_by == "superseded"
        return Caution(how="corrected", at=old.valid_until or 0, old=old) if decided else None
    first = chain.links[step]
    if old.active and ("conflict_reason" not in first.attributes or old.protected):
        return None  # restored or confirmed since
    if last.content == old.content:
        return None
    shows_successor = last.active and (known is None or last.rid in known)
    # What took a place by being said later tells why; what a person wrote in its place does not.
    by_person = next(
        (
            index
            for index, rel in enumerate(chain.by)
            if rel == "supersedes" and "conflict_reason" not in chain.links[index].attributes
        ),
        None,
    )
    if by_person is None:
        at = first.event_time
    else:
        new = chain.links[by_person]
        at = chain.links[by_person - 1].valid_until or new.reviewed_at or new.created_at
    accepted = last.protected or last.reviewed_at is not None
    return Caution(
        how="corrected",
        at=at,
        old=old,
        successor=last if shows_successor else None,
        replaced=by_person is None,
        by=last.corrected_by or "" if shows_successor and not accepted else "",
    )


class Reordered(NamedTuple):
    """A ranking in which each memory comes after what replaced it, and the cautions of what was looked at, by rid."""

    fused: list[FusedCandidate]
    cautions: dict[int, tuple[Caution, ...]]


def behind_successors(
    connection: apsw.Connection, fused: list[FusedCandidate], now: float, *, known: Scope | None = None, most: int | None = None
) -> Reordered:  # fmt: skip
    """Put what was corrected behind what replaced it: the replacement is moved up.

    ``most``: only the first so many are of interest.
    """
    found = _all_cautions(connection, "rid", [one.rid for one in fused[:most]], now, known)
    if not found:
        return Reordered(fused, {})
    places = {one.rid: one for one in fused}
    arranged: dict[int, FusedCandidate] = {}
    for one in fused:
        for caution in found.get(one.rid, ()):
            if caution.how == "disputed":
                continue  # neither comes before the other
            if caution.successor is not None and caution.successor.rid in places:
                arranged.setdefault(caution.successor.rid, places[caution.successor.rid])
        arranged.setdefault(one.rid, one)
    return Reordered(list(arranged.values()), found)


def is_withheld(memory: MemoryRecord, cautions: Iterable[Caution]) -> bool:
    """Whether the person keeps a turn from agents, with a fact that was drawn from it and that they forgot."""
    return memory.kind == "episode" and any(one.withheld for one in cautions)


def caution_text(caution: Caution) -> str:
    """``corrected on 12 Mar 2026: The user works at Globex``, ``an agent (cursor) says otherwise since ...``, ``replaced on
    ...``, ``forgotten on 12 Mar 2026``, ``not decided yet between this and: The user works at Globex``; on one line."""
    day = date.fromtimestamp(caution.at)
    if caution.how == "disputed":
        other = " ".join(caution.successor.content.split()) if caution.successor else "something else"
        return f"not decided yet between this and: {other}"
    dated_text = f"{caution.said} on {day.day} {day:%b %Y}"
    if caution.by:
        dated_text = f"an agent ({caution.by}) says otherwise since {day.day} {day:%b %Y}"
    return f"{dated_text}: {' '.join(caution.successor.content.split())}" if caution.successor else dated_text
