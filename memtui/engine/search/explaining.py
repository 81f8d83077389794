"""Why a memory is, or is not, among the hits: its exact place in every arm, what keeps it out, what would help."""

from __future__ import annotations

from datetime import UTC, datetime

import apsw
import msgspec

from memtui.engine.records import ArmHit, ArmName, Explanation, MemoryRecord, Profile
from memtui.engine.store.vectors import KNN_LIMIT

from . import entity, keyword, reading, vector
from .filters import compile
from .fusion import Fused
from .ranking import QueryEmbedder, Ranking, rank
from .scope import Scope, passing, scope


def explain(
    connection: apsw.Connection,
    query: str,
    memory: MemoryRecord,
    *,
    filter: str = "",
    limit: int = 10,
    profile: Profile,
    embedder: QueryEmbedder | str,
    now: float,
    exclude_session: str | None = None,
    fade_threshold: float = 0.05,
) -> Explanation:
    """Explain one memory's place for a question. Raises FilterError for a bad filter.

    A memory outside the filter is ranked as if there were none, so that its place in each arm is known.
    """
    compiled = compile(filter, now, fade_threshold=fade_threshold)
    within = scope(compiled, exclude_session=exclude_session)
    outside = memory.rid not in passing(connection, within, [memory.rid])
    if outside:
        within = scope(compile("is:active,trash", now))
    ranking = rank(connection, query, within, profile, embedder)
    place = _place(ranking, memory.rid)
    cut = place is None
    if cut and profile.depth < KNN_LIMIT:
        deeper = msgspec.structs.replace(profile, depth=KNN_LIMIT)
        ranking = rank(connection, query, within, deeper, embedder)
        place = _place(ranking, memory.rid)
    fused = ranking.fused[place] if place is not None else None
    arms = _exact(connection, ranking, memory, fused)
    reasons = _Reasons()
    if outside:
        _why_outside(connection, reasons, memory, compiled.expression, now, exclude_session, fade_threshold)
    elif place is None:
        _why_unfound(connection, reasons, ranking, memory, arms, embedder)
    elif cut:
        reasons.add(
            f"It stands beyond the first {profile.depth} of every arm, which is how far the search looks.",
            f"Use more of its words, narrow the filter, or raise the profile's depth above {profile.depth}.",
        )
    elif place >= limit:
        reasons.add(
            f"It is number {place + 1}, and {limit} {'is' if limit == 1 else 'are'} shown.",
            f"Ask for {place + 1} or more hits.",
        )
    return Explanation(
        query=query, memory=memory, rank=None if outside or place is None else place + 1,
        score=fused.score if fused else 0.0, limit=limit, arms=arms,
        excluded=tuple(reasons.excluded), remedies=tuple(reasons.remedies),
    )  # fmt: skip


class _Reasons:
    def __init__(self) -> None:
        self.excluded: list[str] = []
        self.remedies: list[str] = []

    def add(self, excluded: str, remedy: str = "") -> None:
        self.excluded.append(excluded)
        if remedy:
            self.remedies.append(remedy)


def _place(ranking: Ranking, rid: int) -> int | None:
    return next((place for place, one in enumerate(ranking.fused) if one.rid == rid), None)


def _exact(
    connection: apsw.Connection, ranking: Ranking, memory: MemoryRecord, fused: Fused | None
) -> dict[ArmName, ArmHit]:
    """The memory's place in each arm over everything in the scope, also where the search did not look so far."""
    arms: dict[ArmName, ArmHit] = dict(fused.arms) if fused else {}
    rid, scope = memory.rid, ranking.asked.scope
    words = reading.matched(ranking.asked.question, memory.content)
    if rid not in ranking.first_pass:
        better = keyword.better(connection, ranking.asked.question, scope, rid)
        if better is not None:
            hit = arms.get("keyword", ArmHit(rank=1, score=better[0], term=0.0))
            arms["keyword"] = msgspec.structs.replace(hit, rank=better[1] + 1)
    if "keyword" in arms:
        arms["keyword"] = msgspec.structs.replace(arms["keyword"], matched=words)
    if "vector" not in arms and ranking.asked.meaning:
        nearer = vector.position(
            connection, ranking.asked.meaning.space, ranking.asked.meaning.query, scope, rid
        )
        if nearer is not None:
            arms["vector"] = ArmHit(rank=nearer[1] + 1, score=nearer[0], term=0.0)
    if "entity" not in arms and ranking.entities:
        linked = entity.position(connection, ranking.entities, scope, rid)
        if linked is not None:
            names = tuple(one.name for one in linked[0].entities)
            arms["entity"] = ArmHit(rank=linked[1] + 1, score=float(len(names)), term=0.0, matched=names)
    return arms


