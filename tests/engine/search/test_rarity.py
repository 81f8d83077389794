"""Words are as rare as they are where the search looks: a filtered search is one of a memory that holds no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memtui.engine.records import Profile, SearchResult
from memtui.engine.search import query as search_query
from memtui.engine.search import subset_statistics
from memtui.engine.search.explanation import explain_place
from memtui.engine.search.filters import compiler
from memtui.engine.search.profiles import RRF
from memtui.engine.search.scope import make_scope
from memtui.engine.search.search import search_memories
from memtui.engine.search.term_statistics import MEMORIES
from memtui.engine.store.file import open_file
from shelf import NOW, Book, FakeEmbedder

from sizes import examples

WORDS = (
    "tea",
    "green",
    "mountain",
    "walnut",
    "river",
    "Ada",
    "Cole",
    "why?",
    "чай",
    "茶道",
    "抹茶",
    "the",
    "กรุงเทพ",
)
QUESTIONS = (
    "green tea for Ada", "tea and walnut for Ada and Cole", "mountain river walnut", "tea", "чай", "茶道 抹茶", "茶", "the",
    "กรุงเทพ", "gooseberry", "???",
)  # fmt: skip
MINE = "tag:mine"


class Told(NamedTuple):
    words: list[str]
    kind: str
    mine: bool


told = st.builds(
    Told,
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=7),
    st.sampled_from(("fact", "episode", "episode", "reflection")),
    st.booleans(),
)


@contextmanager
def book_of(stories: list[Told]) -> Iterator[dict[str, Any]]:
    """A memory of them, and what to say to ``search``."""
    connections = open_file(":memory:")
    embedder = FakeEmbedder({"tea": {"walnut": 0.7}})
    embedder.known = {
        word: place for place, word in enumerate(("tea", "walnut", "green", "mountain", "river", "the"))
    }
    try:
        book = Book(connections)
        turns: dict[bool, str] = {}
        for number, (words, kind, mine) in enumerate(stories):
            memory = book.add(
                f"{' '.join(words)} n{number}", kind, session=f"talk {mine}" if kind == "episode" else None,
                at=NOW - 1_000 + number, tags=["mine"] if mine else [], embedder=embedder,
                about=[word for word in words if word in ("Ada", "Cole")],
            )  # fmt: skip
            if kind == "episode":
                turns[mine] = memory.id
            elif mine in turns:
                with book.writing() as connection:
                    connection.execute(
                        "INSERT INTO memory_links(from_id, rel, to_id) VALUES (?, 'source', ?)",
                        (memory.id, turns[mine]),
                    )
        yield {"connection": book.connection, "embedder": embedder, "now": NOW, "fade_threshold": 0.05}
    finally:
        connections.close()


def ranked(result: SearchResult) -> list[tuple[str, float]]:
    """Without the number at the end, which tells the memories of a book apart and is another elsewhere."""
    return [(hit.memory.content, hit.score) for hit in result.hits]


def _turns(mine: str, others: str) -> list[Told]:
    """A turn for each word."""
    return [Told([word, "green"], "episode", True) for word in mine.split()] + [
        Told([word], "episode", False) for word in others.split()
    ]


@settings(max_examples=examples(12), deadline=None)
@example(_turns("Ada tea tea", "Cole Cole tea"), "tea for Ada and Cole", Profile())
@example(_turns("茶道 抹茶 抹茶 抹茶", "茶道 茶道 茶道 茶道 茶道 茶道 tea"), "茶道 抹茶", Profile(depth=1))
@given(
    st.lists(told, min_size=6, max_size=24),
    st.sampled_from(QUESTIONS),
    st.sampled_from((Profile(), Profile(), RRF, Profile(depth=2), Profile(floor=-1.0, depth=3))),
)
def test_a_filter_answers_as_a_memory_that_holds_nothing_else(
    stories: list[Told], query: str, profile: Profile
) -> None:
    numbered = [story._replace(words=[*story.words, f"m{place}"]) for place, story in enumerate(stories)]
    with book_of(numbered) as everything, book_of([story for story in numbered if story.mine]) as alone:
        found = search_memories(query=query, profile=profile, filter=MINE, limit=100, **everything)
        wanted = search_memories(query=query, profile=profile, limit=100, **alone)
        assert [_mark(text) for text, _ in ranked(found)] == [_mark(text) for text, _ in ranked(wanted)]
        assert [score for _, score in ranked(found)] == pytest.approx(
            [score for _, score in ranked(wanted)], abs=1e-9
        )
        for hit in found.hits[:3]:
            told_why = explain_place(
                query=query, memory=hit.memory, profile=profile, filter=MINE, **everything
            )
            assert (told_why.rank, told_why.score) == (hit.rank, hit.score)


def _mark(text: str) -> str:
    return next(word for word in text.split() if word.startswith("m") and word[1:].isdigit())


def _asked(book: Book, query: str, filter: str) -> search_query.ParsedQuery:
    return search_query.parse_query(
        book.connection, query, MEMORIES, make_scope(compiler.compile_filter(filter, NOW))
    )


def test_where_counting_would_take_long_the_whole_memory_counts_and_the_answer_says_so(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(12):
        book.add(f"Caroline paints {place}", "episode", session="one/1" if place < 6 else "two/1")
    options: dict[str, Any] = {
        "profile": Profile(),
        "embedder": "off",
        "now": NOW,
        "fade_threshold": 0.05,
        "filter": "session:one/*",
    }

    def said() -> str:
        return search_memories(book.connection, "Caroline", **options).retrievers[0].why

    assert said() == "words are as rare as among the 6 that pass the filter"
    assert _asked(book, "Caroline", "session:one/*").rows == 6
    with monkeypatch.context() as patched:
        patched.setattr(subset_statistics, "FEW", 5)
        assert _asked(book, "Caroline", "session:one/*").rows == 12
        assert "whole memory" in said()
    monkeypatch.setattr(subset_statistics, "MOST_POSTINGS", 5)
    assert _asked(book, "Caroline", "session:one/*").rows == 12
    assert "whole memory" in said()
    assert search_memories(book.connection, "Caroline", **{**options, "filter": ""}).retrievers[0].why == ""


def test_a_page_of_words_is_counted_in_one_go(book: Book) -> None:
    book.add(" ".join(f"word{number}" for number in range(600)), "episode", session="one/1")
    book.add("word3", "episode", session="two/1")
    asked = _asked(book, " ".join(f"word{number}" for number in range(600)), "session:one/*")
    assert asked.inside and len(asked.terms) == search_query.MOST_WORDS
    assert {term.count for term in asked.terms} == {1}
