"""Turns lean on the turns around them and on their session; it is said on which."""

from __future__ import annotations

import pytest
from memtui.engine.records import MemoryRecord, Profile, SearchResult
from memtui.engine.search.explanation import explain_place
from memtui.engine.search.retrievers import context
from memtui.engine.search.search import search_memories
from shelf import NOW, Book, FakeEmbedder


def talk(book: Book, *turns: str, session: str = "s") -> list[MemoryRecord]:
    return [
        book.add(text, "episode", session=session, role="ab"[place % 2], at=NOW + place)
        for place, text in enumerate(turns)
    ]


def ask(
    book: Book,
    query: str,
    filter: str = "",
    profile: Profile | None = None,
    embedder: FakeEmbedder | str = "none",
) -> SearchResult:
    return search_memories(
        book.connection,
        query,
        filter=filter,
        profile=profile or Profile(),
        embedder=embedder,
        now=NOW,
        fade_threshold=0.05,
    )


def test_neighbours_are_the_turns_around_in_the_order_of_the_transcript(book: Book) -> None:
    turns = talk(book, "a", "b", "c", "d", "e", "f")
    other = talk(book, "x", session="t")
    book.add("a fact", session="s")
    around = context.neighbouring_turns(book.connection, [turns[2].rid, other[0].rid])
    assert around[turns[2].rid] == {-2: turns[0].rid, -1: turns[1].rid, 1: turns[3].rid, 2: turns[4].rid}
    assert around[turns[0].rid] == {1: turns[1].rid, 2: turns[2].rid}
    assert other[0].rid not in around
    assert turns[5].rid not in around


def test_forgotten_turns_are_passed_over(book: Book) -> None:
    turns = talk(book, "a", "b", "c")
    book.forget(turns[1])
    assert context.neighbouring_turns(book.connection, [turns[0].rid])[turns[0].rid] == {1: turns[2].rid}


def test_an_answer_is_found_by_the_words_of_its_question(book: Book) -> None:
    talk(book, "hello", "What is the name of your hamster?", "She is called Pepper", "nice")
    book.add("the name of the street is long", "episode", session="other", role="a")
    result = ask(book, "hamster name")
    assert [hit.memory.content for hit in result.hits[:2]] == [
        "She is called Pepper",
        "What is the name of your hamster?",
    ]
    answer = result.hits[0]
    assert set(answer.retrievers) == {"context"}
    assert answer.retrievers["context"].matched == (
        "1 before: hamster, name",
        "its session",
        "a name, as asked",
    )
    assert answer.score == pytest.approx(answer.retrievers["context"].term)


def test_a_question_gives_more_than_a_statement_does(book: Book) -> None:
    talk(book, "my hamster?", "Pepper has a garden", session="asks")
    talk(book, "my hamster!", "Pepper has a garden", session="states")
    scores = {
        hit.memory.session_id: hit.score
        for hit in ask(book, "hamster garden").hits
        if hit.memory.content.startswith("Pepper")
    }
    assert scores["asks"] > scores["states"]


def test_words_that_a_turn_has_itself_are_not_counted_twice(book: Book) -> None:
    talk(book, "hamster", "hamster")
    profile = Profile(session=0.0)
    assert all(set(hit.retrievers) == {"keyword"} for hit in ask(book, "hamster", profile=profile).hits)
    for hit in ask(book, "hamster").hits:
        own = hit.retrievers["keyword"].term
        # Two of the best three turns, of the session and of the hour.
        assert hit.retrievers["context"].term == pytest.approx(2 * 0.3 * 2 * own / 3)


def test_neighbours_outside_the_filter_say_nothing(book: Book) -> None:
    talk(book, "the hamster in its cage", "its cage is new")  # roles a, b
    [hit] = ask(book, "hamster cage", filter="role:b").hits
    assert hit.retrievers["context"].matched == ("its session",)
    assert ask(book, "hamster", filter="role:b").hits == ()


def test_a_session_that_is_about_it_lifts_its_turns(book: Book) -> None:
    talk(
        book,
        "garden tools",
        "filler",
        "filler",
        "filler",
        "garden plan",
        "filler",
        "filler",
        "filler",
        "garden bed",
    )
    talk(book, "garden gnome", session="elsewhere")
    order = [
        hit.memory.session_id for hit in ask(book, "garden").hits if hit.memory.content.startswith("garden")
    ]
    assert order == ["s", "s", "s", "elsewhere"]


