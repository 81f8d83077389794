"""Search: profiles, hits, explanations, recalls."""

from __future__ import annotations

from typing import Literal

from .base import Record
from .memories import Caution, MemoryRecord

RetrieverName = Literal["keyword", "vector", "word_vector", "entity", "context"]


class Profile(Record):
    """Everything that decides a ranking (a profile can be saved under a name).

    ``fusion``: ``rrf`` sums weight / (k + rank); ``score`` sums weight * share, where an retriever's share says
    how much of the question a memory answers (0 to about 1).
    ``depth``: how many candidates each retriever hands to fusion. ``floor``: the least cosine similarity
    at which a memory that has no word and no name of the question may appear.
    ``neighbours``: how much of what the turn before or after says counts for a turn (half of it two turns
    away); ``session``: how much of what its session's best turns score; ``facts``: how much of what a fact
    that was drawn from it scores. These belong to the context retriever, which takes no part in ``rrf``; nor does
    ``word_vector``, the weight of how near its words are in meaning to those of the question.
    """

    name: str = "default"
    fusion: Literal["rrf", "score"] = "score"
    k: int = 60
    keyword: float = 1.0
    vector: float = 0.25
    word_vector: float = 0.0
    entity: float = 0.1
    neighbours: float = 0.5
    session: float = 0.3
    facts: float = 0.35
    floor: float = 0.15
    depth: int = 100


class RetrieverHit(Record):
    """What one retriever said about one memory.

    ``rank`` counts from 1 in that retriever; ``score`` is the retriever's raw score (BM25, cosine similarity,
    number of matched entities); ``term`` is its part of the fused score: the terms of a hit add up
    to the hit's score. ``matched``: the words, entity names or neighbours that matched; of the word vector retriever the words of
    the question whose meaning is there.
    """

    rank: int
    score: float
    term: float
    matched: tuple[str, ...] = ()


class RetrieverReport(Record):
    """How an retriever took part: ``answered``, ``empty`` (it found nothing), ``off`` (weight 0), ``unavailable`` or
    ``coming`` (it waits for a network, and the search did not).
    """

    retriever: RetrieverName
    state: Literal["answered", "empty", "off", "unavailable", "coming"]
    found: int = 0
    why: str = ""
    milliseconds: float = 0.0


class Hit(Record):
    """One search result; ``rank`` counts from 1; ``retrievers`` holds the retrievers that found it.

    ``cautions``: what it tells that was corrected or forgotten since. It stands behind what took its place.
    """

    rank: int
    memory: MemoryRecord
    score: float
    retrievers: dict[RetrieverName, RetrieverHit]
    cautions: tuple[Caution, ...] = ()


class SearchResult(Record):
    """Hits in order, what each retriever did, and notes for the reader (what is missing, and why).

    ``candidates`` is the number of fused memories before ``limit``.
    """

    query: str
    filter: str
    profile: Profile
    hits: tuple[Hit, ...]
    retrievers: tuple[RetrieverReport, ...]
    notes: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    candidates: int = 0
    milliseconds: float = 0.0

    @property
    def best(self) -> float:
        """The highest score; the first hit can have less: what replaced a hit goes before it."""
        return max((hit.score for hit in self.hits), default=0.0)


class Explanation(Record):
    """Why a memory is, or is not, among the hits of a query.

    ``rank`` is its place in the fused list over everything that passes the filter (None when no retriever
    finds it); ``retrievers`` its exact place in each retriever; ``excluded`` what keeps it out, worst first;
    ``remedies`` what would bring it in. ``below``: nothing keeps it out, only ``limit`` others are above it.
    """

    query: str
    memory: MemoryRecord
    rank: int | None
    score: float
    limit: int
    retrievers: dict[RetrieverName, RetrieverHit]
    excluded: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    below: bool = False


class Recall(Record):
    """An agent was served these memories for ``query``.

    ``saved``: about how many tokens were not told, because they stood in the conversation already.
    """

    at: int
    agent: str
    query: str
    memory_ids: tuple[str, ...]
    session_id: str | None = None
    saved: int = 0


class LastServed(Record):
    """Memories that an agent got in a session (None: outside of any), the latest first; last at ``at``.

    ``answers``: the answers that they were part of, the latest first. A memory is named by the latest of them only.
    """

    agent: str
    at: int
    memories: tuple[MemoryRecord, ...]
    session_id: str | None = None
    answers: tuple[Recall, ...] = ()
