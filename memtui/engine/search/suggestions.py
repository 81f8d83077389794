"""What would bring a memory among the hits: each change is tried before it is said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import apsw
import msgspec

from memtui.engine.records import MemoryRecord, Profile, RetrieverHit, RetrieverName
from memtui.engine.store.tokens import STOP_WORDS
from memtui.engine.store.vectors import KNN_LIMIT

from . import scored_documents
from .cautions import behind_successors
from .fusion import retriever_weight
from .query import parse_query
from .ranking import MOST_HITS, QueryEmbedder, Ranking, rank_memories
from .scope import Scope

MOST_DEPTH = KNN_LIMIT
_WORDS = 3


class SearchTrial(NamedTuple):
    """A search for one memory that can be tried with changes. ``steps``: what is done in every remedy before; ``known``:
    what there is for whoever asks, None for all.

    Its remedies are lists of one sentence, or empty where the change would not help.
    """

    connection: apsw.Connection
    query: str
    scope: Scope
    profile: Profile
    embedder: QueryEmbedder | str
    memory: MemoryRecord
    limit: int
    steps: Sequence[str]
    known: Scope | None = None

    def rank_with(self, *, query: str | None = None, profile: Profile | None = None) -> Ranking:
        found = rank_memories(
            self.connection, self.query if query is None else query, self.scope, profile or self.profile, self.embedder,
            only=self.memory.rid,
        )  # fmt: skip
        return found._replace(
            fused=behind_successors(self.connection, found.fused, 0.0, known=self.known).fused
        )

    def position(self, ranking: Ranking) -> int | None:
        """Of the memory, from 0; None when it is not there."""
        rid = self.memory.rid
        return next((position for position, one in enumerate(ranking.fused) if one.rid == rid), None)

    def suggestion_sentence(self, steps: Sequence[str], position: int | None) -> list[str]:
        """The remedy of these steps, after which the memory stands at ``position``."""
        if position is None or position >= MOST_HITS:
            return []
        more = [f"ask for {position + 1} or more hits"] if position >= self.limit else []
        steps_text = " and ".join([*self.steps, *steps, *more])
        return [f"{steps_text[0].upper()}{steps_text[1:]}."] if steps_text else []

    def try_more_words(self, ranking: Ranking) -> list[str]:
        """The fewest of its rarest words that help, added to the question."""
        words = self._rare_words(ranking) if self.profile.keyword else []
        best: tuple[int, list[str]] | None = None
        for count in range(1, len(words) + 1):
            added = words[:count]
            position = self.position(self.rank_with(query=f"{self.query} {' '.join(added)}"))
            if position is not None and (best is None or position < best[0]):
                best = position, added
            if position is not None and position < self.limit:
                break
        if best is None:
            return []
        several = "word" if len(best[1]) == 1 else "words"
        return self.suggestion_sentence([f"use the {several} {', '.join(best[1])}"], best[0])

    def try_deeper(self, retrievers: Mapping[RetrieverName, RetrieverHit]) -> list[str]:
        """A depth at which an retriever reaches it."""
        ranks = [
            hit.rank
            for retriever, hit in retrievers.items()
            if retriever not in ("word_vector", "context") and retriever_weight(self.profile, retriever)
        ]
        for depth in sorted({min(ranks, default=MOST_DEPTH), MOST_DEPTH}):
            if self.profile.depth < depth <= MOST_DEPTH:
                deeper = msgspec.structs.replace(self.profile, depth=depth)
                position = self.position(self.rank_with(profile=deeper))
                if sentence := self.suggestion_sentence([f"raise the profile's depth to {depth}"], position):
                    return sentence
        return []

    def lower_floor(self, cosine: float) -> list[str]:
        floor = max(math.floor(cosine * 100) / 100, -1.0)
        position = self.position(self.rank_with(profile=msgspec.structs.replace(self.profile, floor=floor)))
        return self.suggestion_sentence([f"lower the floor to {floor:.2f}"], position)

    def try_weight(self, retriever: Literal["keyword", "vector"], weight: float) -> list[str]:
        """With an retriever that the profile does without."""
        changes = {retriever: weight}
        position = self.position(self.rank_with(profile=msgspec.structs.replace(self.profile, **changes)))
        return self.suggestion_sentence([f"give the {retriever} retriever a weight of {weight:g}"], position)

    def _rare_words(self, ranking: Ranking) -> list[str]:
        """The rarest words of a memory that say something: no parts like the s of "Ada's", no bare numbers."""
        query_stems = {term.stem for term in ranking.asked.question.terms}
        text = self.memory.content[: scored_documents.MAX_CHARACTERS]
        terms = parse_query(self.connection, text, self.scope.index, self.scope).terms
        words = [
            term.word
            for term in sorted(terms, key=lambda term: -term.idf)
            if term.word not in STOP_WORDS
            and term.stem not in query_stems
            and any(map(str.isalpha, term.word))
            and (len(term.word) > 2 or not term.word.isascii())
        ]
        return words[:_WORDS]
