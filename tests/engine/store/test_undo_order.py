"""Taking back in any order: sessions follow their turns, and only the latest undo of an operation counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options

from state_hash import state_hash


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as opened:
        yield opened


def state(memory: Memory) -> str:
    with memory._connections.read() as connection:
        return state_hash(connection)


def latest(memory: Memory) -> int:
    return memory.view.operations(limit=1)[0].op_id


def test_the_last_turn_taken_back_takes_its_session_along(memory: Memory) -> None:
    start = state(memory)
    memory.record_turn("harbour", "user", "first")
    first = latest(memory)
    memory.record_turn("harbour", "user", "second")
    second = latest(memory)
    undone = memory.undo(first)  # the session stays: it has another turn
    assert undone is not None and undone.conflicts == ()
    assert memory.view.count_sessions() == 1
    memory.undo(second)
    assert memory.view.count_sessions() == 0
    assert state(memory) == start


def test_a_turn_that_comes_back_brings_its_session_back(memory: Memory) -> None:
    memory.record_turn("harbour", "user", "first", source="s", project="ferry")
    first = latest(memory)
    memory.record_turn("harbour", "user", "second")
    second = latest(memory)
    undo_of_first = memory.undo(first)
    memory.undo(second)
    assert undo_of_first is not None
    memory.undo(undo_of_first.by.op_id)  # redo the first, after the session has gone with the second
    assert memory.view.count("kind:episode") == 1
    assert memory.view.session("harbour").project == "ferry"
    assert memory.check().ok


def test_a_session_that_was_begun_anew_takes_the_old_turn_in(memory: Memory) -> None:
    memory.record_turn("harbour", "user", "first")
    first = latest(memory)
    undone = memory.undo()
    memory.record_turn("harbour", "user", "again")
    assert undone is not None
    redone = memory.undo(undone.by.op_id)
    assert redone is not None and redone.conflicts == ()
    assert [turn.content for turn in memory.view.transcript("harbour")] == ["first", "again"]
    assert memory.view.operation(first).state == "done"


def test_an_old_redo_stands_for_the_operation_it_did_again(memory: Memory) -> None:
    memory.remember("Ada lives in Lisbon")
    first = latest(memory)
    memory.undo()
    redone = memory.redo()
    memory.undo()
    memory.redo()
    assert redone is not None
    undone = memory.undo(redone.by.op_id)
    assert undone is not None and undone.operation.op_id == first
    assert memory.view.operation(first).state == "undone"
    assert memory.view.count() == 0
    with pytest.raises(InputError, match="already undone"):
        memory.undo(redone.by.op_id)
    memory.redo()
    assert memory.view.operation(first).state == "done"
    memory.undo(first)
    assert memory.view.count() == 0


def test_an_old_undo_stands_for_the_one_that_stands_now(memory: Memory) -> None:
    memory.remember("Ada lives in Lisbon")
    old = memory.undo()
    memory.redo()
    assert old is not None
    with pytest.raises(InputError, match="already taken back"):
        memory.undo(old.by.op_id)
    memory.undo()
    memory.undo(old.by.op_id)
    assert memory.view.count() == 1


def test_half_a_correction_is_never_taken_back(memory: Memory) -> None:
    old = memory.remember("Ada lives in Porto")
    new = memory.correct(old.id, "Ada lives in Lisbon")
    correction = latest(memory)
    memory.tag(new.id, add=["city"])
    before = state(memory)
    with pytest.raises(InputError, match="changed since by “Tagged"):
        memory.undo(correction)
    assert state(memory) == before
    memory.undo()
    memory.undo(correction)
    assert [row.id for row in memory.view.page()] == [old.id]
    memory.forget(old.id)
    with pytest.raises(InputError, match="changed since by “Forgot"):
        memory.undo(memory.view.operation(correction).undone_by)


def test_a_bulk_operation_is_taken_back_where_nobody_came_after(memory: Memory) -> None:
    rows = [memory.remember(f"fact {number}") for number in range(3)]
    bulk = memory.change_all("tag", [row.rid for row in rows], add=["all"])
    memory.tag(rows[1].id, add=["mine"])
    mine = latest(memory)
    assert bulk is not None
    undone = memory.undo(bulk.op_id)
    assert undone is not None and undone.restored == 2
    [conflict] = undone.conflicts
    assert conflict.memory_id == rows[1].id
    assert conflict.wanted == {"tags": "[]"} and (conflict.current or {})["tags"] == '["all","mine"]'
    assert [memory.get(row.id).tags for row in rows] == [(), ("all", "mine"), ()]
    memory.undo(mine)
    memory.undo(undone.by.op_id)
    memory.undo(bulk.op_id)
    assert [memory.get(row.id).tags for row in rows] == [(), (), ()]
