"""Cosines mean something else with each model: Health and the context block go by the one that the file's vectors are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from memtui.engine.models import vectors
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.minilm import MiniLmEmbedder
from memtui.engine.review import near_duplicates
from memtui.engine.search import briefing, profiles
from shelf import NOW, Book, FakeEmbedder

FIRST = "The family eats fried fish"
Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Placed(FakeEmbedder):
    """Every text but the first one lies at ``cosine`` from it."""

    def __init__(self, model: type[OfflineEmbedder | MiniLmEmbedder], cosine: float) -> None:
        super().__init__()
        self.model_id, self.dims = model.model_id, model.dims
        self.aside = np.zeros(self.dims, np.float32)
        self.aside[:2] = cosine, (1 - cosine**2) ** 0.5

    def embed(self, texts: Iterable[str]) -> Matrix:
        return np.concatenate([self.embed_query(text) for text in texts])

    def embed_query(self, text: str, weight: Callable[[str], float] | None = None) -> Matrix:
        return (np.eye(1, self.dims, dtype=np.float32) if text == FIRST else self.aside[None, :]).copy()


def test_each_model_of_this_machine_was_measured() -> None:
    assert {OfflineEmbedder.model_id, MiniLmEmbedder.model_id} == set(vectors._MEASURED)
    assert vectors.thresholds_of("text-embedding-3-large@example.org") == vectors.thresholds_of(
        OfflineEmbedder.model_id
    )


@pytest.mark.parametrize(("model", "found"), [(OfflineEmbedder, 0), (MiniLmEmbedder, 1)])
def test_near_duplicates_are_as_near_as_the_model_puts_them(
    book: Book, model: type[OfflineEmbedder | MiniLmEmbedder], found: int
) -> None:
    embedder = Placed(model, 0.87)
    for text in (FIRST, "The family eats fish"):
        book.add(text, embedder=embedder)
    assert len(near_duplicates.duplicate_pairs(book.connection)[0]) == found


@pytest.mark.parametrize(("model", "told"), [(OfflineEmbedder, 1), (MiniLmEmbedder, 0)])
def test_a_fact_bears_on_a_prompt_as_the_model_puts_it(
    book: Book, model: type[OfflineEmbedder | MiniLmEmbedder], told: int
) -> None:
    embedder = Placed(model, 0.37)
    book.add(FIRST, embedder=embedder)
    block = briefing.build_block(
        book.connection,
        "supper tonight?",
        profile=profiles.DEFAULT,
        embedder=embedder,
        now=NOW,
        fade_threshold=0.05,
    )
    assert len(block.hits) == told
    # What is not near enough as a hit is told for its subject: supper is food.
    assert len(block.related) == 1 - told and not block.left_out
