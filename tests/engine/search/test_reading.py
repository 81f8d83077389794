"""Counting words: in the index, and in what is read a second time."""

from __future__ import annotations

import random

import pytest
from memtui.engine.records import Hit, Profile
from memtui.engine.search import rerank, scored_documents, term_statistics
from memtui.engine.search.query import parse_query as read_question
from memtui.engine.search.search import search_memories
from memtui.engine.search.term_statistics import FACTS, MEMORIES
from shelf import NOW, Book, FakeEmbedder

WORDS_ONLY = Profile(vector=0.0, entity=0.0, neighbours=0.0, session=0.0, facts=0.0)


def ask(book: Book, query: str, **options: object) -> list[Hit]:
    given = {"profile": WORDS_ONLY, "embedder": "none", "now": NOW, "fade_threshold": 0.05, **options}
    return list(search_memories(book.connection, query, **given).hits)  # type: ignore[arg-type]


def test_counts_are_those_of_the_index_and_follow_its_growth(book: Book) -> None:
    for number in range(3):
        book.add(f"tea trains {number}")
    book.add("tea", "episode", session="s")
    memories, facts = (
        term_statistics.load(book.connection, MEMORIES),
        term_statistics.load(book.connection, FACTS),
    )
    assert (memories.rows, memories.document_count("tea"), memories.document_count("train")) == (4, 4, 3)
    assert (facts.rows, facts.document_count("tea"), facts.document_count("nothing")) == (3, 3, 0)
    assert facts.mean_length == pytest.approx(3 + 3)  # the words, and the date
    book.add("more tea")
    assert term_statistics.load(book.connection, MEMORIES).document_count("tea") == 5


def test_texts_passed_over_without_counting_have_none_of_the_words(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(4)
    roots = (
        "happ",
        "durab",
        "relat",
        "conflat",
        "siz",
        "pon",
        "valenc",
        "hop",
        "fl",
        "Straß",
        "caf\u00e9",
        "tr",
    )
    ends = [
        "y",
        "ies",
        "ied",
        "ing",
        "ed",
        "ational",
        "ility",
        "le",
        "ly",
        "ization",
        "izer",
        "ency",
        "s",
        "e",
        "ying",
        "iveness",
        "ator",
    ]
    rids = [
        book.add(" ".join(dice.choice(roots) + dice.choice(ends) for _ in range(3))).rid for _ in range(200)
    ]
    questions = [
        read_question(book.connection, dice.choice(roots) + dice.choice(ends), MEMORIES) for _ in range(60)
    ]
    told = [scored_documents.score_documents(book.connection, question, rids) for question in questions]
    monkeypatch.setattr(scored_documents, "_prefixes_of", lambda question: [""])
    assert told == [
        scored_documents.score_documents(book.connection, question, rids) for question in questions
    ]
    assert any(one.weights for found in told for one in found.values())


def test_rarer_words_weigh_more(book: Book) -> None:
    for number in range(20):
        book.add(f"tea {number}")
    book.add("walnut")
    walnut, tea = read_question(book.connection, "walnut tea", MEMORIES).terms
    assert (walnut.count, tea.count) == (1, 20)
    assert walnut.idf > 3 * tea.idf


def test_stop_words_are_left_out_unless_there_is_nothing_else(book: Book) -> None:
    def words(text: str) -> list[str]:
        return [term.word for term in read_question(book.connection, text, MEMORIES).terms]

    assert words("What did the user say about Berlin in May?") == ["user", "berlin", "may"]
    assert words("to be or not to be") == ["to", "be", "or", "not"]


def test_the_scores_are_bm25_with_the_two_constants(book: Book) -> None:
    book.add("tea tea cake")
    book.add("cake")
    [hit] = ask(book, "tea")
    [term] = read_question(book.connection, "tea", MEMORIES).terms
    length, mean = 3 + 3, (3 + 3 + 1 + 3) / 2
    k1, b = scored_documents.K1, scored_documents.B
    expected = term.idf * 2 * (k1 + 1) / (2 + k1 * (1 - b + b * length / mean))
    assert hit.retrievers["keyword"].score == pytest.approx(expected)
    assert hit.score == pytest.approx(rerank.NOTES * expected / (term.idf * (k1 + 1)))


def test_a_word_at_the_end_of_a_very_long_text_is_found(book: Book) -> None:
    book.add("filler words " * 1_000 + "walnut")
    book.add("something else")
    [hit] = ask(book, "walnut")
    assert hit.score > 0.0
    assert hit.retrievers["keyword"].matched == ("walnut",)


def test_a_question_is_seldom_the_answer(book: Book) -> None:
    book.add("you own a hamster", "episode", session="a", role="x")
    book.add("you own a hamster?", "episode", session="b", role="x")
    first, second = ask(book, "own a hamster")
    assert first.memory.content == "you own a hamster"
    assert second.score == pytest.approx(0.8 * first.score)


def test_what_the_words_found_is_compared_by_meaning_too(book: Book) -> None:
    embedder = FakeEmbedder({"walnut": {"tree": 1.0}})
    book.add("tree tree tree", embedder=embedder)
    book.add("walnut and a lot of oil", embedder=embedder)
    hits = ask(book, "walnut oil tree", profile=Profile(depth=1, entity=0.0), embedder=embedder)
    assert sorted(hit.retrievers["vector"].rank for hit in hits) == [1, 2]
