"""One ranking: every arm asked about one question in one scope, and what they found, fused.

The arms find candidates inside the scope. Where the profile fuses scores, the candidates and the turns
around them are then read once more, which settles how much of the question each of them has (keyword)
and what its surroundings add (context).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import apsw

from memtui.engine.errors import DegradedError
from memtui.engine.records import ArmName, ArmReport, Profile
from memtui.engine.store import vectors
from memtui.engine.store.vectors import VectorSpace
from memtui.engine.store.words import stems

from . import context, entity, keyword, reading, statistics, vector
from .fusion import ARMS, Candidate, Fused, fuse, weight
from .question import Question
from .question import read as read_question
from .reading import Reading
from .scope import Scope, passing
from .statistics import MEMORIES

if TYPE_CHECKING:
    from memtui.engine.models.vectors import FloatMatrix

FTS5_MOST = 2.2
"""The most that FTS5's bm25() gives a word, as a multiple of its idf."""


class QueryEmbedder(Protocol):
    """What the vector arm needs of an embedder."""

    def embed_query(self, text: str, weight: Callable[[str], float] | None = None) -> FloatMatrix:
        """The question as one row; ``weight`` says how rare a word is in the memory."""


class Meaning(NamedTuple):
    """A question as a vector, and the space it lies in."""

    query: FloatMatrix
    space: VectorSpace


class Ranking(NamedTuple):
    """What was asked, what the arms found, and all of it fused.

    ``first_pass``: the keyword arm's candidates with the score of FTS5. ``below``: what the vector arm
    alone found, under the floor: not among the candidates.
    """

    question: Question
    scope: Scope
    profile: Profile
    fused: list[Fused]
    reports: tuple[ArmReport, ...]
    first_pass: dict[int, float]
    entities: list[entity.Named]
    meaning: Meaning | None
    below: dict[int, float]


def rank(
    connection: apsw.Connection, text: str, scope: Scope, profile: Profile, embedder: QueryEmbedder | str
) -> Ranking:
    """Ask every arm. ``embedder`` is a string when there is none: the reason. No question raises."""
    lap = _stopwatch()
    question = read_question(connection, text, scope.index)
    lists: dict[ArmName, list[Candidate]] = {}

    first = keyword.first_pass(connection, question, scope, profile.depth) if profile.keyword else []
    first_pass = {hit.rid: hit.score for hit in first}
    lists["keyword"] = [Candidate(rid=hit.rid, score=hit.score, share=0.0) for hit in first]
    times: dict[ArmName, float] = {"keyword": lap()}

    entities = entity.named(connection, question.text) if profile.entity else []
    links = entity.linked(connection, entities, scope, profile.depth) if entities else []
    lists["entity"] = [
        Candidate(
            rid=link.rid,
            score=link.score,
            share=sum(one.rarity(question.rows) for one in link.entities) / len(entities),
            matched=link.names,
        )
        for link in links
    ]
    times["entity"] = lap()

    meaning, why = _meaning(connection, question, profile, embedder)
    near = vector.nearest(connection, meaning.space, meaning.query, scope, profile.depth) if meaning else []
    found = first_pass.keys() | {link.rid for link in links}
    below = {hit.rid: hit.score for hit in near if hit.score < profile.floor and hit.rid not in found}
    lists["vector"] = [
        Candidate(rid=hit.rid, score=hit.score, share=max(0.0, hit.score))
        for hit in near
        if hit.rid not in below
    ]
    times["vector"] = lap()

    if profile.fusion == "score":
        _look_again(connection, question, scope, profile, first_pass, lists)
    times["context"] = lap()
    reports = _reports(question, scope, profile, lists, times, why, len(below))
    return Ranking(
        question, scope, profile, fuse(lists, profile), reports, first_pass, entities, meaning, below
    )


