"""A fact is judged by what it was said with too, and by the cosine similarity of a model that reads sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal

import pytest
from memtui import Memory
from memtui.engine.models.minilm import MiniLmEmbedder
from memtui.engine.records import Options
from memtui.engine.search import relevance, scoring
from memtui.engine.search.clauses import Clause

HALL = "29 November, Lalitha Gardens hall"
OTHERS = (
    "I work at the library on Mondays. My car is a red Kia. I moved to Leith in May. My boss is called Imran."
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        memory.record_turn("s1", "user", f"Is the wedding of my sister settled? Yes! {HALL}.", 1.77e9)
        memory.record_turn("s2", "user", OTHERS, 1.77e9 + 9_000)
        asyncio.run(memory.consolidate())
        memory.models.index_pending()
        yield memory


def test_a_fact_answers_by_a_word_that_it_was_said_with(memory: Memory) -> None:
    block = memory.context("When is the wedding?")
    told = {one.memory.content: one.reasons for one in block.related}
    assert told[HALL] == ("said with: wedding",)


def test_words_of_a_turn_outside_the_filter_have_no_part_in_it(memory: Memory) -> None:
    """The fact passes the filter and its turn does not: an agent must not learn from the choice what was said there."""
    facts = memory.view.rows([int(rid) for part in memory.view.rids("kind:fact") for rid in part])
    for fact in facts:
        memory.tag(fact.id, add=["shared"])
    block = memory.context("When is the wedding?", filter="tag:shared", alone=True)
    assert HALL in [one.content for one in facts]
    assert HALL not in [one.memory.content for one in block.related]


def test_a_fact_whose_sentence_is_nearer_answers_more_probably(memory: Memory) -> None:
    read = relevance.read_prompt("Which instrument do I play?", {})
    fact = next(iter(memory.view.rows([int(next(iter(next(iter(memory.view.rids("kind:fact"))))))])))
    text = "Sits at the piano for an hour each evening"
    piece = relevance.read_piece(Clause(text=text, asks=False), frozenset(), 0.0)
    assert MiniLmEmbedder.model_id in relevance.SENTENCE_MODELS

    def score(cosines: Callable[[Collection[int]], dict[int, float]] | None) -> float:
        (one,) = scoring.score_pieces(read, [(fact, piece)], "facts", with_meanings=True, cosines=cosines)
        return one.score

    far, near = score(lambda rids: dict.fromkeys(rids, 0.1)), score(lambda rids: dict.fromkeys(rids, 0.6))
    assert near > 2 * far
    assert score(lambda rids: {}) == score(None), "without a vector it is judged by the words' vectors"


def test_only_a_model_that_was_measured_gives_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    embedders: tuple[Literal["offline", "minilm"], ...] = ("offline", "minilm")
    found: list[bool] = []
    scored = scoring.score_pieces

    def noting(*given: Any, cosines: Any, **more: Any) -> list[scoring.ScoredPiece]:
        found.append(cosines is not None)
        return scored(*given, cosines=cosines, **more)

    monkeypatch.setattr(scoring, "score_pieces", noting)
    for embedder in embedders:
        with Memory.open(":memory:", options=Options(embedder=embedder, background=False)) as memory:
            memory.remember("Plays the piano for an hour each evening")
            memory.models.index_pending()
            assert "piano" in memory.context("Which instrument do I play?").text
    assert not found[0]
    assert found[-1]
