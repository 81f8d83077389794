"""The context retriever: what the turns around a turn, and the rest of its session, say for it.

An answer seldom repeats the words of its question, and a story is told over several turns. So a turn
counts the words that it lacks but a neighbour has, in part: ``profile.neighbours`` for the turn before
and after, half of it two turns away, twice as much when the turn before asks something. The same holds for how near a
neighbour is in meaning, and for the words of the question whose meaning it has. The turn and those around are a passage:
how near its turns are in meaning on average counts too. On top comes a part of what the best turns of its session score, and
of those within an hour: people who chat say a thing in several short turns.
And a turn that a fact was drawn from counts a part of what the fact scores: the fact says in plain words what the turn
only hints at.

What all retrievers give a memory is raised where it has what the question asks for (a time, a number, a name), and where
the question names who said it.

All of that orders what answers by itself (``fusion.standing``). A turn that does not is found only where
the turn before asks in the question's words, where it is short and said soon before or after one that answers by itself,
or where a fact that answers was drawn from it. A note has no surroundings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import apsw

from memtui.engine.records import Profile, RetrieverName
from memtui.engine.search.answer_types import speakers_named
from memtui.engine.search.fusion import (
    RetrieverCandidate,
    candidates_with_own_evidence,
    retriever_weight,
    weighted_totals,
)
from memtui.engine.search.query import ParsedQuery
from memtui.engine.search.request import SearchRequest
from memtui.engine.search.scored_documents import ScoredDocument
from memtui.engine.store.sql import as_json

ASKED = 2.0
"""What a turn that asks something gives to the ones after it, against one that does not."""
BEST_TURNS = 3
AROUND = 3_600
"""Seconds before and after a turn in which the best turns of its session count for it."""
PASSAGE = 0.8
"""How much of what neighbours count, the mean cosine of a turn and the turns around it counts."""
SHORT = 20
"""Up to so many words a turn may go on with what one near it says."""
GOES_ON = 600
"""Seconds between two turns, up to which one may go on with the other."""
LENT = 0.4
"""The cosine from which on a word's meaning counts for a neighbour."""
HAS = 0.2
"""By how much what has the thing that is asked for is raised."""
SAID_BY = 0.15
"""By how much the turns of whom the question names are raised."""


def neighbouring_turns(connection: apsw.Connection, rids: Collection[int]) -> dict[int, dict[int, int]]:
    """For each turn among the rids, and each turn near one of them, the turns around it by distance.

    Distances are -2, -1, 1, 2 in the order of the transcript; forgotten turns are passed over.
    """
    rows = connection.execute(_NEAR, (as_json(rids),))
    following: dict[int, int] = {}
    for chain in rows:
        known = [rid for rid in chain if rid is not None]
        following.update(pairwise(known))
    before = {after: rid for rid, after in following.items()}
    found: dict[int, dict[int, int]] = {}
    for rid in {*following, *before}:
        around = found.setdefault(rid, {})
        for sign, step in ((-1, before), (1, following)):
            near = step.get(rid)
            if near is not None:
                around[sign] = near
                if near in step:
                    around[2 * sign] = step[near]
    return found


def facts_of_turns(connection: apsw.Connection, facts: Collection[int]) -> dict[int, list[int]]:
    """For each turn that one of these facts was drawn from, those facts."""
    rows = connection.execute(
        """
        SELECT s.rid, f.rid FROM memories f JOIN memory_links l ON l.from_id = f.id AND l.rel = 'source'
        JOIN memories s ON s.id = l.to_id AND s.kind = 'episode'
        WHERE f.rid IN (SELECT value FROM json_each(?))
        """,
        (as_json(facts),),
    )
    found: dict[int, list[int]] = {}
    for turn, fact in rows:
        found.setdefault(turn, []).append(fact)
    return found


