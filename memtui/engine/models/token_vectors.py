"""Vectors of single words in their sentences, beside the one of a whole text: what a model may make that can.

A text keeps one short int8 row for each word that says something, one after another in a BLOB. A question is
compared with them word by word, so that "the store" finds "my shop" in the middle of a long turn about other things.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from .embedders import Embedder, WordWeight

if TYPE_CHECKING:
    from .vectors import ByteMatrix, FloatMatrix


class QuestionWords(NamedTuple):
    """The words of a question that count: int8 ``rows`` (n, word_dims), how much each counts, which word it is part of."""

    rows: ByteMatrix
    weights: tuple[float, ...]
    words: tuple[str, ...]


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """An embedder that makes vectors of words too. It reads a turn with the name of who said it before it."""

    @property
    def word_dims(self) -> int: ...

    def embed_words(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes]]:
        """What ``embed`` gives, and for each text the rows of its words (a whole number of ``word_dims`` bytes)."""

    def question_words(self, text: str, weight: WordWeight) -> QuestionWords:
        """``weight`` is asked for whole lower-case words; where it gives none any, all count alike."""


def word_dims(embedder: Embedder) -> int:
    """How many numbers it gives each word; 0 where it gives words none."""
    return embedder.word_dims if isinstance(embedder, WordEmbedder) else 0


def embed(embedder: Embedder, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes] | None]:
    """The vectors of texts, and of their words where the model makes them."""
    if isinstance(embedder, WordEmbedder):
        return embedder.embed_words(texts)
    return embedder.embed(texts), None
