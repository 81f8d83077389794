"""What was taken back before an erase stands in history only: it goes as well, and redo does not bring it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from erase_kit import KEPT, TURN, found_in_bytes, rows
from memtui import Memory
from memtui.engine.erase import history
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import ImportReport

pytestmark = pytest.mark.usefixtures("near")


def imported(memory: Memory, place: Path, *texts: str) -> ImportReport:
    place.write_text(
        "\n".join(json.dumps({"role": "user", "content": text, "session": "s"}) for text in texts)
    )
    return memory.files.import_paths([place])


def test_a_session_takes_the_turns_of_it_that_were_taken_back(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    source = tmp_path / "in.jsonl"
    imported(memory, source, KEPT)
    memory.record_turn("other", "user", "It stays as it is, and in its place")
    report = imported(memory, source, KEPT, TURN)
    assert report.operation is not None
    undone = memory.undo(report.operation.op_id)
    assert undone is not None
    memory.backups.make("manual")
    plan = memory.files.plan_erase(session_id="s")
    assert plan.memories == 2
    assert TURN in [carrier.title for carrier in plan.carriers if carrier.place == "history"]
    proof = memory.files.erase(plan)
    assert (proof.complete, proof.kept) == (True, ())
    with pytest.raises((NotFoundError, InputError)):
        memory.undo(undone.by.op_id)
    again = imported(memory, source, KEPT, TURN)
    assert (again.imported, again.reasons) == (0, {"erased for good": 2})
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb"]) == []


def test_a_session_that_only_history_has_is_erased_by_its_name(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    report = imported(memory, tmp_path / "in.jsonl", TURN, KEPT)
    assert report.operation is not None
    memory.undo(report.operation.op_id)
    assert memory.view.sessions() == []
    assert memory.files.erase(memory.files.plan_erase(session_id="s")).complete
    assert rows(home, "SELECT count(*) FROM changes") == [(0,)]
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb"]) == []


def test_facts_that_were_drawn_from_it_and_taken_back_go_as_well(memory: Memory, home: Path) -> None:
    turn = memory.record_turn("s", "user", "I take zxqlithium every morning. My sister is called Quetzalina.")
    other = memory.record_turn(
        "s", "user", "I like to swim in the lake. The weather is nice today, is it not?"
    )
    report = asyncio.run(memory.consolidate("s"))
    assert report.operation is not None
    facts = {row.content for row in memory.view.page() if row.kind == "fact"}
    assert len(facts) == 3
    undone = memory.undo(report.operation.op_id)
    assert undone is not None
    plan = memory.files.plan_erase([turn.id])
    assert plan.memories == 3
    drawn = [carrier for carrier in plan.carriers if carrier.place == "history"]
    assert [(one.choice, one.outcome) for one in drawn] == [(True, "erased")] * 2
    assert memory.files.plan_erase([turn.id], keep=[drawn[0].key]).memories == 2
    assert memory.files.erase(plan).complete
    memory.undo(undone.by.op_id)
    left = [row.content for row in memory.view.page()]
    assert other.content in left
    assert len(left) == 2
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["zxqlithium", "Quetzalina"]) == []


def test_a_backup_keeps_a_note_that_has_left_the_session_since(memory: Memory, home: Path) -> None:
    note = memory.remember(KEPT)
    memory.record_turn("talk", "user", TURN)
    for session in ("talk", "other"):
        with memory._core.operation("x", "Moved") as op:
            op.connection.execute("UPDATE memories SET session_id = ? WHERE id = ?", (session, note.id))
        if session == "talk":
            place = memory.backups.make("manual").path
    assert memory.files.erase(memory.files.plan_erase(session_id="talk")).complete
    assert memory.get(note.id).content == KEPT
    assert rows(place, "SELECT content FROM memories") == [(KEPT,)]


def test_what_was_told_of_a_session_and_taken_back_goes_with_its_turn(memory: Memory, home: Path) -> None:
    turn = memory.record_turn("talk", "user", TURN)
    memory.record_turn("talk", "user", KEPT)
    told = "The person gives Quetzalina preserves"
    with memory._core.operation("consolidate", "Consolidated the session") as op:
        op.connection.execute(
            "UPDATE sessions_consolidations SET summary = ?, last_error = 'Quetzalina?', consolidated_through = 2, "
            "consolidated_at = 5",
            (told,),
        )
    undone = memory.undo(op.op_id)
    assert undone is not None
    memory.record_turn("other", "user", f"Is it true? {told}")
    proof = memory.files.erase(memory.files.plan_erase([turn.id]))
    assert proof.complete
    assert [one.where.split()[0] for one in proof.kept] == ["episode"]  # the proof has looked for it
    memory.undo(undone.by.op_id)
    session = memory.view.session("talk")
    assert (session.summary, session.consolidated_at) == (None, 5)
    assert memory.files.check(deep=True).findings == ()
    assert "Quetzalina" not in str(rows(home, "SELECT before, after FROM changes"))


def test_a_summary_of_earlier_turns_stays_when_a_later_turn_goes(memory: Memory) -> None:
    memory.record_turn("talk", "user", KEPT)
    with memory._core.operation("consolidate", "Consolidated the session") as op:
        op.connection.execute(
            "UPDATE sessions_consolidations SET summary = 'Of watering', consolidated_through = 1"
        )
    turn = memory.record_turn("talk", "user", TURN)
    assert memory.files.erase(memory.files.plan_erase([turn.id])).complete
    assert memory.view.session("talk").summary == "Of watering"
    undone = memory.undo(op.op_id)
    assert undone is not None
    memory.undo(undone.by.op_id)
    assert memory.view.session("talk").summary == "Of watering"


def test_an_image_that_is_left_in_history_is_not_taken_for_something_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.record_turn("other", "user", KEPT)
    fact = memory.remember("The wvkrhubarb jam is for Mrs Zanzibarova")
    memory.undo()
    monkeypatch.setattr(history, "scrub_history", lambda *_: 0)
    proof = memory.files.erase(memory.files.plan_erase([fact.id]))
    assert not proof.complete
    assert proof.problems[0] == "1 of the memories are in the history of memory.db"


def test_a_correction_that_was_taken_back_goes_where_it_has_the_words(memory: Memory, home: Path) -> None:
    same, other = memory.remember(TURN), memory.remember("Lives in Zzyzxville at number 12")
    memory.correct(same.id, f"{TURN} Nor for the market.")
    memory.undo()
    later = memory.correct(other.id, "Moved away")
    memory.undo()
    plan = memory.files.plan_erase([same.id, other.id])
    assert plan.memories == 3
    assert [one.key for one in plan.carriers if one.outcome == "kept"] == [later.id]
    assert memory.files.plan_erase([other.id], also=[later.id]).memories == 2
    assert memory.files.erase(plan).complete
    while memory.redo():
        pass
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb", "Zzyzxville"]) == []
