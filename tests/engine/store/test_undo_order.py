"""Taking back in any order: sessions follow their turns, and only the latest undo of an operation counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from memtui.engine.store import history, memories, undo

from state_hash import state_hash


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as opened:
        yield opened


def state(memory: Memory) -> str:
    with memory._core.connections.read() as connection:
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
    assert memory.files.check().ok


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


def test_what_was_drawn_from_it_in_the_same_operation_goes_with_it(memory: Memory) -> None:
    common: dict[str, Any] = {"event_time": 1, "created_at": 1, "trust": "user"}
    with memory._core.operation("import", "Brought in two") as op:
        memories.insert(
            op.connection, kind="fact", content="Ada lives in Portugal", source_ids=["fact_source"], **common
        )
        memories.insert(op.connection, id="fact_source", kind="fact", content="Ada lives in Lisbon", **common)
    undone = memory.undo()
    assert undone is not None and (undone.restored, undone.conflicts) == (2, ())


def test_who_redoes_what_somebody_redid_and_took_back_just_now_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(background=False, embedder="off")
    with Memory.open(place, options=options) as memory, Memory.open(place, options=options) as quicker:
        memory.remember("Ada lives in Lisbon")
        memory.undo()
        target = latest(memory)
        begin = history.operation

        def late(*given: Any, **named: Any) -> Any:
            monkeypatch.setattr(undo.history, "operation", begin)
            quicker.redo()
            quicker.undo()
            return begin(*given, **named)

        monkeypatch.setattr(undo.history, "operation", late)
        with pytest.raises(InputError, match="just taken back and done again"):
            memory.undo(target)
        assert memory.view.count() == 0


def test_a_large_operation_of_which_nothing_can_be_taken_back_still_stands(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "_ROWS_PER_TRANSACTION", 2)
    rids = [memory.remember(f"fact {number}").rid for number in range(5)]
    large = memory.change_all("tag", rids, add=["all"])
    memory.change_all("tag", rids, add=["mine"])
    assert large is not None
    with pytest.raises(undo.NothingUndoneError):
        memory.undo(large.op_id)
    assert memory.view.operation(large.op_id).state == "done"


def test_a_large_undo_that_breaks_off_stays_open_and_goes_on_later(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "_ROWS_PER_TRANSACTION", 2)
    with Memory.open(place, options=Options(background=False, embedder="off")) as memory:
        rids = [memory.remember(f"fact {number}").rid for number in range(5)]
        large = memory.change_all("tag", rids, add=["all"])
        assert large is not None
        put_back, calls = undo.restore_rows, []

        def broken(*given: Any) -> Any:
            calls.append(given)
            if len(calls) == 2:
                raise RuntimeError("the power of the sun")
            return put_back(*given)

        monkeypatch.setattr(undo, "restore_rows", broken)
        with pytest.raises(RuntimeError):
            memory.undo(large.op_id)
        half = memory.view.operations(limit=1)[0]
        assert half.interrupted
        memory.undo(large.op_id)
        assert {row.tags for row in memory.view.page()} == {()}
        assert memory.view.operation(large.op_id).state == "undone"
        # No lock stays behind of what has ended.
        assert list(place.parent.glob("*.run-*")) == []
