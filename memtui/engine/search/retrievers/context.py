"""The context retriever: what the turns around a turn, and the rest of its session, say for it.

An answer seldom repeats the words of its question, and a story is told over several turns. So a turn
counts the words that it lacks but a neighbour has, in part: ``profile.neighbours`` for the turn before
and after, half of it two turns away, twice as much when the turn before asks something. On top
comes a part of what the best turns of its session score. And a turn that a fact was drawn from counts a
part of what the fact scores: the fact says in plain words what the turn only hints at.

All of that orders what answers by itself (``fusion.standing``). A turn that does not is found only where
the turn before asks in the question's words, or a fact that answers was drawn from it. A note has no
surroundings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import apsw

from memtui.engine.records import Profile, RetrieverName
from memtui.engine.search.fusion import RetrieverCandidate, candidates_with_own_evidence, weighted_totals
from memtui.engine.search.query import ParsedQuery
from memtui.engine.search.request import SearchRequest
from memtui.engine.search.scored_documents import ScoredDocument
from memtui.engine.store.sql import as_json

ASKED = 2.0
"""What a turn that asks something gives to the ones after it, against one that does not."""
BEST_TURNS = 3


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
    asked: SearchRequest,
    readings: Mapping[int, ScoredDocument],
    around: Mapping[int, Mapping[int, int]],
    drawn: Mapping[int, Sequence[int]],
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]],
) -> list[RetrieverCandidate]:
    """What its surroundings add to each turn, most first; ``lists`` is what the other retrievers found.

    ``drawn``: the facts that a turn gave rise to. What surroundings add is not lent on, and a turn of which
    nothing else is known adds nothing.
    """
    question, profile = asked.question, asked.profile
    alone = {**dict.fromkeys(readings, 0.0), **weighted_totals(lists, profile)}
    stand = candidates_with_own_evidence(lists, profile)
    sums = dict(alone)
    gained: dict[int, tuple[float, list[str]]] = {}
    for rid, reading in readings.items():
        if reading.kind != "episode":
            continue
        near = [(away, readings[other]) for away, other in around.get(rid, {}).items() if other in readings]
        lacked, said = _missing_weight(question, reading, near, profile)
        gain = profile.keyword * lacked / question.most if lacked else 0.0
        sources = [f"{_distance_text(away)}: {', '.join(said[away])}" for away in sorted(said, key=abs)]
        facts = [alone[fact] for fact in drawn.get(rid, ()) if fact in stand]
        if facts and profile.facts:
            gain += profile.facts * max(facts)
            sources.append("a fact drawn from it")
        sums[rid] += gain
        if rid in stand or facts or _answers_previous_turn(reading, near):
            gained[rid] = gain, sources
    from_session = _session_shares(readings, sums)
    made = []
    for rid, (gain, sources) in gained.items():
        total = gain + profile.session * from_session.get(rid, 0.0)
        if total > 0.0:
            if profile.session:
                sources.append("its session")
            made.append(RetrieverCandidate(rid=rid, score=total, share=total, matched=tuple(sources)))
    return sorted(made, key=lambda one: (-one.score, -one.rid))


def _answers_previous_turn(reading: ScoredDocument, near: Sequence[tuple[int, ScoredDocument]]) -> bool:
    """Whether the turn before asks in the words of the question, and this one says something to it."""
    return not reading.chatter and any(away == -1 and other.asks and other.weights for away, other in near)


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
    said: dict[int, list[str]] = {}
    for term in sorted(best):
        said.setdefault(best[term][1], []).append(question.terms[term].word)
    return sum(value - reading.weights.get(term, 0.0) for term, (value, _) in best.items()), said


def _session_shares(readings: Mapping[int, ScoredDocument], totals: Mapping[int, float]) -> dict[int, float]:
    """What each turn has to lean on: the mean of the best turns of its session."""
    sessions: dict[str, list[float]] = {}
    for rid, total in totals.items():
        session = readings[rid].session
        if readings[rid].kind == "episode" and session is not None:
            sessions.setdefault(session, []).append(total)
    means = {session: sum(sorted(values)[-BEST_TURNS:]) / BEST_TURNS for session, values in sessions.items()}
    return {rid: means.get(readings[rid].session or "", 0.0) for rid in totals}


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
