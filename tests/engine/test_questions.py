"""Pinned questions and saved profiles: named operations like all others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import Options, Profile


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=lambda: 1_763_812_800, options=Options(background=False)) as memory:
        yield memory


def test_a_question_is_kept_once_with_its_filter_and_profile(memory: Memory) -> None:
    questions = memory.questions
    assert questions.pin("what does  Ada eat?") is not None
    assert questions.pin("what does Ada eat?") is None
    questions.pin("what does Ada eat?", filter="kind:fact", profile="rrf")
    assert [(one.query, one.filter, one.profile) for one in questions.pinned()] == [
        ("what does Ada eat?", "kind:fact", "rrf"),
        ("what does Ada eat?", "", None),
    ]
    with pytest.raises(InputError):
        questions.pin("  ")


def test_pinning_and_unpinning_are_undone_by_name(memory: Memory) -> None:
    questions = memory.questions
    questions.pin("who is Ada?")
    questions.unpin(questions.pinned()[0].query_id)
    assert questions.pinned() == []
    undone = memory.undo()
    assert undone is not None and undone.operation.label == "Unpinned the question “who is Ada?”"
    assert [one.query for one in questions.pinned()] == ["who is Ada?"]
    memory.undo()
    assert questions.pinned() == []
    with pytest.raises(NotFoundError):
        questions.unpin(99)


def test_those_who_listen_are_told(memory: Memory) -> None:
    told = []
    memory.subscribe("changed", lambda changes: told.append(changes.tables))
    memory.questions.pin("who is Ada?")
    assert told == [frozenset({"saved_queries"})]


def test_a_saved_profile_ranks_by_its_name(memory: Memory) -> None:
    memory.remember("Ada likes lentils")
    words_only = Profile(name="words only", vector=0.0, entity=0.0)
    assert memory.questions.save_profile(words_only) is not None
    assert memory.questions.save_profile(words_only) is None
    assert [one.name for one in memory.questions.profiles()] == ["default", "rrf", "late", "words only"]
    result = memory.search("lentils", profile="words only")
    assert result.profile == words_only
    assert {retriever.retriever for retriever in result.retrievers if retriever.state == "off"} >= {
        "vector",
        "entity",
    }
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.search("lentils", profile="words only")


def test_the_built_in_profiles_cannot_be_changed(memory: Memory) -> None:
    with pytest.raises(InputError):
        memory.questions.save_profile(msgspec.structs.replace(Profile(), vector=2.0))
    assert memory.view.count_operations() == 0


def test_a_question_passes_while_what_it_expects_is_among_the_first(memory: Memory) -> None:
    questions = memory.questions
    eats = memory.remember("Ada eats no meat.")
    assert questions.expect("what does Ada eat?", eats.id, top=1) is not None
    assert questions.expect("what does Ada eat?", eats.id, top=1) is None
    [result] = questions.run()
    assert result.passed
    assert [(place.rank, place.why) for place in result.places] == [(1, "")]
    assert questions.results() == [result]

    memory.remember("What does Ada eat? Ada does eat what Ada does eat.")
    [result] = questions.run()
    assert not result.passed
    assert result.places[0].rank == 2
    assert "number 2" in result.places[0].why
    questions.expect("what does Ada eat?", eats.id, top=2)
    assert questions.results() == [], "how it fared is asked anew"
    assert questions.run()[0].passed


def test_what_was_corrected_is_expected_as_it_is_now(memory: Memory) -> None:
    first = memory.remember("The dentist is on 4 March.")
    memory.questions.expect("when is the dentist?", first.id)
    memory.correct(first.id, "The dentist is on 11 March.")
    [result] = memory.questions.run()
    assert result.passed
    assert result.places[0].content == "The dentist is on 11 March."


def test_a_forgotten_memory_fails_its_question_and_says_why(memory: Memory) -> None:
    fact = memory.remember("The dentist is on 4 March.")
    memory.questions.expect("when is the dentist?", fact.id)
    memory.forget(fact.id)
    [result] = memory.questions.run()
    assert not result.passed
    assert "Trash" in result.places[0].why
    memory.undo()
    assert memory.questions.run()[0].passed


def test_expectations_are_undone_and_survive_pinning_again(memory: Memory) -> None:
    questions = memory.questions
    fact = memory.remember("Grace plays the cello.")
    other = memory.remember("Grace plays chess.")
    questions.expect("what does Grace play?", fact.id)
    questions.expect("what does Grace play?", other.id, top=5)
    assert questions.pin("what does Grace play?") is None
    [saved] = questions.pinned()
    assert (saved.expected, saved.top) == ((fact.id, other.id), 5)
    memory.undo()
    assert (questions.pinned()[0].expected, questions.pinned()[0].top) == ((fact.id,), 10)
    questions.expect_no_more(saved.query_id, fact.id)
    assert questions.pinned()[0].expected == ()
    assert questions.run() == []
    memory.undo()
    memory.undo()
    assert questions.pinned() == []


def test_expectations_that_cannot_be_are_refused(memory: Memory) -> None:
    fact = memory.remember("Grace plays the cello.")
    for top in (0, 101):
        with pytest.raises(InputError):
            memory.questions.expect("what does Grace play?", fact.id, top=top)
    with pytest.raises(InputError):
        memory.questions.expect(" ", fact.id)
    with pytest.raises(NotFoundError):
        memory.questions.expect("what does Grace play?", "fact_none")
    assert memory.questions.pinned() == []


@pytest.mark.parametrize("background", [False, True])
def test_an_import_asks_the_questions_again(background: bool, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"session_id": "s", "role": "user", "content": "Grace plays the viola now."}\n')
    with Memory.open(tmp_path / "memory.db", options=Options(background=background)) as memory:
        fact = memory.remember("Grace plays the cello.")
        memory.questions.expect("what does Grace play?", fact.id)
        told: list[frozenset[str]] = []
        memory.subscribe("changed", lambda changes: told.append(changes.tables))
        memory.files.import_paths([talk])
        patience = time.monotonic() + 60
        while not memory.questions.results() and time.monotonic() < patience:
            time.sleep(0.05)
        [result] = memory.questions.results()
        assert result.passed
    assert frozenset({"question_results"}) in told


def test_a_maintenance_run_asks_the_questions_again(memory: Memory) -> None:
    fact = memory.remember("Grace plays the cello.")
    memory.questions.expect("what does Grace play?", fact.id)
    memory.jobs.run_now("decay")
    assert [result.passed for result in memory.questions.results()] == [True]


def test_a_profile_of_the_settings_that_this_file_does_not_have_is_noted_and_not_fatal() -> None:
    options = Options(background=False, embedder="off", profile="words first")
    with Memory.open(":memory:", options=options) as memory:
        memory.remember("Ada eats no walnuts")
        result = memory.search("walnuts")
        assert result.profile.name == "default" and len(result.hits) == 1
        assert any("words first" in note and "ranked by default" in note for note in result.notes)
        assert memory.context("walnuts").memories
        assert memory.explain("walnuts", result.hits[0].memory.id).rank == 1
        with pytest.raises(NotFoundError):
            memory.search("walnuts", profile="words first")
        memory.questions.save_profile(Profile(name="words first", keyword=2.0))
        assert memory.search("walnuts").profile.name == "words first"
