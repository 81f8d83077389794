"""Pieces of memories beside a prompt: how probably each answers it, and why.

A piece is a clause of a turn or a whole fact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.errors import DegradedError
from memtui.engine.records import MemoryRecord
from memtui.engine.store.tokens import STOP_WORDS

from . import lexicon, relevance
from .relevance import ClauseFeatures, PromptFeatures, Source, Vectors

MOST_READ_TWICE = 40
"""So many pieces, the best by their words, are compared with the prompt by the meaning of words."""
NEAR, NEAR_OF_ONE, NEAR_IMPERSONAL = 0.08, 0.15, 0.4
"""Cosine from which a fact is told for its meaning alone: for prompts of several words, of one, and for work about no person."""
Cosines = Callable[[Collection[int]], Mapping[int, float]]
"""Tells the cosine similarity of memories (rids) to the prompt by a model that reads sentences, of those with a vector."""

MEANING = "its meaning is near"
"""The reason where no word shows why."""
COMMON = 0.2
"""A word that says less than this share of what the rarest word of the prompt says is in nearly every text."""


class ScoredPiece(NamedTuple):
    """``score``: how probably it answers, 0 to 1; ``values``: the features that it is the sum of."""

    memory: MemoryRecord
    piece: ClauseFeatures
    score: float
    values: Mapping[str, float]


def score_pieces(
    read: PromptFeatures,
    pieces: Sequence[tuple[MemoryRecord, ClauseFeatures]],
    source: Source,
    *,
    with_meanings: bool,
    cosines: Cosines | None = None,
) -> list[ScoredPiece]:
    """The pieces, the best first, newer ones first among equals; where words have vectors, only the best are looked at."""
    by_words = [
        _score_piece(read, memory, piece, relevance.word_features(read, piece), source, "without vectors")
        for memory, piece in pieces
    ]
    if not with_meanings or not pieces:
        return _best_first(by_words)
    from .word_meanings import packaged_meanings

    best = by_words
    if len(pieces) > MOST_READ_TWICE:
        best = _best_first(by_words)[:MOST_READ_TWICE]
    try:
        nearness = relevance.compare_words(packaged_meanings(), read, [one.piece for one in best])
    except DegradedError:  # the search has said that there are no vectors
        return _best_first(by_words)
    near = cosines({one.memory.rid for one in best}) if cosines else {}
    found = []
    for memory, piece, _, values in best:
        cosine = near.get(memory.rid)
        vectors: Vectors = "with vectors" if cosine is None else "with sentence vectors"
        meant = relevance.with_meanings(read, piece, values, nearness, cosine)
        found.append(_score_piece(read, memory, piece, meant, source, vectors))
    return _best_first(found)


def describe_reasons(one: ScoredPiece, read: PromptFeatures) -> tuple[str, ...]:
    """Why it bears on the prompt, each a few words."""
    found = []
    least = COMMON * max(read.weights.values(), default=0.0)
    shared = [
        word for stem, word in read.words.items()
        if read.weights.get(stem, 0.0) > least and stem in one.piece.stems
    ]  # fmt: skip
    # An everyday word ("use", "last") shows something beside another, or where one thing is asked for.
    if read.factual or len(shared) > 1 or any(map(lexicon.is_discriminative, shared)):
        found += [f"words: {', '.join(shared)}"] if shared else []
    other = {
        word for _, answers in read.wordings for word in answers.find_in(one.piece.words, one.piece.plain)
    }
    if other := other.difference(read.words.values()):
        found.append(f"other words: {', '.join(sorted(other)[:3])}")
    for topic in lexicon.load_topics():
        if topic.name in read.topics and (words := topic.strong.listed_among(one.piece.words) - STOP_WORDS):
            found.append(f"{topic.name}: {', '.join(sorted(words)[:3])}")
    if one.values["people"]:
        found.append("the same people")
    if not found and (beside := [
        word for stem, word in read.words.items()
        if read.weights.get(stem, 0.0) > least and stem in one.piece.turn_stems and lexicon.is_discriminative(word)
    ]):  # fmt: skip
        found.append(f"said with: {', '.join(beside)}")
    if not found and one.values["likeness"] >= _nearness_of(read):
        found.append(MEANING)
    return tuple(found)


def _nearness_of(read: PromptFeatures) -> float:
    if not (read.factual or read.personal):
        return NEAR_IMPERSONAL
    return NEAR if len(read.weights) > 1 else NEAR_OF_ONE


def _score_piece(
    read: PromptFeatures,
    memory: MemoryRecord,
    piece: ClauseFeatures,
    values: Mapping[str, float],
    source: Source,
    vectors: Vectors,
) -> ScoredPiece:
    return ScoredPiece(memory, piece, relevance.answer_probability(read, values, source, vectors), values)


def _best_first(scored: Iterable[ScoredPiece]) -> list[ScoredPiece]:
    return sorted(scored, key=lambda one: (-one.score, -one.memory.event_time, -one.memory.rid))
