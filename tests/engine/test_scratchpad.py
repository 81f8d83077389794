"""The scratchpad: in history, signed, undoable, capped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui.engine.errors import InputError, NotFoundError, ReadOnlyError
from memtui.engine.memories.validation import MAX_KEY, MAX_VALUE
from memtui.engine.memory import Memory
from memtui.engine.records import Options, SecretPolicy

QUIET = Options(embedder="off", background=False)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=QUIET) as opened:
        yield opened


def test_every_change_is_one_named_operation_that_can_be_undone(memory: Memory) -> None:
    pad = memory.scratchpad
    pad.set("task", "first")
    pad.set("task", "second")
    pad.delete("task")
    labels = [operation.label for operation in memory.view.operations()]
    assert labels == ["Deleted “task” from the scratchpad", *["Wrote “task” on the scratchpad"] * 2]
    values = []
    for _ in range(2):
        memory.undo()
        values.append(pad.get("task").value)
    assert values == ["second", "first"]
    memory.undo()
    with pytest.raises(NotFoundError):
        pad.get("task")
    memory.redo()
    assert pad.get("task").value == "first"


def test_an_agents_write_is_signed_by_it_and_not_taken_back_by_a_plain_undo(
    memory: Memory, place: Path
) -> None:
    memory.scratchpad.set("task", "mine")
    with Memory.open(place, actor="agent:scout", options=QUIET) as agent:
        agent.scratchpad.set("task", "theirs")
    assert memory.scratchpad.writer("task") == "agent:scout"
    written = memory.view.operations()[0]
    assert written.actor == "agent:scout"
    with pytest.raises(InputError):  # the person's own write is below the agent's
        memory.undo()
    assert memory.scratchpad.get("task").value == "theirs"
    memory.undo(written.op_id)
    assert memory.scratchpad.get("task").value == "mine"


def test_the_writer_of_a_key_is_not_that_of_the_key_before_it(memory: Memory) -> None:
    first = memory.scratchpad.set("first", "a")
    memory.scratchpad.set("second", "b")
    memory.actor = "agent:codex"
    memory.scratchpad.set("first", "c")
    assert memory.scratchpad.get("first").pad_id == first.pad_id
    assert [memory.scratchpad.writer(key) for key in ("first", "second")] == ["agent:codex", "person"]


def test_undoing_a_deletion_leaves_a_key_alone_that_was_written_since(memory: Memory) -> None:
    memory.scratchpad.set("task", "old")
    memory.scratchpad.delete("task")
    deletion = memory.view.operations()[0].op_id
    memory.scratchpad.set("task", "new")
    with pytest.raises(InputError):
        memory.undo(deletion)
    assert memory.scratchpad.get("task").value == "new" and memory.files.check().ok


def test_writing_what_stands_there_changes_nothing(memory: Memory) -> None:
    first = memory.scratchpad.set("task", "same")
    assert memory.scratchpad.set(" task ", "same") == first
    assert len(memory.view.operations()) == 1


def test_a_write_over_what_somebody_changed_meanwhile_is_refused(memory: Memory) -> None:
    memory.scratchpad.set("task", "seen")
    memory.scratchpad.set("task", "seen and changed")
    with pytest.raises(InputError, match="changed by another program"):
        memory.scratchpad.set("task", "edited", expected="seen")
    with pytest.raises(InputError, match="changed by another program"):
        memory.scratchpad.set("task", "added", expected="")
    assert memory.scratchpad.set("task", "edited", expected="seen and changed").value == "edited"


@pytest.mark.parametrize("key", ["", "  ", "two\nlines", "nul\0", "x" * (MAX_KEY + 1), "bell\a", 7])
def test_a_key_that_cannot_be_used_is_refused(memory: Memory, key: str) -> None:
    for attempt in (
        lambda: memory.scratchpad.set(key, "value"),
        lambda: memory.scratchpad.get(key),
        lambda: memory.scratchpad.delete(key),
    ):
        with pytest.raises(InputError):
            attempt()
    assert memory.view.operations() == []


@pytest.mark.parametrize("value", ["x" * (MAX_VALUE + 1), "nul\0", 7, None])
def test_a_value_that_cannot_be_used_is_refused(memory: Memory, value: str) -> None:
    with pytest.raises(InputError):
        memory.scratchpad.set("key", value)
    assert memory.scratchpad.keys() == [] and memory.view.operations() == []


def test_odd_values_are_kept_as_they_are(memory: Memory) -> None:
    for value in ("", "  \n ", "x" * MAX_VALUE, "\x1b[31m\u202e[/]", "東京\r\nBergen"):
        assert memory.scratchpad.set("key", value).value == value
    assert "\ud800" not in memory.scratchpad.set("key", "half \ud800").value


def test_search_looks_in_keys_and_values_the_latest_first(place: Path) -> None:
    now = [100.0]
    with Memory.open(place, options=QUIET, clock=lambda: now[0]) as memory:
        memory.scratchpad.set("Größe", "100")
        now[0] = 200.0
        memory.scratchpad.set("other", "GRÖSSE und Farbe")
        assert [note.key for note in memory.scratchpad.search("größe")] == ["other", "Größe"]
        assert [note.key for note in memory.scratchpad.search()] == ["other", "Größe"]
        assert [note.key for note in memory.scratchpad.search(limit=1)] == ["other"]
        assert memory.scratchpad.search("%") == memory.scratchpad.search("_") == []


def test_a_secret_is_blacked_out_where_the_policy_says_so(place: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    with Memory.open(place, options=QUIET) as memory:
        assert secret not in memory.scratchpad.set("token", f"use {secret}").value
    keeping = Options(embedder="off", background=False, secrets=SecretPolicy(facts="keep"))
    with Memory.open(place, options=keeping) as memory:
        assert memory.scratchpad.set("token", f"use {secret}").value == f"use {secret}"


def test_a_memory_for_reading_only_is_read(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        memory.scratchpad.set("task", "x")
    with Memory.open(place, readonly=True, options=QUIET) as memory:
        assert memory.scratchpad.get("task").value == "x"
        for attempt in (lambda: memory.scratchpad.set("task", "y"), lambda: memory.scratchpad.delete("task")):
            with pytest.raises(ReadOnlyError):
                attempt()


def test_a_key_that_another_program_wrote_can_be_read_changed_and_deleted(memory: Memory) -> None:
    odd = " two\nlines\x1b "
    with memory._core.connections.write() as connection:
        connection.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES (?, 'x', 1)", (odd,))
    assert memory.scratchpad.get(odd).value == "x" and memory.scratchpad.writer(odd) == "external"
    assert memory.scratchpad.set(odd, "y").key == odd
    assert memory.scratchpad.delete(odd).value == "y"


def test_an_operation_is_not_taken_back_over_a_later_deletion(memory: Memory) -> None:
    pad = memory.scratchpad
    pad.set("task", "first")
    pad.set("task", "second")
    wrote = memory.view.operations(limit=1)[0].op_id
    pad.delete("task")
    with pytest.raises(InputError, match="Deleted “task”"):
        memory.undo(wrote)
    with pytest.raises(NotFoundError):
        pad.get("task")
