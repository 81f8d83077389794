"""One ranking: every retriever asked about one question in one scope, and what they found, fused."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import apsw
from msgspec.structs import replace

from memtui.engine.errors import DegradedError
from memtui.engine.models.vectors import quantise_rows
from memtui.engine.records import Profile, RetrieverName, RetrieverReport
from memtui.engine.store import vectors
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_stems

from . import profiles
from . import query as search_query
from .fusion import FusedCandidate, RetrieverCandidate, candidates_with_own_evidence, fuse_lists
from .query import ParsedQuery
from .request import QueryVector, SearchRequest
from .rerank import rerank_candidates
from .retriever_reports import make_reports
from .retrievers import context, entity, keyword
from .scope import Scope

if TYPE_CHECKING:
    from memtui.engine.models.embedders import StaticEmbedder, WordEmbedder
    from memtui.engine.models.vectors import FloatMatrix

    from .retrievers.vector_cache import VectorCache

MOST_HITS = 1_000
"""So many hits a search returns at most."""


class QueryEmbedder(Protocol):
    """What the vector retriever needs of an embedder."""

    def embed_query(self, text: str, weight: Callable[[str], float] | None = None) -> FloatMatrix:
        """The question as one row; ``weight`` says how rare a word is in the memory."""


class CachedVectors(NamedTuple):
    """An embedder for questions, and a copy of the vectors to compare them with."""

    embedder: QueryEmbedder
    vector_cache: VectorCache

    def embed_query(self, text: str, weight: Callable[[str], float] | None = None) -> FloatMatrix:
        return self.embedder.embed_query(text, weight)


class Ranking(NamedTuple):
    """What was asked, what the retrievers found, and all of it fused, best first.

    ``first_pass``: the keyword retriever's candidates with the score of FTS5.
    """

    asked: SearchRequest
    fused: list[FusedCandidate]
    reports: tuple[RetrieverReport, ...]
    first_pass: dict[int, float]
    entities: list[entity.NamedEntity]


def rank_memories(
    connection: apsw.Connection,
    text: str,
    scope: Scope,
    profile: Profile,
    embedder: QueryEmbedder | str,
    *,
    nearest: bool = True,
    only: int | None = None,
) -> Ranking:
    """Ask every retriever. ``embedder`` is a string when there is none: the reason. No question raises.

    Without ``nearest`` the vector retriever only judges what the other retrievers have found. ``only``: the one memory
    (rid) whose place is asked for. If no retriever can find it, nothing is read and fused, which is most of the work.
    """
    lap = _stopwatch()
    lists: dict[RetrieverName, list[RetrieverCandidate]] = {}
    wanted = search_query.parse_query(connection, text, scope.index, scope)
    inside = wanted.inside.rids if wanted.inside else None
    if inside is not None:
        scope = scope.only(inside)
    first = keyword.bm25_first_pass(connection, wanted, scope, profile.depth) if profile.keyword else []
    first_pass = {hit.rid: hit.score for hit in first}
    lists["keyword"] = [RetrieverCandidate(rid=hit.rid, score=hit.score, share=0.0) for hit in first]
    times: dict[RetrieverName, float] = {"keyword": lap()}

    entities = entity.entities_named(connection, wanted.text, inside) if profile.entity else []
    links = entity.linked_memories(connection, entities, scope, profile.depth) if entities else []
    known = {one for one in entities if one.mentions} | {one for link in links for one in link.entities}
    lists["entity"] = [
        RetrieverCandidate(
            rid=link.rid,
            score=float(len(link.entities)),
            share=sum(one.idf_share(wanted.rows) for one in link.entities) / len(known),
            matched=tuple(one.name for one in link.entities),
        )
        for link in links
    ]
    times["entity"] = lap()

    meaning, no_vectors = _query_vector(connection, wanted, profile, embedder)
    near: list[keyword.KeywordHits] = []
    if meaning and nearest and profile.vector:
        from .retrievers import vector  # a hook, which has no vectors, is quicker without it

        near = vector.nearest_memories(
            connection, meaning.space, meaning.query, scope, profile.depth, meaning.vector_cache, inside
        )
    if profile == profiles.DEFAULT and not (meaning and meaning.words):
        profile = replace(profile, word_vector=0.0)  # it does without where the model has no vectors of words
    lists["vector"] = [
        RetrieverCandidate(rid=hit.rid, score=hit.score, share=max(0.0, hit.score)) for hit in near
    ]
    times["vector"] = lap()

    request = SearchRequest(wanted, scope, profile, meaning)
    if only is not None and not _may_be_found(connection, only, lists):
        return Ranking(request, [], (), first_pass, entities)
    times["word_vector"] = (
        rerank_candidates(connection, request, first_pass, lists) if profile.fusion == "score" else 0.0
    )
    below = _drop_below_floor(lists, profile)
    times["context"] = lap() - times["word_vector"]
    names = [one.name for one in entities]
    no_words = no_vectors or _no_words(connection, meaning)
    reports = make_reports(
        request, lists, times, names=names, no_vectors=no_vectors, no_words=no_words, below=below
    )
    return Ranking(request, fuse_lists(lists, profile), reports, first_pass, entities)


def _may_be_found(
    connection: apsw.Connection, rid: int, lists: dict[RetrieverName, list[RetrieverCandidate]]
) -> bool:
    """Whether a memory is among the candidates, or the context retriever may add it to them.

    That one adds turns beside a candidate, and turns that a fact among them was drawn from.
    """
    pool = {candidate.rid for candidates in lists.values() for candidate in candidates}
    if rid in pool or not pool.isdisjoint(context.neighbouring_turns(connection, [rid])):
        return True
    derived_rows = connection.execute(
        "SELECT f.rid FROM memories m JOIN memory_links l ON l.to_id = m.id AND l.rel = 'source' "
        "JOIN memories f ON f.id = l.from_id WHERE m.rid = ?",
        (rid,),
    )
    if any(fact in pool for (fact,) in derived_rows):
        return True
    # The turns around one that was forgotten do not name it as theirs.
    ended = "SELECT 1 FROM memories WHERE rid IN (SELECT value FROM json_each(?)) AND valid_until IS NOT NULL LIMIT 1"
    return connection.execute(ended, (as_json(pool),)).fetchone() is not None


def _query_vector(
    connection: apsw.Connection, parsed_query: ParsedQuery, profile: Profile, embedder: QueryEmbedder | str
) -> tuple[QueryVector | None, str]:
    """The question's vector; or None and the reason, which is empty when it lies with the question itself."""
    if isinstance(embedder, str):
        return None, embedder
    space = vectors.vector_space(connection)
    if space is None:
        return None, "no memory has a vector yet"
    if not (profile.vector or profile.word_vector) or not (parsed_query.terms or parsed_query.characters):
        return None, ""  # "???" has a vector, and means nothing
    telling = {term.stem: term.idf for term in parsed_query.terms}
    least = min(telling.values(), default=1.0)

    def weigh(word: str, otherwise: float = least) -> float:
        """What is not looked for, as it says little, weighs as much as the word that says least."""
        return telling.get((text_stems(word) or [word])[0], otherwise)

    words, static = None, None
    try:
        query = _quantised_query(embedder, parsed_query.text, weigh)
        if profile.word_vector and any(query):
            if words_of := _word_embedder(connection, embedder):
                words = words_of.question_words(parsed_query.text, lambda word: weigh(word, 0.0))
            elif static := _static_embedder(embedder):
                from .retrievers.late_interaction import static_question_words

                words = static_question_words(static, parsed_query)
    except DegradedError as error:
        return None, error.message.removesuffix(".")
    if len(query) != space.dims:
        return None, f"the model makes {len(query)} dimensions, the memory has {space.dims}"
    vector_cache = embedder.vector_cache if isinstance(embedder, CachedVectors) else None
    return (QueryVector(query, space, vector_cache, words, static), "") if any(query) else (None, "")