def context_candidates(
    request: SearchRequest,
    readings: Mapping[int, ScoredDocument],
    around: Mapping[int, Mapping[int, int]],
    facts_by_turn: Mapping[int, Sequence[int]],
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]],
) -> list[RetrieverCandidate]:
    """What its surroundings add to each turn, most first; ``lists`` is what the other retrievers found.

    ``facts_by_turn``: the facts that a turn gave rise to. What surroundings add is not lent on, and a turn of which
    nothing else is known adds nothing.
    """
    profile = request.profile
    alone = {**dict.fromkeys(readings, 0.0), **weighted_totals(lists, profile)}
    stand = candidates_with_own_evidence(lists, profile)
    meant = _NeighbourSimilarity(request, lists)
    sums = dict(alone)
    gained: dict[int, tuple[float, list[str]]] = {}
    for rid, reading in readings.items():
        if reading.kind != "episode":
            continue
        near = [(away, readings[other]) for away, other in around.get(rid, {}).items() if other in readings]
        lacked, said_with = _missing_weight(request.question, reading, near, profile)
        gain = profile.keyword * lacked / request.question.most if lacked else 0.0
        gain += meant.lent(reading, near, said_with)
        sources = [
            f"{_distance_text(away)}: {', '.join(dict.fromkeys(said_with[away]))}"
            for away in sorted(said_with, key=abs)
        ]
        facts = [alone[fact] for fact in facts_by_turn.get(rid, ()) if fact in stand]
        if passage := meant.mean_cosine(rid, near):
            gain += PASSAGE * profile.neighbours * passage
            sources.append("the talk around it")
        if facts and profile.facts:
            gain += profile.facts * max(facts)
            sources.append("a fact drawn from it")
        sums[rid] += gain
        if rid in stand or facts or _answers_previous_turn(reading, near):
            gained[rid] = gain, sources
        elif away := _goes_on(reading, near, stand):
            gained[rid] = (
                gain,
                sources if away in said_with else [f"{_distance_text(away)}: it answers", *sources],
            )
    from_session = _session_shares(readings, sums)
    speakers = speakers_named(request.question.text, {one.role for one in readings.values() if one.role})
    made = []
    for rid, reading in readings.items():
        gain, sources = gained.get(rid, (0.0, []))
        if rid in gained:
            gain += profile.session * from_session.get(rid, 0.0)
            if profile.session and gain > 0.0:
                sources.append("its session")
        elif reading.kind == "episode" or rid not in stand:
            continue
        raised = (1.0 + HAS if reading.has else 1.0) * (
            1.0 + SAID_BY if reading.role in speakers else 1.0
        ) - 1.0
        total = gain + raised * (alone[rid] + gain)
        if total > 0.0:
            sources += reading.has
            if reading.role in speakers:
                sources.append(f"said by {reading.role}")
            made.append(RetrieverCandidate(rid=rid, score=total, share=total, matched=tuple(sources)))
    return sorted(made, key=lambda one: (-one.score, -one.rid))


class _NeighbourSimilarity:
    """How near neighbours are in meaning, as whole turns and word by word, and what that counts for a turn."""

    def __init__(
        self, request: SearchRequest, lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]]
    ) -> None:
        profile = self._profile = request.profile
        words = request.meaning.words if request.meaning else None
        self._words = words.words if words else ()
        whole = sum(words.weights) if words else 0.0
        weights = words.weights if words and whole else ()
        self._weights = [retriever_weight(profile, "word_vector") * one / whole for one in weights]
        nearness = lists.get("vector", ()) if profile.vector else ()
        self._shares = {one.rid: one.share for one in nearness}
        self._near = {one.rid: one.share for one in nearness if one.score >= profile.floor}
        self._cosines = {one.rid: one.cosines for one in lists.get("word_vector", ())}

    def mean_cosine(self, rid: int, near: Sequence[tuple[int, ScoredDocument]]) -> float:
        """Of a turn and its neighbours; 0 where it has none, or none that is near in meaning."""
        around = [self._shares.get(other.rid, 0.0) for _, other in near]
        return (self._shares.get(rid, 0.0) + sum(around)) / (1 + len(around)) if any(around) else 0.0

    def lent(
        self,
        reading: ScoredDocument,
        near: Sequence[tuple[int, ScoredDocument]],
        said_with: dict[int, list[str]],
    ) -> float:
        """What a turn gets for its neighbours' meaning; who gave it is written into ``said_with``, by distance."""
        parts = [
            (_neighbour_share(away, other, self._profile), away, other.rid)
            for away, other in near
            if other.rid in self._near or other.rid in self._cosines
        ]
        if not parts:
            return 0.0
        nearest = max(
            ((part * self._near.get(rid, 0.0), away) for part, away, rid in parts), default=(0.0, 0)
        )
        total = 0.0
        if nearest[0] > 0.0:
            total = self._profile.vector * nearest[0]
            said_with.setdefault(nearest[1], []).append("near in meaning")
        beside = [(part, away, self._cosines[rid]) for part, away, rid in parts if rid in self._cosines]
        if beside and any(self._weights):
            own = self._cosines.get(reading.rid) or (0.0,) * len(self._weights)
            for place, has in enumerate(own):
                most, away = max(
                    (
                        (min(1.0, part) * cosines[place], away)
                        for part, away, cosines in beside
                        if cosines[place] >= LENT
                    ),
                    default=(0.0, 0),
                )
                if most > has:
                    total += self._weights[place] * (most - has)
                    said_with.setdefault(away, []).append(self._words[place])
        return total


