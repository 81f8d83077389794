"""Saved filters, and what a filter that is being typed may go on with."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import FilterError, InputError, NotFoundError
from memtui.engine.records import Options
from memtui.engine.search.filters.completion import Completion, complete_filter

KEY = "sk-proj-" + "a1B2c3D4" * 6


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        yield memory


def offered(memory: Memory, typed: str) -> list[str]:
    found = complete_filter(typed, len(typed), memory.filters.known())
    return [] if found is None else [choice.name for choice in found.choices]


def taken(memory: Memory, typed: str, name: str) -> str:
    """What stands in the filter when ``name`` was chosen."""
    found = complete_filter(typed, len(typed), memory.filters.known())
    assert isinstance(found, Completion)
    [choice] = [one for one in found.choices if one.name == name]
    return typed[: found.start] + choice.text + typed[found.end :]


def test_keys_are_offered_by_their_beginning_also_behind_a_minus(memory: Memory) -> None:
    assert offered(memory, "ta") == ["tag:"]
    assert offered(memory, "kind:fact ta") == ["tag:"]
    assert taken(memory, "kind:fact -ta", "tag:") == "kind:fact -tag:"
    assert taken(memory, "co", "conf<") == "conf<"
    assert offered(memory, "") == offered(memory, "zz") == offered(memory, '"ta') == []


def test_values_are_those_that_memories_have_the_most_used_first(memory: Memory) -> None:
    memory.remember("Ada eats no meat", tags=["food", "family"])
    memory.remember("The oven is too hot", tags=["food"])
    memory.record_turn("s1", "user", "hello", project="the garden")
    found = complete_filter("tag:", 4, memory.filters.known())
    assert found is not None
    assert [(one.name, one.found) for one in found.choices][:2] == [("food", 2), ("family", 1)]
    assert taken(memory, "tag:food,fam", "family") == "tag:food,family"
    assert offered(memory, "tag:food") == []  # nothing is left to put in
    assert offered(memory, "tag:nothing") == []
    # What only turns have is there without a count; a later word of a value is enough.
    [garden] = complete_filter("project:gar", 11, memory.filters.known()).choices  # type: ignore[union-attr]
    assert (garden.name, garden.found) == ("the garden", None)
    assert taken(memory, "project:", "the garden") == 'project:"the garden"'
    assert taken(memory, 'project:"the g', "the garden") == 'project:"the garden"'


def test_what_the_language_knows_is_offered_where_no_memory_has_it(memory: Memory) -> None:
    assert offered(memory, "kind:re") == ["reflection"]
    assert offered(memory, "is:fa") == ["faded", "fading"]
    assert "health" in offered(memory, "topic:")
    assert offered(memory, "after:") == ["today", "yesterday", "7d", "1mo", "1y"]


def test_every_offered_key_and_value_is_a_filter(memory: Memory) -> None:
    hard = ('a "b", c', "x\\y", "50%*", "-minus", "a:b")
    for number, project in enumerate(hard):
        memory.record_turn(f"s{number}", "user", 'He said "no, never"', project=project)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        for key in offered(memory, letter):
            for value in offered(memory, key):
                memory.view.count(taken(memory, key, value))
    for project in hard:
        assert memory.view.count(taken(memory, "project:", project)) == 1, project


def test_a_value_that_is_no_line_of_text_is_not_offered(memory: Memory) -> None:
    memory.record_turn("\x1b]52;c;x\x07 session", "user", "hi", project="a\x1b[31mb")
    assert offered(memory, "project:") == []
    assert offered(memory, "session:") == []


def test_a_saved_filter_is_kept_replaced_and_removed_each_with_its_undo(memory: Memory) -> None:
    filters = memory.filters
    assert filters.save("travel", "tag:travel -lisbon") is not None
    assert filters.save("travel", "tag:travel -lisbon") is None
    filters.save("travel", "tag:travel")
    assert [(one.name, one.filter) for one in filters.saved()] == [("travel", "tag:travel")]
    memory.undo()
    assert filters.named("travel").filter == "tag:travel -lisbon"
    filters.remove("travel")
    assert filters.saved() == []
    undone = memory.undo()
    assert undone is not None
    assert "Removed the saved filter" in undone.operation.label
    assert filters.named("travel").filter == "tag:travel -lisbon"
    with pytest.raises(NotFoundError, match="no saved filter"):
        filters.named("home")


def test_what_is_no_filter_or_has_no_name_is_not_saved(memory: Memory) -> None:
    with pytest.raises(FilterError):
        memory.filters.save("x", "colour:blue")
    for name, filter in (("", "tag:a"), ("x", " "), ("x" * 61, "tag:a"), ("x", KEY)):
        with pytest.raises(InputError):
            memory.filters.save(name, filter)
    assert memory.filters.saved() == []


def test_saved_filters_and_pinned_questions_leave_one_another_alone(memory: Memory) -> None:
    memory.questions.pin("travel")
    with pytest.raises(InputError, match="pinned question"):
        memory.filters.save("travel", "tag:travel")
    memory.filters.save("home", "tag:home")
    with pytest.raises(InputError, match="saved filter"):
        memory.questions.pin("home")
    assert [one.query for one in memory.questions.pinned()] == ["travel"]
    assert [one.name for one in memory.filters.saved()] == ["home"]


def test_saved_filters_come_first_and_put_in_what_they_stand_for(memory: Memory) -> None:
    memory.filters.save("tame trips", "tag:travel -lisbon")
    assert offered(memory, "ta") == ["tame trips", "tag:"]
    assert offered(memory, "trips") == ["tame trips"]
    assert taken(memory, "kind:fact tri", "tame trips") == "kind:fact tag:travel -lisbon"
    assert offered(memory, "") == ["tame trips"]
    assert offered(memory, "-ta") == ["tag:"]


def test_a_saved_filter_travels_in_an_export(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory.filters.save("travel", "tag:travel")
    path = tmp_path_factory.mktemp("out") / "all.jsonl"
    memory.files.export(path)
    with Memory.open(":memory:", options=Options(background=False)) as other:
        other.files.import_paths([path])
        assert [(one.name, one.filter) for one in other.filters.saved()] == [("travel", "tag:travel")]


def test_completing_a_key_press_reads_no_file_and_takes_no_time(memory: Memory) -> None:
    for number in range(400):
        memory.remember(f"note {number}", tags=[f"tag{number}"])
    known = memory.filters.known()
    assert len(known.values["tag"]) == 300
    began = time.perf_counter()
    for _ in range(100):
        complete_filter("kind:fact tag:tag", 17, known)
    assert (time.perf_counter() - began) / 100 < 0.05
