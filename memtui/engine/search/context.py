"""The context arm: what the turns around a turn, and the rest of its session, say for it.

An answer seldom repeats the words of its question, and a story is told over several turns. So a turn
counts the words that it lacks but a neighbour has, in part: ``profile.neighbours`` for the turn before
and after, half of it two turns away, half as much again when the turn before asks something. On top
comes a part of what the best turns of its session score; a note, which has no session to lean on, leans
on itself. Of all that was tried without a model this helps most.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

import apsw

from memtui.engine.records import Profile

from .fusion import Candidate
from .question import Question
from .reading import Reading
from .scope import as_json

ASKED = 1.5
"""What a turn that asks something gives to the ones after it, against one that does not."""
SEMANTIC = 0.6
"""The part of a neighbour's nearness in meaning, against its words."""
BEST_TURNS = 3


def neighbours(connection: apsw.Connection, rids: Collection[int]) -> dict[int, dict[int, int]]:
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


def candidates(
    question: Question,
    readings: Mapping[int, Reading],
    around: Mapping[int, Mapping[int, int]],
    scores: Mapping[int, float],
    cosines: Mapping[int, float],
    profile: Profile,
) -> list[Candidate]:
    """What its surroundings add to each reading, most first.

    ``scores``: the sum of the other arms' terms; ``cosines``: of those that the vector arm found.
    """
    totals: dict[int, float] = {}
    gained: dict[int, tuple[float, tuple[str, ...]]] = {}
    for rid, reading in readings.items():
        near = {away: readings[other] for away, other in around.get(rid, {}).items() if other in readings}
        gained[rid] = _from_neighbours(question, reading, near, cosines, profile)
        totals[rid] = scores.get(rid, 0.0) + gained[rid][0]
    from_session = _session_shares(readings, totals)
    found = []
    for rid, (gain, sources) in gained.items():
        prior = profile.session * from_session[rid]
        if gain + prior > 0.0:
            matched = (*sources, "its session") if prior and readings[rid].session else sources
            found.append(Candidate(rid=rid, score=gain + prior, share=gain + prior, matched=matched))
    return sorted(found, key=lambda one: (-one.score, -one.rid))


def _from_neighbours(
    question: Question,
    reading: Reading,
    near: Mapping[int, Reading],
    cosines: Mapping[int, float],
    profile: Profile,
) -> tuple[float, tuple[str, ...]]:
    """The words that neighbours have and the turn lacks, and how near they are in meaning; and which they are."""
    words: dict[int, tuple[float, int]] = {}
    meaning = 0.0
    for away, other in near.items():
        part = profile.neighbours / abs(away) * (ASKED if away < 0 and other.asks else 1.0)
        for place, weight in other.weights.items():
            best = words.get(place, (reading.weights.get(place, 0.0), 0))
            if part * weight > best[0]:
                words[place] = (part * weight, away)
        meaning += SEMANTIC * part * cosines.get(other.rid, 0.0)
    lacked = sum(value - reading.weights.get(place, 0.0) for place, (value, _) in words.items())
    said: dict[int, list[str]] = {}
    for place, (_, away) in sorted(words.items()):
        said.setdefault(away, []).append(question.terms[place].word)
    sources = tuple(f"{_where(away)}: {', '.join(said[away])}" for away in sorted(said, key=abs))
    share = lacked / question.most if question.most else 0.0
    return profile.keyword * share + profile.vector * meaning, sources


def _session_shares(readings: Mapping[int, Reading], totals: Mapping[int, float]) -> dict[int, float]:
    sessions: dict[str, list[float]] = {}
    for rid, total in totals.items():
        reading = readings[rid]
        if reading.kind == "episode" and reading.session is not None:
            sessions.setdefault(reading.session, []).append(total)
    means = {session: sum(sorted(values)[-BEST_TURNS:]) / BEST_TURNS for session, values in sessions.items()}
    return {
        rid: means.get(readings[rid].session or "", total) if readings[rid].kind == "episode" else total
        for rid, total in totals.items()
    }


def _where(away: int) -> str:
    return f"{abs(away)} {'before' if away < 0 else 'after'}"


def _near(order: str, compare: str, place: int) -> str:
    return f"""(SELECT n.rid FROM memories n
        WHERE n.session_id = m.session_id AND (n.event_time, n.rid) {compare} (m.event_time, m.rid)
        AND n.kind = 'episode' AND n.valid_until IS NULL
        ORDER BY n.event_time {order}, n.rid {order} LIMIT 1 OFFSET {place})"""


_NEAR = f"""
    SELECT {_near("DESC", "<", 1)}, {_near("DESC", "<", 0)}, m.rid, {_near("ASC", ">", 0)}, {_near("ASC", ">", 1)}
    FROM memories m
    WHERE m.rid IN (SELECT value FROM json_each(?)) AND m.kind = 'episode' AND m.session_id IS NOT NULL
"""