def _meaning(
    connection: apsw.Connection, question: Question, profile: Profile, embedder: QueryEmbedder | str
) -> tuple[Meaning | None, str]:
    """The question's vector, or why there is none; the reason begins with "no" when it is the question's fault."""
    if isinstance(embedder, str):
        return None, embedder
    space = vectors.space(connection)
    if space is None:
        return None, "no memory has a vector yet"
    if not profile.vector or not question.text.strip():
        return None, ""
    counted = statistics.of(connection, MEMORIES)

    def rarity(word: str) -> float:
        [stem, *_] = stems(word) or [word]
        return counted.idf(stem)

    try:
        query = embedder.embed_query(question.text, rarity)
    except DegradedError as error:
        return None, error.message
    if query.shape[1] != space.dims:
        return None, f"the model makes {query.shape[1]} dimensions, the memory has {space.dims}"
    return (Meaning(query, space), "") if query.any() else (None, "")


def _look_again(
    connection: apsw.Connection,
    question: Question,
    scope: Scope,
    profile: Profile,
    first_pass: dict[int, float],
    lists: dict[ArmName, list[Candidate]],
) -> None:
    """Read the candidates and their surroundings; orders the keyword list anew and makes the context list."""
    pool = {candidate.rid for candidates in lists.values() for candidate in candidates}
    with_context = weight(profile, "context") > 0.0 and "episode" in scope.kinds
    around = context.neighbours(connection, pool) if with_context else {}
    beside = passing(connection, scope, around.keys() - pool)
    readings = reading.read(connection, question, pool | beside)
    if profile.keyword:
        lists["keyword"] = _by_words(question, readings, first_pass)
    if with_context:
        scores: dict[int, float] = {}
        for arm, candidates in lists.items():
            for candidate in candidates:
                scores[candidate.rid] = (
                    scores.get(candidate.rid, 0.0) + weight(profile, arm) * candidate.share
                )
        cosines = {candidate.rid: candidate.share for candidate in lists["vector"]}
        lists["context"] = context.candidates(question, readings, around, scores, cosines, profile)


def _by_words(
    question: Question, readings: dict[int, Reading], first_pass: dict[int, float]
) -> list[Candidate]:
    """All that have a word of the question: those of the first pass by what the second look found, then the rest."""
    found = []
    for rid, text in readings.items():
        score = text.share * (reading.K1 + 1.0)
        share = text.share / question.most if question.most else 0.0
        if text.cut and rid in first_pass:
            score = first_pass[rid]
            share = score / (FTS5_MOST * question.most) if question.most else 0.0
        elif question.characters and rid in first_pass:
            score = share = 1.0
        if score > 0.0:
            found.append(Candidate(rid=rid, score=score, share=share))
    return sorted(found, key=lambda one: (one.rid not in first_pass, -one.score, -one.rid))


def _reports(
    question: Question,
    scope: Scope,
    profile: Profile,
    lists: dict[ArmName, list[Candidate]],
    times: dict[ArmName, float],
    no_vectors: str,
    below: int,
) -> tuple[ArmReport, ...]:
    """How each arm took part, and why where it did not."""
    words = ", ".join(term.word for term in question.terms)
    found_nothing: dict[ArmName, str] = {
        "keyword": f"no memory here has any of these words: {words}" if words else "there are no words in it",
        "vector": "" if words else "there are no words in it",
        "entity": "it names no known person, project or place",
        "context": "",
    }
    if below:
        found_nothing["vector"] = f"{below} found, all below the floor of {profile.floor:.2f}"
    reports = []
    for arm in ARMS:
        found = len(lists.get(arm, ()))
        why = "" if found else found_nothing[arm]
        state: Literal["answered", "empty", "off", "unavailable"] = "answered" if found else "empty"
        if weight(profile, arm) == 0.0:
            state, why = "off", f"the profile {profile.name} does without it"
        elif arm == "vector" and no_vectors:
            state, why = "unavailable", no_vectors
        elif arm == "vector" and found and below:
            why = f"{below} more were below the floor of {profile.floor:.2f}"
        elif arm == "context" and "episode" not in scope.kinds:
            state, why = "off", "only turns of conversations have surroundings"
        reports.append(
            ArmReport(arm=arm, state=state, found=found, why=why, milliseconds=times.get(arm, 0.0))
        )
    return tuple(reports)


def _stopwatch() -> Callable[[], float]:
    """Milliseconds since the last call."""
    last = time.perf_counter()

    def lap() -> float:
        nonlocal last
        before, last = last, time.perf_counter()
        return (last - before) * 1000.0

    return lap
