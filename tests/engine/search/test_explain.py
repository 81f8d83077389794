"""Why a memory is, or is not, among the hits: for any memory of the file."""

from __future__ import annotations

import pytest
from memtui.engine.records import Explanation, MemoryRecord, Profile
from memtui.engine.search.explanation import explain_place
from memtui.engine.search.profiles import RRF
from memtui.engine.search.search import search_memories
from shelf import NOW, Book, FakeEmbedder


def ask(book: Book, query: str, memory: MemoryRecord, **options: object) -> Explanation:
    given = {"profile": Profile(), "embedder": "off", "now": NOW, "fade_threshold": 0.05, **options}
    return explain_place(book.connection, query, memory, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", [Profile(), RRF], ids=["default", "rrf"])
def test_a_hit_is_explained_as_the_search_ranked_it(book: Book, profile: Profile) -> None:
    embedder = FakeEmbedder()
    for number in range(30):
        session = f"s{number % 3}" if number % 2 else None
        kind = "episode" if session else "fact"
        book.add(
            f"tea {'green ' * (number % 4)}{number}", kind, session=session, about=["Ada"], embedder=embedder
        )
    result = search_memories(
        book.connection,
        "green tea for Ada",
        limit=30,
        profile=profile,
        embedder=embedder,
        now=NOW,
        fade_threshold=0.05,
    )
    assert len(result.hits) == 30
    for hit in result.hits:
        explanation_lines = ask(
            book, "green tea for Ada", hit.memory, limit=10, profile=profile, embedder=embedder
        )
        assert (explanation_lines.rank, explanation_lines.score, explanation_lines.retrievers) == (
            hit.rank,
            hit.score,
            hit.retrievers,
        )
        if hit.rank <= 10:
            assert explanation_lines.excluded == explanation_lines.remedies == ()
        else:
            assert explanation_lines.excluded == (f"It is number {hit.rank}, and 10 are shown.",)
            assert explanation_lines.remedies == (f"Ask for {hit.rank} or more hits.",)
        assert explanation_lines.below == (hit.rank > 10)


def test_the_term_of_the_filter_that_leaves_it_out_is_named(book: Book) -> None:
    memory = book.add("green tea", tags=["drink"])
    explanation_lines = ask(book, "tea", memory, filter="tag:drink kind:episode -green")
    assert explanation_lines.rank is None and not explanation_lines.below
    assert explanation_lines.excluded == (
        "The filter leaves it out: kind:episode",
        "The filter leaves it out: -green",
    )
    assert explanation_lines.remedies == ("Leave kind:episode and -green out of the filter.",)
    assert explanation_lines.retrievers["keyword"].rank == 1  # where it would stand


def test_the_trash_is_said_with_the_way_back(book: Book) -> None:
    memory = book.add("green tea")
    book.forget(memory, "faded")
    explanation_lines = ask(book, "tea", book.read(memory))
    assert explanation_lines.rank is None
    assert explanation_lines.excluded[0].startswith("It is in the Trash (faded, ")
    assert "is:trash" in explanation_lines.remedies[0]
    assert ask(book, "tea", book.read(memory), filter="is:trash").rank == 1


def test_without_a_shared_word_its_own_words_are_suggested(book: Book) -> None:
    book.add("the tea is green")
    memory = book.add("the mountain is high")
    explanation_lines = ask(book, "tea", memory)
    assert (explanation_lines.rank, explanation_lines.score, explanation_lines.retrievers) == (None, 0.0, {})
    assert explanation_lines.excluded[0] == "It has none of the words: tea."
    assert "mountain" in explanation_lines.remedies[0]
    assert "Its meaning was not compared: off." in explanation_lines.excluded
    assert ask(book, "???", memory).excluded[0] == "The question has no words to look for."


def test_the_floor_is_said_with_the_cosine(book: Book) -> None:
    embedder = FakeEmbedder()
    memory = book.add("mountain", embedder=embedder)
    explanation_lines = ask(book, "tea", memory, embedder=embedder)
    assert explanation_lines.retrievers["vector"].rank == 1
    assert any("cosine 0.00, the floor is 0.15" in reason for reason in explanation_lines.excluded)
    lowered = ask(book, "tea", memory, embedder=embedder, profile=Profile(floor=-1.0))
    assert lowered.rank == 1


def test_a_missing_vector_is_said(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add("tea", embedder=embedder)
    memory = book.add("mountain")
    assert "It has no vector yet." in ask(book, "tea", memory, embedder=embedder).excluded


def test_ranks_are_exact_beyond_what_the_search_looks_at(book: Book) -> None:
    embedder = FakeEmbedder({f"tea{number}": {"tea": 1.0} for number in range(20)})
    kept = [book.add("tea " * (20 - number) + "and cake " * number, about=["Ada"]) for number in range(20)]
    shallow = Profile(depth=3, vector=0.0, entity=0.0)
    last = ask(book, "tea", kept[-1], profile=shallow)
    assert last.rank == 20
    assert last.retrievers["keyword"].rank == 20
    assert last.excluded == (
        "It is beyond the first 3 of every retriever, which is how far the search looks.",
    )
    named = ask(
        book, "what about Ada", kept[0], profile=Profile(depth=3, keyword=0.0, vector=0.0), embedder=embedder
    )
    assert named.retrievers["entity"].rank == 20
    both = ask(book, "tea for Ada", kept[-1], profile=Profile(depth=3, vector=0.0))
    assert (both.retrievers["entity"].rank, both.retrievers["keyword"].rank) == (1, 20)


def test_explaining_never_raises_for_a_query(book: Book) -> None:
    memory = book.add("東京 tea")
    for query in ("", "???", '"', "NOT", "東", "東京", "\0", "x" * 10_000):
        assert ask(book, query, memory).query == query


def test_the_words_to_use_are_words_and_no_crumbs(book: Book) -> None:
    crumbs = book.add("Ada's at it: 10:30, x 4471 b")
    assert ask(book, "gooseberry", crumbs).remedies[0] == "Use the word ada."
    none = book.add("b 12:30 x")
    assert not any(remedy.startswith("Use") for remedy in ask(book, "gooseberry", none).remedies)


def test_what_took_its_place_is_named(book: Book) -> None:
    old, new = book.add("green tea"), book.add("black tea")
    with book.writing() as connection:
        connection.execute(
            "INSERT INTO memory_links(from_id, rel, to_id) VALUES (?, 'supersedes', ?)", (new.id, old.id)
        )
    book.forget(old, "superseded")
    explanation_lines = ask(book, "tea", book.read(old))
    assert explanation_lines.excluded[0].endswith(f"{new.id} took its place: “black tea”")


def test_a_text_with_a_secret_is_said_to_have_no_vector(book: Book) -> None:
    embedder = FakeEmbedder()
    book.add("tea", embedder=embedder)
    memory = book.add("mountain", attributes={"secrets": ["token"]})
    explanation_lines = ask(book, "tea", memory, embedder=embedder)
    assert any("looks like a secret" in reason for reason in explanation_lines.excluded)
    assert explanation_lines.remedies == ("Use the word mountain.",)


def test_beyond_the_depth_a_depth_that_reaches_it_is_given(book: Book) -> None:
    kept = [book.add("tea " * (20 - number) + "and cake " * number) for number in range(20)]
    explanation_lines = ask(book, "tea", kept[-1], profile=Profile(depth=3, vector=0.0, entity=0.0))
    assert "Raise the profile's depth to 20 and ask for 20 or more hits." in explanation_lines.remedies
