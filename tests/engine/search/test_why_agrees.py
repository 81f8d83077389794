"""Whatever the memory, question, filter and ranking: parts add up, why agrees with the hits, remedies help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.records import Explanation, MemoryRecord, Profile, SearchResult
from memtui.engine.search.explanation import explain_place
from memtui.engine.search.filters.compiler import compile_filter
from memtui.engine.search.ranking import rank_memories
from memtui.engine.search.scope import make_scope
from memtui.engine.search.search import search_memories
from memtui.engine.store.file import open_file
from shelf import NOW, Book, FakeEmbedder, StaticEmbedder, WordEmbedder

from sizes import examples

WORDS = ("tea", "green", "mountain", "walnut", "river", "Ada", "Cole", "why?", "чай", "茶道", "the", "s")
QUESTIONS = (
    "green tea for Ada", "tea and walnut for Ada", "mountain river walnut", "Cole green river", "tea", "чай",
    "茶道", "茶", "the", "gooseberry", "???",
)  # fmt: skip
FILTERS = (
    "", "", "", "kind:fact", "kind:episode", "tag:a", "-walnut", "session:s1", "is:active,trash",
    "-tag:a kind:fact,episode",
)  # fmt: skip
LIKE = {"tea": {"walnut": 0.7}, "mountain": {"river": 0.5, "green": 0.4}}


class Told(NamedTuple):
    """A memory to be written."""

    words: list[str]
    kind: str
    session: str
    tagged: bool
    embedded: bool
    forgotten: bool


told = st.builds(
    Told,
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=7),
    st.sampled_from(("fact", "episode", "episode", "reflection")),
    st.sampled_from(("s1", "s2")),
    st.booleans(),
    st.sampled_from((True, True, True, False)),
    st.sampled_from((False,) * 6 + (True,)),
)
weights = st.sampled_from((0.35, 0.1, 1.0, 2.0, 0.0))
profiles = st.builds(
    Profile,
    name=st.just("any"),
    fusion=st.sampled_from(("score", "rrf")),
    k=st.sampled_from((1, 60)),
    keyword=weights, vector=weights, word_vector=weights, entity=weights, neighbours=weights, session=weights, facts=weights,
    floor=st.sampled_from((-1.0, 0.3, 0.9)),
    depth=st.sampled_from((1, 2, 3, 5, 100)),
)  # fmt: skip
shelves = st.lists(told, min_size=8, max_size=14)
vectors = st.sampled_from(("words", "static", "texts", "off"))


class Asked(NamedTuple):
    """One question to one memory, and how it is to be answered."""

    book: Book
    kept: list[MemoryRecord]
    options: dict[str, Any]

    def search(self, query: str, **changes: Any) -> SearchResult:
        return search_memories(self.book.connection, query, **{**self.options, **changes})

    def explain(self, query: str, memory: MemoryRecord, limit: int) -> Explanation:
        return explain_place(self.book.connection, query, memory, **{**self.options, "limit": limit})


@contextmanager
def asked(stories: list[Told], profile: Profile, filter: str, vectors: str) -> Iterator[Asked]:
    connections = open_file(":memory:")
    try:
        book = Book(connections)
        embedder = {"words": WordEmbedder, "static": StaticEmbedder}.get(vectors, FakeEmbedder)(LIKE)
        kept = []
        for number, story in enumerate(stories):
            turn = story.kind == "episode"
            memory = book.add(
                f"{' '.join(story.words)} n{number}", story.kind, session=story.session if turn else None,
                at=NOW - 1_000 + number, tags=["a"] if story.tagged else [],
                about=[word for word in story.words if word in ("Ada", "Cole")],
                embedder=embedder if story.embedded else None,
            )  # fmt: skip
            if story.forgotten:
                book.forget(memory)
            kept.append(book.read(memory))
        turns = [one.id for one in kept if one.kind == "episode"]
        for one in kept:
            if one.kind == "fact" and turns:
                with book.writing() as connection:
                    connection.execute(
                        "INSERT INTO memory_links(from_id, rel, to_id) VALUES (?, 'source', ?)",
                        (one.id, turns[0]),
                    )
        yield Asked(
            book, kept,
            {
                "profile": profile, "filter": filter, "embedder": "off" if vectors == "off" else embedder, "now": NOW,
                "fade_threshold": 0.05,
            },
        )  # fmt: skip
    finally:
        connections.close()


@settings(max_examples=examples(15), deadline=None)
@given(shelves, profiles, st.sampled_from(QUESTIONS), st.sampled_from(FILTERS), vectors)
def test_the_parts_of_every_hit_add_up_to_its_score(
    stories: list[Told], profile: Profile, query: str, filter: str, vectors: str
) -> None:
    with asked(stories, profile, filter, vectors) as ask:
        for hit in ask.search(query, limit=1_000).hits:
            assert abs(sum(part.term for part in hit.retrievers.values()) - hit.score) <= 1e-9
        for memory in ask.kept:
            explanation_lines = ask.explain(query, memory, 10)
            assert (
                abs(
                    sum(part.term for part in explanation_lines.retrievers.values()) - explanation_lines.score
                )
                <= 1e-9
            )


@settings(max_examples=examples(15), deadline=None)
@given(shelves, profiles, st.sampled_from(QUESTIONS), st.sampled_from(FILTERS), vectors, st.integers(1, 4))
def test_why_agrees_with_the_whole_ranking(
    stories: list[Told], profile: Profile, query: str, filter: str, vectors: str, limit: int
) -> None:
    with asked(stories, profile, filter, vectors) as ask:
        everything = {hit.memory.id: hit for hit in ask.search(query, limit=1_000).hits}
        for memory in ask.kept:
            explanation_lines = ask.explain(query, memory, limit)
            hit = everything.get(memory.id)
            if hit is None:
                assert explanation_lines.excluded
                continue
            assert (explanation_lines.rank, explanation_lines.score) == (hit.rank, hit.score)
            assert {
                retriever: part.term for retriever, part in explanation_lines.retrievers.items() if part.term
            } == {retriever: part.term for retriever, part in hit.retrievers.items() if part.term}
            assert bool(explanation_lines.excluded) == (hit.rank > limit)


@settings(max_examples=examples(40), deadline=None)
@given(shelves, profiles, st.sampled_from(QUESTIONS), st.sampled_from(FILTERS), vectors)
def test_what_is_ranked_for_one_memory_gives_it_the_place_that_it_has_among_all(
    stories: list[Told], profile: Profile, query: str, filter: str, vectors: str
) -> None:
    with asked(stories, profile, filter, vectors) as ask:
        inside = make_scope(compile_filter(filter, NOW, fade_threshold=0.05))
        arguments = (ask.book.connection, query, inside, profile, ask.options["embedder"])
        everything = [one.rid for one in rank_memories(*arguments).fused]
        for memory in ask.kept:
            alone = [one.rid for one in rank_memories(*arguments, only=memory.rid).fused]
            assert alone == everything if memory.rid in everything else memory.rid not in alone


@pytest.mark.parametrize(
    ("stories", "filter"),
    [
        # The fact answers, and lends to the turn that it was drawn from.
        ([Told(["river"], "episode", "s1", False, False, False), Told(["tea"], "fact", "", False, False, False)], ""),
        # The forgotten turn asks, and the one after it answers.
        (
            [Told(["why?", "tea"], "episode", "s1", False, False, True), Told(["river"], "episode", "s1", False, False, False)],
            "is:active,trash",
        ),
    ],
)  # fmt: skip
def test_what_only_its_surroundings_bring_in_is_ranked_for_it(stories: list[Told], filter: str) -> None:
    with asked(stories, Profile(), filter, "off") as ask:
        [found] = [one for one in ask.kept if "river" in one.content]
        inside = make_scope(compile_filter(filter, NOW, fade_threshold=0.05))
        ranking = rank_memories(ask.book.connection, "tea?", inside, Profile(), "off", only=found.rid)
        assert list(next(one for one in ranking.fused if one.rid == found.rid).retrievers) == ["context"]


@settings(max_examples=examples(15), deadline=None)
@given(shelves, profiles, st.sampled_from(QUESTIONS), st.sampled_from(FILTERS), vectors)
def test_nothing_under_the_floor_is_a_hit_unless_something_else_answers(
    stories: list[Told], profile: Profile, query: str, filter: str, vectors: str
) -> None:
    with asked(stories, profile, filter, vectors) as ask:
        for hit in ask.search(query, limit=1_000).hits:
            near = "vector" in hit.retrievers and hit.retrievers["vector"].score >= profile.floor
            lent = hit.retrievers["context"].matched if "context" in hit.retrievers else ()
            # The neighbour that it goes on with answers by itself: it was found, or it is outside of what is shown.
            answers = "a fact drawn from it" in lent or any(
                one.startswith(("1 before", "1 after")) for one in lent
            )
            assert near or hit.retrievers.keys() & {"keyword", "entity"} or answers


@settings(max_examples=examples(20), deadline=None)
@given(shelves, profiles, st.sampled_from(QUESTIONS), st.sampled_from(FILTERS), vectors, st.integers(1, 4))
def test_every_remedy_brings_it_in(
    stories: list[Told], profile: Profile, query: str, filter: str, vectors: str, limit: int
) -> None:
    with asked(stories, profile, filter, vectors) as ask:
        for memory in ask.kept:
            for remedy in ask.explain(query, memory, limit).remedies:
                if not remedy.startswith("Vectors are made"):
                    applied = follow(remedy, query, filter, profile, limit)
                    found = ask.search(applied.pop("query"), **applied)
                    assert memory.id in [hit.memory.id for hit in found.hits], remedy


def follow(remedy: str, query: str, filter: str, profile: Profile, limit: int) -> dict[str, Any]:
    """What a person does who reads it."""
    changes: dict[str, Any] = {}
    steps = remedy[0].lower() + remedy[1:].removesuffix(".")
    if found := re.search(r"leave (.+) out of the filter", steps):
        terms = found[1].split(" and ")
        filter = " ".join(term for term in filter.split() if term not in terms)
    if "is:trash" in steps:
        filter = f"{filter} is:trash"
    if found := re.search(r"use the words? ([^.]+?)(?: and ask|$)", steps):
        query = f"{query} {found[1].replace(',', '')}"
    if found := re.search(r"ask for (\d+) or more", steps):
        limit = int(found[1])
    if found := re.search(r"depth to (\d+)", steps):
        changes["depth"] = int(found[1])
    if found := re.search(r"floor to (-?[\d.]+\d)", steps):
        changes["floor"] = float(found[1])
    if found := re.search(r"give the (\w+) retriever a weight of ([\d.]+\d|\d)", steps):
        changes[found[1]] = float(found[2])
    return {
        "query": query, "filter": filter, "limit": limit, "profile": msgspec.structs.replace(profile, **changes),
    }  # fmt: skip