def _answers_previous_turn(reading: ScoredDocument, near: Sequence[tuple[int, ScoredDocument]]) -> bool:
    """Whether the turn before asks in the words of the question, and this one says something to it."""
    return not reading.chatter and any(away == -1 and other.asks and other.weights for away, other in near)


def _goes_on(
    reading: ScoredDocument, near: Sequence[tuple[int, ScoredDocument]], stand: Collection[int]
) -> int:
    """How far away the turn is that answers by itself and that a short one goes on with: -1 right before, 0 nowhere.

    People say a thing in several short turns, and answer it in one.
    """
    if reading.length > SHORT or reading.chatter:
        return 0
    beside = (away for away, other in near if other.rid in stand and abs(other.at - reading.at) <= GOES_ON)
    return min(beside, key=lambda away: (abs(away), away), default=0)


def _neighbour_share(away: int, other: ScoredDocument, profile: Profile) -> float:
    """How much of what a neighbour has counts."""
    return profile.neighbours / abs(away) * (ASKED if away < 0 and other.asks else 1.0)


def _missing_weight(
    question: ParsedQuery,
    reading: ScoredDocument,
    near: Sequence[tuple[int, ScoredDocument]],
    profile: Profile,
) -> tuple[float, dict[int, list[str]]]:
    """The weight of the words that neighbours have and the turn lacks, and who has them, by distance."""
    best: dict[int, tuple[float, int]] = {}
    for away, other in near:
        if other.weights:
            part = _neighbour_share(away, other, profile)
            for term, value in other.weights.items():
                if part * value > (best[term][0] if term in best else reading.weights.get(term, 0.0)):
                    best[term] = (part * value, away)
    said_with: dict[int, list[str]] = {}
    for term in sorted(best):
        said_with.setdefault(best[term][1], []).append(question.terms[term].word)
    return sum(value - reading.weights.get(term, 0.0) for term, (value, _) in best.items()), said_with


def _session_shares(readings: Mapping[int, ScoredDocument], totals: Mapping[int, float]) -> dict[int, float]:
    """What each turn has to lean on: the mean of the best turns of its session, and of those within an hour of it."""
    sessions: dict[str, list[tuple[int, int, float]]] = {}
    for rid, total in totals.items():
        reading = readings[rid]
        if reading.kind == "episode" and reading.session is not None:
            sessions.setdefault(reading.session, []).append((reading.at, rid, total))
    shares: dict[int, float] = {}
    for turns in sessions.values():
        turns.sort()
        means: dict[tuple[int, int], float] = {}
        whole = (0, len(turns))
        first = last = 0
        for at, rid, _ in turns:
            while turns[first][0] < at - AROUND:
                first += 1
            while last < len(turns) and turns[last][0] <= at + AROUND:
                last += 1
            for start, end in (whole, (first, last)):
                if (start, end) not in means:
                    means[start, end] = (
                        sum(sorted([total for _, _, total in turns[start:end]], reverse=True)[:BEST_TURNS])
                        / BEST_TURNS
                    )
            shares[rid] = means[whole] + means[first, last]
    return shares


def _distance_text(away: int) -> str:
    return f"{abs(away)} {'before' if away < 0 else 'after'}"


def _sql_neighbours(order: str, compare: str, index: int) -> str:
    return f"""(SELECT n.rid FROM memories n
        WHERE n.session_id = m.session_id AND (n.event_time, n.rid) {compare} (m.event_time, m.rid)
        AND n.kind = 'episode' AND n.valid_until IS NULL
        ORDER BY n.event_time {order}, n.rid {order} LIMIT 1 OFFSET {index})"""


_NEAR = f"""
    SELECT {_sql_neighbours("DESC", "<", 1)}, {_sql_neighbours("DESC", "<", 0)},
        m.rid, {_sql_neighbours("ASC", ">", 0)}, {_sql_neighbours("ASC", ">", 1)}
    FROM memories m
    WHERE m.rid IN (SELECT value FROM json_each(?)) AND m.kind = 'episode' AND m.session_id IS NOT NULL
"""