def test_short_turns_beside_one_that_answers_go_on_with_it(book: Book) -> None:
    """Not longer ones, not after ten minutes, not three turns away, not mere chatter, not in another session."""
    at = {
        "no hot water again": 0, "its like the north sea": 60, "my teeth hurt": 70, "thirty seconds more": 80,
        "thats all ok": 700, "the boiler": 2_000, "lol": 2_001, "a shower": 4_000, " ".join(["a long story"] * 8): 4_001,
    }  # fmt: skip
    for text, later in at.items():
        book.add(text, "episode", session="s", role="ab"[later % 2], at=NOW + later)
    book.add("and elsewhere", "episode", session="t", role="a", at=NOW + 1)
    found = {hit.memory.content: hit for hit in ask(book, "water boiler shower").hits}
    assert set(found) == {
        "no hot water again", "its like the north sea", "my teeth hurt", "the boiler", "a shower",
    }  # fmt: skip
    for text, away in (("its like the north sea", 1), ("my teeth hurt", 2)):
        lent = found[text].retrievers
        assert set(lent) == {"context"}
        assert lent["context"].matched == (f"{away} before: water", "its session")


def test_a_neighbour_that_is_near_in_meaning_counts_in_part_and_is_named(book: Book) -> None:
    embedder = FakeEmbedder({"lamp": {"hamster": 0.9}})
    for session, before in (("s", "one lamp stands in one hall"), ("t", "some rug lies in some hall")):
        for place, text in enumerate((before, "Pepper sleeps beside my hamster")):
            book.add(text, "episode", session=session, role="user", at=NOW + place, embedder=embedder)
    near, far = (
        next(
            hit
            for hit in ask(book, "hamster", embedder=embedder).hits
            if hit.memory.session_id == session and "Pepper" in hit.memory.content
        )
        for session in "st"
    )
    assert near.score > far.score
    assert near.retrievers["context"].matched == (
        "1 before: near in meaning",
        "the talk around it",
        "its session",
    )


def test_a_passage_counts_by_the_mean_of_how_near_its_turns_are(book: Book) -> None:
    """Two turns each way: of the third one it does not depend. Its name stands where it counts."""
    embedder = FakeEmbedder({"lamp": {"hamster": 0.9}})
    about = {
        "s": "lamp lamp none lamp lamp",
        "t": "none none none none none",
        "u": "none lamp none lamp none",
    }
    for session, words in about.items():
        for place, word in enumerate(["lamp" if session == "t" else "none", *words.split()]):
            book.add(
                f"{word} hall {'hamster' if place == 3 else ''}", "episode", session=session, role="user",
                at=NOW + place, embedder=embedder,
            )  # fmt: skip
    plain = Profile(session=0.0, floor=1.0)  # so high that no turn lends its nearness by itself
    found = {
        hit.memory.session_id: hit.retrievers
        for hit in ask(book, "hamster", profile=plain, embedder=embedder).hits
        if "hamster" in hit.memory.content
    }
    assert found["s"]["context"].term > found["u"]["context"].term
    assert found["s"]["context"].matched == found["u"]["context"].matched == ("the talk around it",)
    assert "context" not in found["t"]


def test_the_best_turns_within_an_hour_lift_a_turn(book: Book) -> None:
    """In a chat of weeks under one id, the session says nothing, and the hour much."""
    told = {"garden tools": 0, "garden plan": 60, "garden bed": 120, "garden gnome": 86_400}
    for text, later in told.items():
        book.add(text, "episode", session="s", role="user", at=NOW + later)
    assert ask(book, "garden").hits[-1].memory.content == "garden gnome"
    alone = Profile(session=0.0, neighbours=0.0)
    assert ask(book, "garden", profile=alone).hits[0].memory.content == "garden gnome"


def test_a_note_does_not_lean_on_itself(book: Book) -> None:
    talk(book, "garden tools and more")
    book.add("garden tools and more")
    retrievers = {hit.memory.kind: set(hit.retrievers) for hit in ask(book, "garden").hits}
    assert retrievers == {"fact": {"keyword"}, "episode": {"keyword", "context"}}