def _why_outside(
    connection: apsw.Connection,
    reasons: _Reasons,
    memory: MemoryRecord,
    expression: str,
    now: float,
    exclude_session: str | None,
    fade_threshold: float,
) -> None:
    """The Trash, the terms of the filter that leave it out, the session that is going on."""
    compiled = compile(expression, now, fade_threshold=fade_threshold)
    if memory.valid_until is not None and not compiled.trash:
        day = datetime.fromtimestamp(memory.valid_until, UTC).astimezone().strftime("%d %b %Y")
        reasons.add(
            f"It is in the Trash ({memory.ended_by}, {day}).",
            "Restore it, or look there with is:trash in the filter.",
        )
    for term, condition in zip(compiled.terms, compiled.conditions, strict=True):
        [(passes,)] = connection.execute(
            f"SELECT ({condition}) IS TRUE FROM memories m WHERE m.rid = :memory",
            {**compiled.bindings, "memory": memory.rid},
        )
        if not passes:
            reasons.add(f"The filter leaves it out: {term}", f"Leave {term} out of the filter.")
    if exclude_session is not None and memory.session_id == exclude_session:
        reasons.add(
            "It belongs to the session that is going on, which is left out.", "Search from outside it."
        )


def _why_unfound(
    connection: apsw.Connection,
    reasons: _Reasons,
    ranking: Ranking,
    memory: MemoryRecord,
    arms: dict[ArmName, ArmHit],
    embedder: QueryEmbedder | str,
) -> None:
    profile, question = ranking.asked.profile, ranking.asked.question
    if profile.keyword and "keyword" not in arms:
        asked = ", ".join(term.word for term in question.terms)
        words = _telling(connection, ranking.asked.scope, memory)
        reasons.add(
            f"It has none of the words: {asked}." if asked else "The question has no words to look for.",
            f"Use one of its words: {', '.join(words)}." if words else "",
        )
    nearness = arms.get("vector")
    if not profile.vector:
        reasons.add(f"The profile {profile.name} does without vectors.", "Give its vector arm a weight.")
    elif isinstance(embedder, str):
        reasons.add(f"Its meaning was not compared: {embedder}.")
    elif nearness is not None and nearness.score < profile.floor:
        reasons.add(
            f"Its meaning is too far: cosine {nearness.score:.2f}, the floor is {profile.floor:.2f}.",
            f"Lower the floor below {max(nearness.score, -1.0):.2f}.",
        )
    elif nearness is None and ranking.asked.meaning:
        reasons.add(
            "It has no vector yet.", "Vectors are made in the background; memtui index makes them now."
        )
    elif nearness is None and not ranking.asked.meaning:
        reasons.add("The question could not be turned into a vector: the model knows none of its words.")
    if "keyword" in arms or ("vector" in arms and nearness is not None and nearness.score >= profile.floor):
        reasons.add(
            f"It stands beyond the first {profile.depth:,} of every arm.",
            "Use more of its words, or narrow the filter.",
        )


def _telling(connection: apsw.Connection, scope: Scope, memory: MemoryRecord) -> list[str]:
    """The three rarest words of a memory that say something: no crumbs like the s of "Ada's", no bare numbers."""
    from .question import STOP_WORDS, read

    terms = read(connection, memory.content[: reading.READ_AT_MOST], scope.index).terms
    words = [
        term.word
        for term in sorted(terms, key=lambda term: -term.idf)
        if term.word not in STOP_WORDS
        and any(map(str.isalpha, term.word))
        and (len(term.word) > 2 or not term.word.isascii())
    ]
    return words[:3]
