"""What an erase leaves of history can still be undone, and done again."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from erase_kit import FACT, KEPT, rows
from memtui import Memory
from memtui.engine.store import proposals

pytestmark = pytest.mark.usefixtures("near")


def test_a_question_about_what_was_erased_does_not_come_back_by_a_redo(memory: Memory, home: Path) -> None:
    gone, stays = memory.remember(FACT), memory.remember(KEPT)
    for other in (gone.id, "fact_000000000000"):
        with memory._operation("consolidate", "Consolidated") as op:
            payload = {"new": stays.id, "old": other, "reason": "another home"}
            identity = proposals.identity("conflict", str(payload))
            assert proposals.ask(op.connection, identity, "conflict", payload, 1)
        undone = memory.undo(op.op_id)
        if other == gone.id:
            assert memory.erase(memory.plan_erase([gone.id])).complete
            with pytest.raises(Exception, match=r"no operation|nothing of it"):
                memory.undo(undone.by.op_id)
        else:
            assert memory.undo(undone.by.op_id).restored == 1
    assert rows(home, "SELECT json_type(payload) FROM proposals") == [("object",)]
    assert memory.plan_erase([stays.id]).memories == 1
    assert memory.check(deep=True).findings == ()


def test_check_tells_a_question_that_nobody_can_read(memory: Memory, home: Path) -> None:
    with memory._operation("consolidate", "Consolidated") as op:
        proposals.ask(op.connection, "card_1", "conflict", {"reason": "x"}, 1)
    with apsw.Connection(str(home)) as connection:
        connection.execute("UPDATE proposals SET payload = '[]'")
    assert [finding.message for finding in memory.check().findings] == [
        "rows of proposals cannot be read (1: card_1)"
    ]


def imported(memory: Memory, folder: Path) -> int:
    """Two turns, the second of which was tagged since; the operation of the import."""
    place = folder / "in.jsonl"
    lines = [{"role": "user", "content": text, "session": "s"} for text in (FACT, KEPT)]
    place.write_text("\n".join(map(json.dumps, lines)) + "\n")
    done = memory.import_paths([place]).operation
    assert done is not None
    memory.tag(next(one.id for one in memory.view.page() if one.content == KEPT), add=["x"])
    return done.op_id


def test_what_an_erased_undo_took_back_can_be_undone_again(memory: Memory, tmp_path: Path) -> None:
    first = imported(memory, tmp_path)
    fact = next(one.id for one in memory.view.page() if one.content == FACT)
    tagged = memory.view.operations()[0].op_id
    assert memory.undo(first).restored == 1  # what was tagged since stays
    assert memory.erase(memory.plan_erase([fact])).complete
    assert memory.check(deep=True).findings == ()
    memory.undo(tagged)
    assert memory.undo(first).restored
    assert memory.view.count() == 0


def test_an_erased_redo_leaves_the_undo_standing(memory: Memory, home: Path, tmp_path: Path) -> None:
    first = imported(memory, tmp_path)
    fact = next(one.id for one in memory.view.page() if one.content == FACT)
    undo = memory.undo(first).by.op_id
    redo = memory.undo(undo).by.op_id
    other = memory.remember("something else altogether").id
    with apsw.Connection(str(home)) as connection:  # as if the undo had taken back a row that the redo left
        connection.execute(
            "INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) SELECT ?, 'memories', 'update', rid, rid, "
            "'{\"confidence\":0.5}', '{\"confidence\":1.0}' FROM memories WHERE id = ?",
            (undo, other),
        )
    assert memory.erase(memory.plan_erase([fact])).complete
    left = {one.op_id: (one.state, one.undone_by) for one in memory.view.operations()}
    assert redo not in left
    assert (left[first], left[undo]) == (("undone", undo), ("done", None))
    assert memory.check(deep=True).findings == ()


def test_check_tells_an_operation_whose_undo_is_gone(memory: Memory, home: Path) -> None:
    memory.remember(KEPT)
    undone = memory.undo()
    assert undone is not None
    with apsw.Connection(str(home)) as connection:
        connection.execute("DELETE FROM changes WHERE op_id = ?", (undone.by.op_id,))
        connection.execute("DELETE FROM ops WHERE op_id = ?", (undone.by.op_id,))
    assert any("not there" in finding.message for finding in memory.check().findings)
