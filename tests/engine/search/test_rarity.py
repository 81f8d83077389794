"""Words are as rare as they are where the search looks."""

from __future__ import annotations

import pytest
from memtui.engine.records import Profile
from memtui.engine.search import filters, question, rarity
from memtui.engine.search.scope import scope
from memtui.engine.search.search import search
from memtui.engine.search.statistics import MEMORIES
from memtui.engine.store.file import open_file
from shelf import NOW, Book

TALK = ("Caroline, the support group was good", "Caroline paints", "Caroline, a good walk", "Caroline sleeps")
OTHERS = [f"the support of bridge {number} was good" for number in range(30)]
ASKED = "what support does Caroline get"


def rare(book: Book, filter: str) -> dict[str, float]:
    within = scope(filters.compile(filter, NOW))
    read = question.read(book.connection, ASKED, MEMORIES)
    return {term.stem: term.idf for term in rarity.within(book.connection, read, within).terms}


def test_a_conversation_among_others_is_searched_as_if_it_were_alone(book: Book) -> None:
    connections = open_file(":memory:")
    try:
        alone = Book(connections)
        for place, text in enumerate(TALK):
            alone.add(text, "episode", session="one/1", at=NOW + place)
            book.add(text, "episode", session="one/1", at=NOW + place)
        for place, text in enumerate(OTHERS):
            book.add(text, "episode", session="two/1", at=NOW + place)
        assert rare(book, "session:one/*") == pytest.approx(rare(alone, ""))
        assert rare(book, "") != pytest.approx(rare(alone, ""))
        ranked = [
            [
                hit.memory.content
                for hit in search(
                    one.connection, ASKED, filter=filter, profile=Profile(), embedder="off", now=NOW
                ).hits
            ]
            for one, filter in ((alone, ""), (book, "session:one/*"))
        ]
        assert ranked[0] == ranked[1] and ranked[0][0] == TALK[0]
    finally:
        connections.close()


def test_where_counting_would_take_long_the_whole_memory_counts(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (*TALK, *OTHERS):
        book.add(text, "episode", session="one/1")
    monkeypatch.setattr(rarity, "FEW", 3)
    assert rare(book, "session:one/*") == rare(book, "")
