"""Pinned questions and saved profiles: named operations like all others."""

from __future__ import annotations

from collections.abc import Iterator

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
    assert [one.name for one in memory.questions.profiles()] == ["default", "rrf", "words only"]
    result = memory.search("lentils", profile="words only")
    assert result.profile == words_only
    assert {arm.arm for arm in result.arms if arm.state == "off"} >= {"vector", "entity"}
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.search("lentils", profile="words only")


def test_the_built_in_profiles_cannot_be_changed(memory: Memory) -> None:
    with pytest.raises(InputError):
        memory.questions.save_profile(msgspec.structs.replace(Profile(), vector=2.0))
    assert memory.view.count_operations() == 0