def test_what_is_under_the_floor_is_not_lifted_over_it(book: Book) -> None:
    """Neither by itself, nor by what stands beside it, nor by its session, nor by a fact that is under the floor too."""
    embedder = FakeEmbedder({"lamp": {"hamster": 0.1}, "rug": {"hamster": 0.1}})
    told = ["my hamster is called Pepper", "a lamp stands in the hall", "and a rug", "the hamster sleeps"]
    turns = [
        book.add(text, "episode", session="s", role="user", at=NOW + 601 * place, embedder=embedder)
        for place, text in enumerate(told)
    ]
    book.add("the lamp is old", source_ids=(turns[2].id,), embedder=embedder)
    result = ask(book, "hamster", embedder=embedder)
    assert {hit.memory.content for hit in result.hits} == {told[0], told[3]}
    explanation_lines = explain_place(
        book.connection,
        "hamster",
        turns[1],
        profile=Profile(),
        embedder=embedder,
        now=NOW,
        fade_threshold=0.05,
    )
    assert explanation_lines.rank is None
    assert any("the floor is 0.15" in reason for reason in explanation_lines.excluded)
    lowered = ask(book, "hamster", profile=Profile(floor=0.05), embedder=embedder)
    assert len(lowered.hits) == 4


def test_only_the_answer_to_a_question_is_found_by_its_words(book: Book) -> None:
    told = talk(book, "How is the hamster?", "Asleep in the straw", "nice", "The bus is late")
    assert {hit.memory.id for hit in ask(book, "hamster").hits} == {told[0].id, told[1].id}


@pytest.mark.parametrize(
    "closing",
    ["Do that.", "Until the next one.", "Thanks a lot!", "ok, perfekt, bis morgen", "d'accord, merci", "vale, gracias"],
)  # fmt: skip
def test_chatter_after_a_question_is_no_answer(book: Book, closing: str) -> None:
    asked, _ = talk(book, "Shall I book a seat for the hamster?", closing)
    assert [hit.memory.id for hit in ask(book, "hamster").hits] == [asked.id]


def test_facts_and_statements_stand_before_chatter(book: Book) -> None:
    talk(book, "Until the next one.", "See you at the next one, good night", session="closing")
    book.add("The next release is in May, after the audit of the bank")
    talk(book, "The next release waits for the audit of the bank and nothing else", session="told")
    order = [hit.memory.content[:3] for hit in ask(book, "when is the next release").hits]
    assert order[:2] in (["The", "The"],)
    assert set(order[2:]) <= {"Unt", "See"}
    ranked = ask(book, "next").hits
    assert {hit.memory.content[:3] for hit in ranked[:2]} == {"The"}


def test_the_persons_words_stand_before_those_of_others(book: Book) -> None:
    said = "the seat is by the window"
    book.add(said, "episode", session="a", role="user", at=NOW)
    book.add(said, "episode", session="b", role="assistant", trust="model", at=NOW)
    roles = [hit.memory.source_role for hit in ask(book, "window seat").hits]
    assert roles == ["user", "assistant"]


def test_notes_alone_have_no_surroundings(book: Book) -> None:
    book.add("garden")
    result = ask(book, "garden", filter="kind:fact")
    assert set(result.hits[0].retrievers) == {"keyword"}
    [report] = [one for one in result.retrievers if one.retriever == "context"]
    assert (report.state, report.why) == ("off", "only turns of conversations have surroundings")


def test_without_weights_there_is_no_context(book: Book) -> None:
    talk(book, "hamster?", "yes")
    assert [
        hit.memory.content
        for hit in ask(book, "hamster", profile=Profile(neighbours=0.0, session=0.0, facts=0.0)).hits
    ] == ["hamster?"]


def test_a_fact_lends_to_the_turns_it_was_drawn_from(book: Book) -> None:
    said, other = talk(book, "No meat for me, and no fish either", "Noted")
    fact = book.add("Ada is vegetarian", source_ids=(said.id,))
    result = ask(book, "vegetarian")
    assert [hit.memory.id for hit in result.hits] == [fact.id, said.id]
    lent = result.hits[1]
    assert set(lent.retrievers) == {"context"}
    assert lent.retrievers["context"].matched == ("a fact drawn from it", "its session")
    alone = result.hits[0].retrievers["keyword"].term
    assert lent.score > 0.35 * alone
    assert lent.score == pytest.approx(lent.retrievers["context"].term)
    less = ask(book, "vegetarian", profile=Profile(facts=0.1)).hits[1]
    assert less.score < lent.score
    assert other.id not in {hit.memory.id for hit in result.hits}

    assert [hit.memory.id for hit in ask(book, "vegetarian", filter="-meat").hits] == [fact.id]
    book.forget(fact)
    assert ask(book, "vegetarian").hits == ()
