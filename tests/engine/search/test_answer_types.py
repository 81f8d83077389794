"""What a question asks for, and who it is about, lift the turns that have it; the hit says so."""

from __future__ import annotations

import pytest
from memtui.engine.records import Profile, SearchResult
from memtui.engine.search.answer_types import READ, speakers_named, things_wanted
from memtui.engine.search.search import search_memories
from shelf import NOW, Book

HOUR = 3_600


def ask(book: Book, query: str) -> SearchResult:
    return search_memories(
        book.connection, query, profile=Profile(), embedder="none", now=NOW, fade_threshold=0.05
    )


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("When is the race?", "sunday 9 at the abbey", "at the abbey"),
        ("When is the race?", "we leave tmrw", "we leave"),
        ("Wann fahren wir?", "am Samstag in der Früh", "in der Früh"),
        ("How much was the boiler?", "he wants 85 quid", "he wants money"),
        ("How often did it rain?", "it rained twice", "it rained"),
        ("¿Cuántos hijos tiene?", "tiene tres", "tiene hijos"),
        ("Who brought the cake?", "that was Odile", "that was her"),
    ],
)
def test_an_answer_has_what_is_asked_for(question: str, has: str, lacks: str) -> None:
    [wanted] = things_wanted(question)
    assert wanted.is_in(has)
    assert not wanted.is_in(lacks)


def test_most_questions_ask_for_nothing_of_the_kind() -> None:
    assert things_wanted("What did Ada say about the garden?") == []


def test_only_the_beginning_of_a_long_text_is_looked_through() -> None:
    [wanted] = things_wanted("When is the race?")
    assert not wanted.is_in("x " * READ + "on sunday")


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("what did kit say?", "kit_kat"),
        ("What does Katharina do?", "kat"),
        ("What does Seb do?", "Sebastián"),
        ("Where does Grandad live?", "grandad bill"),
    ],
)
def test_a_question_names_a_speaker(question: str, role: str) -> None:
    assert speakers_named(question, [role, "Zoe"]) == {role}


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("what does the user eat?", "user"),
        ("What did the Assistant answer?", "assistant"),
        ("where is the bench?", "ben"),
        ("What is there to do?", "theo"),
        ("Al and Zoe", "albert"),
    ],
)
def test_other_words_name_no_speaker(question: str, role: str) -> None:
    assert role not in speakers_named(question, [role])


def test_the_turn_with_what_is_asked_for_comes_first_and_says_why(book: Book) -> None:
    for place, text in enumerate(("the race is on saturday I guess", "the race is on again I guess")):
        book.add(text, "episode", session=f"s{place}", role="user", at=NOW + place)
    first, second = ask(book, "When is the race?").hits
    assert "saturday" in first.memory.content
    assert "a time, as asked" in first.retrievers["context"].matched
    assert "a time, as asked" not in second.retrievers["context"].matched
    assert abs(sum(part.term for part in first.retrievers.values()) - first.score) <= 1e-9


def test_the_words_of_whom_a_question_names_come_first(book: Book) -> None:
    for place, role in enumerate(("beth", "kasia")):
        book.add("the boiler is broken", "episode", session=f"s{place}", role=role, at=NOW + place)
    first, second = ask(book, "Which boiler did Bethany mean?").hits
    assert first.memory.source_role == "beth"
    assert "said by beth" in first.retrievers["context"].matched
    assert "said by kasia" not in second.retrievers["context"].matched
