"""What an erase leaves of history can still be undone, and done again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from erase_kit import FACT, KEPT, found_in_bytes, rows
from memtui import Memory
from memtui.engine.erase.matching import ErasedTexts
from memtui.engine.erase.proof import known_pieces
from memtui.engine.erase.selection import select_erased_rows
from memtui.engine.records.erase import EraseRequest
from memtui.engine.store import proposals

pytestmark = pytest.mark.usefixtures("near")


def test_a_question_about_what_was_erased_does_not_come_back_by_a_redo(memory: Memory, home: Path) -> None:
    gone, stays = memory.remember(FACT), memory.remember(KEPT)
    for other in (gone.id, "fact_000000000000"):
        with memory._core.operation("consolidate", "Consolidated") as op:
            payload = {"new": stays.id, "old": other, "reason": "a different home"}
            id = proposals.identity("conflict", str(payload))
            assert proposals.ask(op.connection, id, "conflict", payload, 1)
        undone = memory.undo(op.op_id)
        if other == gone.id:
            assert memory.files.erase(memory.files.plan_erase([gone.id])).complete
            with pytest.raises(Exception, match=r"no operation|nothing of it"):
                memory.undo(undone.by.op_id)
        else:
            assert memory.undo(undone.by.op_id).restored == 1
    assert rows(home, "SELECT json_type(payload) FROM proposals") == [("object",)]
    assert memory.files.plan_erase([stays.id]).memories == 1
    assert memory.files.check(deep=True).findings == ()


def test_check_tells_a_question_that_nobody_can_read(memory: Memory, home: Path) -> None:
    with memory._core.operation("consolidate", "Consolidated") as op:
        proposals.ask(op.connection, "card_1", "conflict", {"reason": "x"}, 1)
    with apsw.Connection(str(home)) as connection:
        connection.execute("UPDATE proposals SET payload = '[]'")
    assert [finding.message for finding in memory.files.check().findings] == [
        "rows of proposals cannot be read (1: card_1)"
    ]


def imported(memory: Memory, folder: Path) -> int:
    """Two turns, the second of which was tagged since; the operation of the import."""
    place = folder / "in.jsonl"
    lines = [{"role": "user", "content": text, "session": "s"} for text in (FACT, KEPT)]
    place.write_text("\n".join(map(json.dumps, lines)) + "\n")
    done = memory.files.import_paths([place]).operation
    assert done is not None
    memory.tag(next(one.id for one in memory.view.page() if one.content == KEPT), add=["x"])
    return done.op_id


def test_what_an_erased_undo_took_back_can_be_undone_again(memory: Memory, tmp_path: Path) -> None:
    first = imported(memory, tmp_path)
    fact = next(one.id for one in memory.view.page() if one.content == FACT)
    tagged = memory.view.operations()[0].op_id
    assert memory.undo(first).restored == 1  # what was tagged since stays
    assert memory.files.erase(memory.files.plan_erase([fact])).complete
    assert memory.files.check(deep=True).findings == ()
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
    assert memory.files.erase(memory.files.plan_erase([fact])).complete
    left = {one.op_id: (one.state, one.undone_by) for one in memory.view.operations()}
    assert redo not in left
    assert (left[first], left[undo]) == (("undone", undo), ("done", None))
    assert memory.files.check(deep=True).findings == ()


def test_check_tells_an_operation_whose_undo_is_gone(memory: Memory, home: Path) -> None:
    memory.remember(KEPT)
    undone = memory.undo()
    assert undone is not None
    with apsw.Connection(str(home)) as connection:
        connection.execute("DELETE FROM changes WHERE op_id = ?", (undone.by.op_id,))
        connection.execute("DELETE FROM ops WHERE op_id = ?", (undone.by.op_id,))
    assert any("not there" in finding.message for finding in memory.files.check().findings)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("He said “no” and hid the zxqvelvet key below the pot", "Corrected “…”"),
        ("He hid the quibbleton” to “zxqvelvet", "Corrected “…” to “…” to “…”"),
        ("a ”zxqvelvet“ b is what they call it", "Corrected “…”"),
        ("the ” zxqvelvet", "Corrected “…”"),
    ],
)
def test_no_label_keeps_a_part_of_what_has_quotation_marks(
    memory: Memory, home: Path, text: str, label: str
) -> None:
    fact = memory.remember(text)
    memory.correct(fact.id, "He hid nothing at all")
    other = memory.scratchpad.set("note", "kept")
    assert other is not None
    assert memory.files.erase(memory.files.plan_erase([fact.id])).complete
    labels = [one.label for one in memory.view.operations()]
    assert labels == ["Erased 1 memory for good", "Wrote “note” on the scratchpad", label]
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet"]) == []


def test_labels_lose_what_touches_and_nothing_else() -> None:
    texts = ErasedTexts([FACT, "the ” and “ jam"])
    for label in (
        "Imported 3 turns",
        "Renamed “Ada” to “Eve”",
        "Remembered “he said “no””",
        "Made “Ada” a person",
    ):
        assert texts.without_quotations(label) == label
    assert texts.without_quotations("Renamed “the ” and “ jam” to “Eve”") == "Renamed “…”"
    assert texts.without_quotations(f"Merged “{KEPT}” into “{FACT}” (interrupted)") == (
        f"Merged “{KEPT}” into “…” (interrupted)"
    )
    assert texts.without_quotations(f"Could not read “s”: {FACT[5:60]}") == "Could not read “…”"
    assert texts.without_quotations(f"Cut “{FACT}") == "Cut “…”"
    assert texts.without_quotations("Cut “short") == "Cut “short"


class Broken:
    """An extractor that fails with a message."""

    name, limit, concurrency = "broken", 10, 1

    def __init__(self, message: str) -> None:
        self.message = message

    def __getattr__(self, name: str) -> None:
        raise ValueError(self.message)


def fail(memory: Memory, sessions: list[str], message: str) -> None:
    broken: Any = Broken(message)
    asyncio.run(memory.sessions.consolidate(sessions, extractor=broken))


def test_an_error_of_the_session_goes_in_whatever_words_it_is(memory: Memory, home: Path) -> None:
    turn = memory.record_turn("s", "user", "the zxqvelvet is red")
    memory.record_turn("s", "user", KEPT)
    fail(memory, ["s"], "it is about a flying marmalade")
    with memory._core.connections.write() as connection:
        connection.execute("DELETE FROM changes")
        connection.execute("DELETE FROM ops")  # as after 90 days
    plan = memory.files.plan_erase([turn.id])
    assert [one.outcome for one in plan.carriers if one.place == "session"] == ["cleared"]
    assert memory.files.erase(plan).complete
    assert rows(home, "SELECT last_error FROM sessions_consolidations") == [(None,)]
    memory.close()
    assert found_in_bytes(home.parent, ["flying marmalade"]) == []


def test_the_proof_looks_for_the_error_of_a_session(memory: Memory) -> None:
    turn = memory.record_turn("s", "user", "the zxqvelvet is red")
    memory.record_turn("s", "user", KEPT)
    fail(memory, ["s"], "it is about a flying marmalade")
    with memory._core.connections.write() as connection:
        connection.execute("DELETE FROM changes")
        found = select_erased_rows(connection, EraseRequest(ids=(turn.id,)))
        assert any(
            "flying marmalade" in piece.text for piece in known_pieces(connection, found, found.contents)
        )


def test_a_session_that_was_taken_back_loses_its_error_too(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    imported(memory, tmp_path)
    turn = next(one.id for one in memory.view.page() if one.content == FACT)
    fail(memory, ["s"], "it is about a flying marmalade")
    with memory._core.operation("x", "Let go") as op:
        op.connection.execute("DELETE FROM changes WHERE act = 'update'")
        op.connection.execute("DELETE FROM sessions_consolidations")
        for request in (EraseRequest(ids=(turn,)), EraseRequest(session_id="s")):
            assert any(
                "flying marmalade" in text
                for text in select_erased_rows(op.connection, request, backup=True).derived_texts
            )


def test_what_a_failed_consolidation_said_of_the_session_goes_too(memory: Memory, home: Path) -> None:
    fact = memory.record_turn("s", "user", "the zxqvelvet is red")
    memory.record_turn("s", "user", KEPT)
    memory.record_turn("other", "user", "Nothing of it in here")
    fail(memory, ["s", "other"], "cannot read zxqvelvet")
    assert len([one for one in memory.view.operations() if "zxqvelvet" in one.label]) == 2
    assert memory.files.erase(memory.files.plan_erase([fact.id])).complete
    labels = [one.label for one in memory.view.operations() if one.kind == "failure"]
    assert labels == [
        "Could not consolidate “…”: “…”",
        "Could not consolidate “…”: “…”",
    ]
    images = rows(home, "SELECT count(*) FROM changes WHERE instr(after, 'zxqvelvet')")
    assert images == [(0,)]
    assert memory.files.check(deep=True).findings == ()
