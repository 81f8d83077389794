"""Why a memory is, or is not, among the hits: its exact place in every retriever, what keeps it out, what would help."""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.records import Explanation, MemoryRecord, Profile, RetrieverHit, RetrieverName

from . import cautions, scored_documents
from .exclusions import Exclusion, find_exclusion
from .filters.compiler import compile_filter
from .fusion import FusedCandidate
from .ranking import QueryEmbedder, Ranking
from .retrievers import entity, keyword, vector
from .scope import make_scope, rids_in_scope
from .suggestions import MOST_DEPTH, SearchTrial

NOT_COMPARED, NO_VECTOR = "Its meaning was not compared", "It has no vector yet"


def explain_place(
    connection: apsw.Connection,
    query: str,
    memory: MemoryRecord,
    *,
    filter: str = "",
    limit: int = 10,
    profile: Profile,
    embedder: QueryEmbedder | str,
    now: float,
    fade_threshold: float,
    alone: bool = False,
    within: str = "",
) -> Explanation:
    """Explain one memory's place for a question. Raises FilterError for a bad filter.

    ``alone`` and ``within``: as in ``search``.

    A memory outside the filter is ranked as if the terms that leave it out were not there. Each remedy by
    itself brings the memory among the first ``limit``, unless it says how many to ask for: that was tried.
    """
    compiled = compile_filter(filter, now, fade_threshold=fade_threshold)
    ranked = make_scope(compiled, alone=alone)
    outside = Exclusion()
    if memory.rid not in rids_in_scope(connection, ranked, [memory.rid]):
        outside = find_exclusion(connection, memory, compiled, now)
        ranked = make_scope(compile_filter(outside.filter, now, fade_threshold=fade_threshold), alone=alone)
    known = cautions.visible_scope(within, now, fade_threshold=fade_threshold)
    trial = SearchTrial(connection, query, ranked, profile, embedder, memory, limit, outside.steps, known)
    ranking = trial.rank_with()
    position = trial.position(ranking)
    cut = position is None
    if cut and profile.depth < MOST_DEPTH:
        ranking = trial.rank_with(profile=msgspec.structs.replace(profile, depth=MOST_DEPTH))
        position = trial.position(ranking)
    fused = ranking.fused[position] if position is not None else None
    retrievers = _exact_places(connection, ranking, memory, fused)
    excluded = list(outside.reasons)
    remedies: list[str] = []
    if position is None:
        reasons, remedies = _explain_unfound(trial, ranking, retrievers, profile)
        excluded += reasons
    elif cut:
        passed_over = "vector" in retrievers and profile.vector and retrievers["vector"].rank <= profile.depth
        excluded.append(
            "Its meaning is near, but of so many memories only those are compared whose vectors look like the question's."
            if passed_over
            else f"It is beyond the first {profile.depth} of every retriever, which is how far the search looks."
        )
        remedies = [*trial.try_more_words(ranking), *trial.try_deeper(retrievers)]
    elif position >= limit:
        where = "Without that it would be" if outside.reasons else "It is"
        excluded.append(f"{where} number {position + 1}, and {limit} {'is' if limit == 1 else 'are'} shown.")
        remedies = trial.suggestion_sentence([], position)
    elif outside.reasons:
        remedies = trial.suggestion_sentence([], position)
    return Explanation(
        query=query, memory=memory, rank=None if outside.reasons or position is None else position + 1,
        score=fused.score if fused else 0.0, limit=limit, retrievers=retrievers,
        excluded=tuple(excluded), remedies=tuple(remedies),
        below=position is not None and position >= limit and not cut and not outside.reasons,
    )  # fmt: skip


def _exact_places(
    connection: apsw.Connection, ranking: Ranking, memory: MemoryRecord, fused: FusedCandidate | None
) -> dict[RetrieverName, RetrieverHit]:
    """The memory's place in each retriever over everything in the scope, also where the search did not look so far."""
    retrievers: dict[RetrieverName, RetrieverHit] = dict(fused.retrievers) if fused else {}
    rid, scope = memory.rid, ranking.asked.scope
    words = scored_documents.matched_words(ranking.asked.question, memory.content)
    if rid not in ranking.first_pass:
        better = keyword.count_better(connection, ranking.asked.question, scope, rid)
        if better is not None:
            hit = retrievers.get("keyword", RetrieverHit(rank=1, score=better[0], term=0.0))
            retrievers["keyword"] = msgspec.structs.replace(hit, rank=better[1] + 1)
    if "keyword" in retrievers:
        retrievers["keyword"] = msgspec.structs.replace(retrievers["keyword"], matched=words)
    if "vector" not in retrievers and ranking.asked.meaning:
        meaning = ranking.asked.meaning
        nearer = vector.vector_rank(
            connection, meaning.space, meaning.query, scope, rid, meaning.vector_cache
        )
        if nearer is not None:
            retrievers["vector"] = RetrieverHit(rank=nearer[1] + 1, score=nearer[0], term=0.0)
    if "entity" not in retrievers and ranking.entities:
        linked = entity.entity_rank(connection, ranking.entities, scope, rid)
        if linked is not None:
            names = tuple(one.name for one in linked[0].entities)
            retrievers["entity"] = RetrieverHit(
                rank=linked[1] + 1, score=float(len(names)), term=0.0, matched=names
            )
    return retrievers


def _explain_unfound(
    trial: SearchTrial, ranking: Ranking, retrievers: dict[RetrieverName, RetrieverHit], profile: Profile
) -> tuple[list[str], list[str]]:
    """Why no retriever finds it, and what would."""
    question, nearness = ranking.asked.question, retrievers.get("vector")
    reasons: list[str] = []
    remedies: list[str] = []
    if not profile.keyword:
        reasons.append(f"The profile {profile.name} does without words.")
        remedies += trial.try_weight("keyword", 1.0)
    elif "keyword" not in retrievers:
        words = ", ".join(term.word for term in question.terms)
        reasons.append(
            f"It has none of the words: {words}." if words else "The question has no words to look for."
        )
    remedies += trial.try_more_words(ranking)
    if not profile.vector:
        reasons.append(f"The profile {profile.name} does without vectors.")
        remedies += trial.try_weight("vector", Profile().vector)
    elif isinstance(trial.embedder, str):
        reasons.append(f"{NOT_COMPARED}: {trial.embedder}.")
    elif nearness is not None and nearness.score < profile.floor:
        reasons.append(
            f"Its meaning is too far: cosine {nearness.score:.2f}, the floor is {profile.floor:.2f}."
        )
        remedies += trial.lower_floor(nearness.score)
    elif nearness is None and ranking.asked.meaning:
        if trial.memory.attributes.get("secrets") and not trial.memory.attributes.get("redacted"):
            reasons.append("It holds what looks like a secret, so it gets no vector: only its words find it.")
        else:
            reasons.append(f"{NO_VECTOR}.")
            remedies.append("Vectors are made in the background, while the app or a server is open.")
    elif nearness is None:
        reasons.append("The question could not be turned into a vector: the model knows none of its words.")
    near = nearness is not None and nearness.score >= profile.floor and bool(profile.vector)
    if near or ("keyword" in retrievers and profile.keyword):
        reasons.append(f"It is beyond the first {MOST_DEPTH:,} of every retriever.")
    return reasons, remedies
