"""Rows that carry the words of an erased text although nobody would look for them there."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from erase_kit import FACT, KEPT, TURN, found_in_bytes, rows
from memtui import Memory
from memtui.engine.consolidation import resolve
from memtui.engine.store import recalls, sessions

pytestmark = pytest.mark.usefixtures("near")


def test_what_an_agent_asked_in_a_session_goes_with_it(memory: Memory, home: Path) -> None:
    memory.record_turn("talk", "user", TURN)
    memory.remember(KEPT)
    with memory._core.operation("x", "Asked") as op:
        for session, query in (("talk", "the zxqvelvet illness"), ("other", "when to water"), (None, "fish")):
            recalls.add(op.connection, at=1, agent="a", session_id=session, query=query, memory_ids=[])
    plan = memory.files.plan_erase(session_id="talk")
    assert plan.counts["recall"] == 1
    assert memory.files.erase(plan).complete
    assert rows(home, "SELECT query FROM recalls") == [("when to water",), ("fish",)]
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet"]) == []


def test_a_reason_that_quotes_it_goes_from_later_wordings_too(memory: Memory, home: Path) -> None:
    loser, winner = memory.remember(FACT), memory.remember("The key is with Ada")
    with memory._core.operation("x", "Resolved") as op:
        resolve.keep_new(
            op.connection, winner.id, loser.id, f"“{FACT[:59]}…” no longer holds", actor="person", now=9
        )
    later = memory.correct(winner.id, "The key is with Ada since May")
    assert later.attributes == {"supersedes": winner.id}
    # Memories of before still have it.
    with memory._core.operation("x", "Noted") as op:
        op.connection.execute(
            "UPDATE memories SET attributes = ? WHERE id = ?",
            (json.dumps({"supersedes": winner.id, "conflict_reason": f"“{FACT[:30]}” no longer holds", "by": "me"}),
             later.id),
        )  # fmt: skip
    plan = memory.files.plan_erase([loser.id])
    assert [(one.key, one.outcome) for one in plan.carriers if one.outcome == "cleared"] == [
        (f"note:{winner.id}", "cleared"), (f"note:{later.id}", "cleared"),
    ]  # fmt: skip
    assert memory.files.erase(plan).complete
    assert memory.get(winner.id).attributes == {}
    assert memory.get(later.id).attributes == {"supersedes": winner.id, "by": "me"}
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet", "Quetzalcoatlus"]) == []


def test_a_tag_that_is_the_text_goes_and_one_that_is_a_word_of_it_stays(memory: Memory) -> None:
    one, other = memory.remember("zxqvelvetine"), memory.remember(KEPT, tags=["zxqvelvetine", "greenhouse"])
    more = memory.remember("The greenhouse has a new door")
    assert memory.files.erase(memory.files.plan_erase([one.id, more.id])).complete
    assert memory.get(other.id).tags == ("greenhouse",)


def test_how_many_are_not_listed_is_said(memory: Memory, tmp_path: Path) -> None:
    text = "the code is 9471 aubergine"
    one = memory.remember(text)
    place = tmp_path / "in.jsonl"
    lines = [{"role": "user", "content": f"{text} number {i}", "session": "s"} for i in range(260)]
    place.write_text("\n".join(map(json.dumps, lines)))
    memory.files.import_paths([place])
    plan = memory.files.plan_erase([one.id])
    assert len(plan.optional_carriers) == 200
    assert "60 more memories" in plan.notes[0]
    assert len(memory.files.plan_erase([memory.remember(KEPT).id]).notes) == 1


def test_the_same_text_in_capitals_or_in_another_form_of_its_letters_is_seen(memory: Memory) -> None:
    text = "Café Ölbaum in der Großen Gasse ist der Treffpunkt von Zoë"
    fact = memory.remember(text)
    others = [unicodedata.normalize("NFD", text), text.upper(), f"they said: {text}"]
    turns = [memory.record_turn("s", "user", other).id for other in others]
    for number, other in enumerate(others):
        memory.scratchpad.set(f"note {number}", other)
    memory.scratchpad.set("plain", KEPT)
    plan = memory.files.plan_erase([fact.id])
    assert {one.key for one in plan.carriers if one.outcome == "kept"} == set(turns)
    assert plan.counts["scratchpad"] == 3
    assert memory.files.erase(memory.files.plan_erase([fact.id], also=turns)).complete
    assert memory.scratchpad.keys() == ["plain"]
    assert memory.view.count() == 0


def test_a_label_with_the_first_words_of_an_erased_turn_loses_them(memory: Memory, home: Path) -> None:
    session = "claude-code:7edf864f-cb52-473a-9f00-000000000001"
    turn = memory.record_turn(session, "user", f"{TURN} and so it went on for quite some time after that")
    memory.record_turn(session, "assistant", KEPT)
    shown = memory.view.session(session).name
    assert shown.startswith(TURN[:20])
    with memory._core.operation("x", f"Saved 3 facts of “{shown}”") as op:
        sessions.mark_consolidated(op.connection, session, 9)
    assert memory.files.erase(memory.files.plan_erase([turn.id])).complete
    assert memory.view.session(session).name == session
    assert ("Saved 3 facts of “…”",) in rows(home, "SELECT label FROM ops")
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb"]) == []


def test_the_answers_of_a_pinned_question_go(memory: Memory, home: Path) -> None:
    fact, other = memory.remember(FACT), memory.remember(KEPT)
    for one in (fact, other):
        memory.questions.expect("when is it watered", one.id)
    assert len(memory.questions.run()[0].places) == 2
    assert memory.files.erase(memory.files.plan_erase([fact.id])).complete
    assert [one.expected for one in memory.questions.pinned()] == [(other.id,)]
    assert memory.questions.results() == []
    assert [place.memory_id for place in memory.questions.run()[0].places] == [other.id]
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet", fact.id]) == []


def test_other_names_labels_and_reworded_questions_go(memory: Memory, home: Path) -> None:
    fact = memory.remember("Bertram Zsolnay hides the zxqvelvet box from Ada Lovelace")
    memory.remember("Ada Lovelace likes tea")
    memory.models.index_pending()
    ada = next(one for one in memory.entities.page() if one.canonical_name == "Ada Lovelace")
    memory.entities.add_alias(ada.id, "Lady Zxqvelvet")
    memory.questions.pin("who has a box of zxqvelvets")
    memory.questions.pin("what does ZSOLNAY hide")
    memory.questions.pin("who likes tea")
    memory.scratchpad.set("ask", "whether zxqvelvet is expensive")
    plan = memory.files.plan_erase([fact.id])
    assert {one.place for one in plan.carriers if one.outcome == "erased"} >= {
        "question",
        "scratchpad",
        "entity",
    }
    assert memory.files.erase(plan).complete
    assert [one.query for one in memory.questions.pinned()] == ["who likes tea"]
    assert memory.scratchpad.keys() == []
    assert memory.entities.get(ada.id).entity.aliases == ()
    assert [one.label for one in memory.view.operations() if "zsolnay" in one.label.casefold()] == []
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet", "Zxqvelvet", "Zsolnay", "ZSOLNAY"]) == []


def test_what_has_a_word_of_it_stays_when_the_person_says_so(memory: Memory) -> None:
    fact = memory.remember("The zxqvelvet box is in the cellar", project="zxqvelvet-shop")
    memory.remember(KEPT, project="the zxqvelvet shop")
    memory.scratchpad.set("ask", "whether zxqvelvet is expensive")
    plan = memory.files.plan_erase([fact.id])
    keys = [one.key for one in plan.carriers if one.choice and one.outcome != "kept"]
    assert keys == ["scratchpad:1", "label:the zxqvelvet shop"]
    proof = memory.files.erase(memory.files.plan_erase([fact.id], keep=keys))
    assert proof.complete
    assert any(still.where.startswith("fact ") for still in proof.kept)
    assert "scratchpad entry 1" in {still.where for still in proof.kept}
    assert memory.scratchpad.keys() == ["ask"]
    assert memory.view.page()[0].project == "the zxqvelvet shop"


def test_ordinary_words_and_those_of_several_memories_are_no_traces(memory: Memory) -> None:
    fact = memory.remember("Yesterday the zxqvelvet appointment was beautiful", tags=["a"])
    for number in range(2):
        memory.remember(f"{KEPT} {number}", tags=["zxqvelvet"])
    memory.scratchpad.set("ask", "what was beautiful yesterday, and the zxqvelvet")
    assert memory.files.plan_erase([fact.id]).counts == {}
