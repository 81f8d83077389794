"""Search: the memories that answer a question, each with what every retriever gave to its score."""

from __future__ import annotations

import time

import apsw
import msgspec

from memtui.engine.errors import InputError
from memtui.engine.records import Hit, Profile, SearchResult
from memtui.engine.store import memories, vectors

from . import cautions, profiles, scored_documents
from .filters.compiler import compile_filter, which_term_removes_all
from .filters.terms import reads_as_filter
from .ranking import MOST_HITS, QueryEmbedder, Ranking, rank_memories
from .relevance_cutoff import SHARING
from .request import COMING
from .scope import make_scope

__all__ = ["search_memories"]

_WAITING_COUNTED = 10_000
# So many words of a question are looked at for terms of a filter.
_LOOKED_AT = 40


def search_memories(
    connection: apsw.Connection,
    query: str,
    *,
    filter: str = "",
    limit: int = 10,
    profile: Profile,
    embedder: QueryEmbedder | str,
    now: float,
    fade_threshold: float,
    exclude_session: str | None = None,
    nearest: bool = True,
    profile_note: str = "",
    alone: bool = False,
    within: str = "",
) -> SearchResult:
    """The best ``limit`` memories for a question in any words.

    ``embedder`` makes the question's vector; a string instead says why there are no vectors.
    ``exclude_session`` keeps the talk that is going on out of its own answers.
    ``profile_note``: what the reader should know about the profile.
    ``alone``: rank as if the memory held nothing but what passes the filter.
    ``within``: the filter outside of which there is nothing for whoever asks; no caution tells of it.
    ``nearest`` False: do not look for what is near in meaning only, which takes long where there is much.
    No query raises; FilterError for a bad filter, InputError for a limit outside 1 to 1,000.
    """
    started = time.perf_counter()
    if not 1 <= limit <= MOST_HITS:
        raise InputError(f"A search cannot return {limit!r} hits.", f"Give a limit from 1 to {MOST_HITS:,}.")
    compiled = compile_filter(filter, now, fade_threshold=fade_threshold)
    inside = make_scope(compiled, exclude_session=exclude_session, alone=alone)
    ranking = rank_memories(connection, query, inside, profile, embedder, nearest=nearest)
    known = cautions.visible_scope(within, now, fade_threshold=fade_threshold)
    arranged = cautions.behind_successors(connection, ranking.fused, now, known=known, most=limit)
    return SearchResult(
        query=query,
        filter=filter,
        profile=profile,
        hits=_make_hits(connection, ranking, arranged, limit, now),
        retrievers=ranking.reports,
        notes=(
            *([profile_note] if profile_note else []),
            *_completeness_notes(connection, ranking, embedder),
        ),
        terms=tuple(term.word for term in ranking.asked.question.terms),
        candidates=len(ranking.fused),
        milliseconds=(time.perf_counter() - started) * 1000.0,
    )


def _make_hits(
    connection: apsw.Connection, ranking: Ranking, arranged: cautions.Reordered, limit: int, now: float
) -> tuple[Hit, ...]:
    best = arranged.fused[:limit]
    found = {memory.rid: memory for memory in memories.by_rid(connection, [one.rid for one in best], now)}
    hits = []
    for number, one in enumerate(best, 1):
        memory = found[one.rid]
        retrievers = dict(one.retrievers)
        if "keyword" in retrievers:
            words = scored_documents.matched_words(ranking.asked.question, memory.content)
            retrievers["keyword"] = msgspec.structs.replace(retrievers["keyword"], matched=words)
        notes = arranged.cautions.get(one.rid, ())
        hits.append(Hit(rank=number, memory=memory, score=one.score, retrievers=retrievers, cautions=notes))
    return tuple(hits)


def _completeness_notes(
    connection: apsw.Connection, ranking: Ranking, embedder: QueryEmbedder | str
) -> tuple[str, ...]:
    """What the reader should know about how complete this answer is."""
    notes = []
    if terms := [word for word in ranking.asked.question.text.split()[:_LOOKED_AT] if reads_as_filter(word)]:
        notes.append(
            f"Looked for as words: {' '.join(terms)}. To filter, put that into the filter (--filter)."
        )
    if isinstance(embedder, str):
        if embedder != COMING and ranking.asked.question.rows:
            notes.append(f"Searched without vectors: {embedder}.")
    elif ranking.asked.profile.vector or ranking.asked.profile.word_vector:
        unavailable = {one.retriever: one.why for one in ranking.reports if one.state == "unavailable"}
        waiting = vectors.count_unembedded(connection, _WAITING_COUNTED + 1)
        if "vector" in unavailable:
            notes.append(f"Searched without vectors: {unavailable['vector']}.")
        elif (
            "word_vector" in unavailable and ranking.asked.profile.word_vector > profiles.DEFAULT.word_vector
        ):
            notes.append(f"Searched without vectors of words: {unavailable['word_vector']}.")
        elif waiting:
            several, whose = ("memory has", "its") if waiting == 1 else ("memories have", "their")
            many = f"{waiting:,}" if waiting <= _WAITING_COUNTED else f"More than {_WAITING_COUNTED:,}"
            notes.append(f"{many} {several} no vector yet: only {whose} words can be found.")
    if ranking.asked.question.dropped:
        notes.append(
            f"Only the {len(ranking.asked.question.terms)} rarest words were looked for; "
            f"{ranking.asked.question.dropped:,} were left out."
        )
    if _only_near_in_meaning(ranking):
        notes.append(
            "Nothing has any of these words: these hits are only near in meaning, which may be chance."
        )
    if not ranking.fused and ranking.asked.scope.filter.terms:
        culprit = which_term_removes_all(connection, ranking.asked.scope.filter)
        if culprit is not None:
            notes.append(f"The filter lets nothing through: {culprit.term}")
    return tuple(notes)


def _only_near_in_meaning(ranking: Ranking) -> bool:
    """Whether words and names were looked for, and no hit has one of them: a made-up word has a vector too."""
    named = any(not SHARING.isdisjoint(one.retrievers) for one in ranking.fused)
    return bool(ranking.fused) and ranking.asked.profile.keyword > 0.0 and not named
