"""The word vector retriever: word by word, a judge of what others found; said where it cannot take part."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from memtui.engine.models.embedders import QuestionWords
from memtui.engine.models.vectors import quantise_rows
from memtui.engine.records import Hit, Profile, SearchResult
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search import profiles, rerank
from memtui.engine.search import query as search_query
from memtui.engine.search.retrievers import keyword, late_interaction
from memtui.engine.search.retrievers.late_interaction import score_words
from memtui.engine.search.search import search_memories
from memtui.engine.search.term_statistics import MEMORIES
from memtui.engine.store import vectors
from memtui.engine.store.vectors import WordRows
from msgspec.structs import replace
from shelf import NOW, Book, FakeEmbedder, StaticEmbedder, WordEmbedder

LIKE = {"purchase": {"bought": 1.0}, "store": {"shop": 1.0}}
LATE = profiles.LATE


def find(
    book: Book, query: str, profile: Profile = LATE, embedder: FakeEmbedder | str | None = None
) -> SearchResult:
    return search_memories(
        book.connection,
        query,
        profile=profile,
        embedder=embedder or WordEmbedder(LIKE),
        now=NOW,
        fade_threshold=0.05,
        limit=50,
    )


def filled(book: Book, embedder: FakeEmbedder) -> None:
    for text in (
        "Ada bought walnuts at a shop near the harbour before the long ferry home to the islands",
        "A store of wisdom",
        "Cole sings",
    ):
        book.add(text, embedder=embedder)


def of(result: SearchResult, start: str) -> Hit:
    return next(hit for hit in result.hits if hit.memory.content.startswith(start))


def test_the_meaning_of_a_word_in_a_long_text_counts(book: Book) -> None:
    embedder = WordEmbedder(LIKE)
    filled(book, embedder)
    query = "what did somebody purchase in the store?"
    result = find(book, query, embedder=embedder)
    bought, wisdom = of(result, "Ada"), of(result, "A store")
    assert bought.retrievers["word_vector"].score > wisdom.retrievers["word_vector"].score
    assert set(bought.retrievers["word_vector"].matched) == {"purchase", "store"}
    assert wisdom.retrievers["word_vector"].matched == ("store",)
    assert bought.retrievers["word_vector"].term == pytest.approx(
        LATE.word_vector * bought.retrievers["word_vector"].score
    )
    without = find(book, query, Profile(vector=LATE.vector), embedder)
    assert "word_vector" not in of(without, "Ada").retrievers
    gained = of(result, "Ada").score - of(without, "Ada").score
    assert gained > of(result, "A store").score - of(without, "A store").score


def test_its_time_is_its_own(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(book, embedder := WordEmbedder(LIKE))
    clock = [0.0]

    def slowly(*given: Any) -> Any:
        clock[0] += 0.02
        return score_words(*given)

    monkeypatch.setattr(late_interaction, "score_words", slowly)
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    took = {one.retriever: one.milliseconds for one in find(book, "store", embedder=embedder).retrievers}
    assert took["word_vector"] >= 20.0
    assert took["context"] == pytest.approx(0.0)


def test_it_finds_nothing_by_itself(book: Book) -> None:
    embedder = WordEmbedder(LIKE)
    filled(book, embedder)
    alone = Profile(
        keyword=0.0, vector=0.0, entity=0.0, neighbours=0.0, session=0.0, facts=0.0, word_vector=1.0
    )
    result = find(book, "purchase", alone, embedder)
    assert not result.hits
    [report] = [one for one in result.retrievers if one.retriever == "word_vector"]
    assert (report.state, report.why) == (
        "empty",
        "nothing that the other retrievers found has vectors of words",
    )


def test_what_is_near_by_its_vector_alone_and_under_the_floor_stays_out(book: Book) -> None:
    embedder = WordEmbedder(LIKE)
    filled(book, embedder)
    alone = Profile(entity=0.0, neighbours=0.0, session=0.0, facts=0.0, word_vector=1.0)
    query = "a store of wisdom"
    assert {
        hit.memory.content[:3] for hit in find(book, query, replace(alone, floor=-1.0), embedder).hits
    } > {"A s"}
    result = find(book, query, replace(alone, floor=0.9), embedder)
    assert [hit.memory.content for hit in result.hits] == ["A store of wisdom"]


def test_a_score_is_the_same_whoever_stands_beside(book: Book) -> None:
    rng = np.random.default_rng(5)
    space = VectorSpace("fake-words", 64)
    notes = [book.add(f"note {number}") for number in range(40)]
    texts = {
        one.rid: rng.standard_normal((1 + number % 7, 64), np.float32) for number, one in enumerate(notes)
    }
    texts[notes[3].rid] = np.zeros((0, 64), np.float32)
    with book.writing() as connection:
        rows = [(rid, bytes([1] * 64)) for rid in texts]
        of_words = WordRows(64, {rid: quantise_rows(matrix).tobytes() for rid, matrix in texts.items()})
        vectors.store_int8(connection, space, rows, of_words)
    asked = rng.standard_normal((5, 64), np.float32)
    words = QuestionWords(quantise_rows(asked), (1.0, 2.0, 0.5, 3.0, 1.0), ("a", "b", "c", "d", "e"))
    together = {one.rid: one for one in score_words(book.connection, space, words, list(texts))}
    assert notes[3].rid not in together and len(together) == 39
    for rid, one in together.items():
        assert score_words(book.connection, space, words, [rid]) == [one]
        unit = texts[rid] / np.linalg.norm(texts[rid], axis=1, keepdims=True)
        best = np.maximum((unit @ (asked / np.linalg.norm(asked, axis=1, keepdims=True)).T).max(axis=0), 0)
        assert one.score == pytest.approx(best @ np.array(words.weights) / 7.5, abs=0.02)


@pytest.mark.parametrize("turned", [True, False])
def test_a_memory_without_vectors_of_words_says_so(book: Book, turned: bool) -> None:
    embedder = FakeEmbedder()
    filled(book, embedder)
    result = find(book, "purchase a store", LATE if turned else Profile(), embedder)
    assert any("without vectors of words" in note for note in result.notes) == turned
    assert {report.retriever: report.state for report in result.retrievers}.get("word_vector") == (
        "unavailable" if turned else None
    )
    assert result.hits


def test_without_any_vectors_that_is_what_is_said(book: Book) -> None:
    filled(book, WordEmbedder(LIKE))
    result = find(book, "store", embedder="the model is not installed")
    assert result.notes == ("Searched without vectors: the model is not installed.",)
    assert {one.retriever: one.state for one in result.retrievers}["word_vector"] == "unavailable"


def test_in_rrf_it_takes_no_part(book: Book) -> None:
    embedder = WordEmbedder(LIKE)
    filled(book, embedder)
    result = find(book, "purchase store", Profile(fusion="rrf", word_vector=1.0), embedder)
    assert result.hits and all("word_vector" not in hit.retrievers for hit in result.hits)
    assert "word_vector" not in {report.retriever for report in result.retrievers}


def test_static_vectors_are_looked_up_in_the_texts(book: Book) -> None:
    """Nothing is stored for them; the score is the weighted mean of the best cosines, and the word is named."""
    filled(book, embedder := StaticEmbedder(LIKE))
    result = find(book, "purchase a store", profiles.DEFAULT, embedder)
    assert not vectors.word_vector_dims(book.connection)
    bought, wisdom = of(result, "Ada"), of(result, "A store")
    assert bought.retrievers["word_vector"].matched == ("purchase", "store")
    assert wisdom.retrievers["word_vector"].matched == ("store",)
    assert bought.retrievers["word_vector"].score == pytest.approx(0.5**0.5, abs=0.01)
    assert bought.retrievers["word_vector"].term == pytest.approx(
        profiles.DEFAULT.word_vector * bought.retrievers["word_vector"].score
    )


def test_words_that_are_near_by_themselves_answer(book: Book) -> None:
    """In a text that as a whole is below the floor; not where they are below it too."""
    embedder = StaticEmbedder({"store": {"shop": 1.0}})
    long = "one wide hall stands beside many old oak trees near another river"
    book.add(f"{long} shop", embedder=embedder)
    book.add(f"{long} barn", embedder=embedder)
    plain = replace(profiles.DEFAULT, floor=0.3)
    assert [hit.memory.content[-4:] for hit in find(book, "store", plain, embedder).hits] == ["shop"]
    assert not find(book, "store", replace(plain, floor=0.9), embedder).hits


def test_a_lone_letter_means_nothing(book: Book) -> None:
    embedder = StaticEmbedder({"k": {"kitten": 1.0}})
    texts = {1: "thx k", 2: "thx 7", 3: "kitten 猫"}
    asked = search_query.parse_query(book.connection, "kitten", MEMORIES)
    words = late_interaction.static_question_words(embedder, asked)
    assert words is not None
    scored = late_interaction.score_static_words(embedder, words, texts, 0.15)
    assert {one.rid: round(one.score, 2) for one in scored} == {1: 0.0, 2: 0.0, 3: 1.0}


def test_a_score_by_static_vectors_is_the_same_whoever_stands_beside(book: Book) -> None:
    embedder = StaticEmbedder(LIKE)
    texts = {number: f"shop {number} near store {number % 3} bought" for number in range(9)}
    asked = search_query.parse_query(book.connection, "purchase store", MEMORIES)
    words = late_interaction.static_question_words(embedder, asked)
    assert words is not None
    together = late_interaction.score_static_words(embedder, words, texts, 0.15)
    assert len(together) == len(texts)
    for one in together:
        alone = {one.rid: texts[one.rid]}
        assert late_interaction.score_static_words(embedder, words, alone, 0.15) == [one]


@pytest.mark.parametrize("most", ["STATIC_WORDS", "STATIC_WORDS_OF_MANY"])
def test_words_are_looked_up_in_the_best_texts_only(
    book: Book, monkeypatch: pytest.MonkeyPatch, most: str
) -> None:
    filled(book, embedder := StaticEmbedder(LIKE))
    monkeypatch.setattr(rerank, most, 4)
    if most == "STATIC_WORDS_OF_MANY":
        monkeypatch.setattr(keyword, "GATE_FROM", 2)
    alone = replace(profiles.DEFAULT, floor=-1.0, neighbours=0.0, session=0.0, facts=0.0)
    result = find(book, "purchase a store", alone, embedder)
    judged = [hit.memory.content for hit in result.hits if "word_vector" in hit.retrievers]
    assert judged == ["A store of wisdom"]


def test_the_default_does_without_where_the_model_has_no_words(book: Book) -> None:
    filled(book, embedder := FakeEmbedder())
    result = find(book, "purchase a store", profiles.DEFAULT, embedder)
    assert result.hits and not result.notes
    assert "word_vector" not in {report.retriever for report in result.retrievers}