def _quantised_query(embedder: QueryEmbedder, text: str, weight: Callable[[str], float]) -> bytes:
    """The question's vector as the file's vectors are compared with it."""
    from memtui.engine.models.embedders import OfflineEmbedder

    made_by = embedder.embedder if isinstance(embedder, CachedVectors) else embedder
    if isinstance(made_by, OfflineEmbedder):
        return made_by.quantised_query(text, weight)
    blob: bytes = quantise_rows(made_by.embed_query(text, weight))[0].tobytes()
    return blob


def _word_embedder(connection: apsw.Connection, embedder: QueryEmbedder) -> WordEmbedder | None:
    """What makes vectors of words like those that the file has, if it has any."""
    from memtui.engine.models.embedders import WordEmbedder

    made_by = embedder.embedder if isinstance(embedder, CachedVectors) else embedder
    dims = vectors.word_vector_dims(connection)
    return made_by if isinstance(made_by, WordEmbedder) and made_by.word_vector_dims == dims else None


def _static_embedder(embedder: QueryEmbedder) -> StaticEmbedder | None:
    from memtui.engine.models.embedders import StaticEmbedder

    made_by = embedder.embedder if isinstance(embedder, CachedVectors) else embedder
    return made_by if isinstance(made_by, StaticEmbedder) else None


def _no_words(connection: apsw.Connection, meaning: QueryVector | None) -> str:
    """Why the word vector retriever cannot take part, where that does not lie with the question."""
    if meaning is None or meaning.words is not None:
        return ""
    return "this memory's model makes no vectors of words; minilm does (embedder.kind, then memtui embed)"


def _drop_below_floor(lists: dict[RetrieverName, list[RetrieverCandidate]], profile: Profile) -> int:
    """Take out what is near under the floor and nothing else answers for; returns how many."""
    kept = candidates_with_own_evidence(lists, profile).union(one.rid for one in lists.get("context", ()))
    found = len(lists["vector"])
    for retriever in ("vector", "word_vector"):
        lists[retriever] = [one for one in lists.get(retriever, ()) if one.rid in kept]
    return found - len(lists["vector"])


def _stopwatch() -> Callable[[], float]:
    """Milliseconds since the last call."""
    last = time.perf_counter()

    def lap() -> float:
        nonlocal last
        before, last = last, time.perf_counter()
        return (last - before) * 1000.0

    return lap
