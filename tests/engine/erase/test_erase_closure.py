"""What an erase takes with it, what it leaves whole, and that no undo brings any of it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from erase_kit import CJK, FACT, KEPT, TURN, found_in_bytes, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.erase.matching import ErasedTexts, normalise_for_matching
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records.erase import ErasePlan
from memtui.engine.store import memories, proposals, recalls

from sizes import examples

pytestmark = pytest.mark.usefixtures("near")


def derived(memory: Memory, kind: str, content: str, *sources: str, session: str | None = None) -> str:
    """A memory that was drawn from others, as a consolidation makes it."""
    with memory._core.operation("consolidate", "Consolidated") as op:
        rid = memories.insert(
            op.connection, kind=kind, content=content, event_time=1, created_at=1, trust="model",  # type: ignore[arg-type]
            source_ids=sources, session_id=session,
        )  # fmt: skip
    assert rid is not None
    assert memory.path is not None
    return str(rows(memory.path, "SELECT id FROM memories WHERE rid = ?", rid)[0][0])


def fates(plan: ErasePlan) -> dict[str, str]:
    return {carrier.key: carrier.outcome for carrier in plan.carriers}


def test_what_was_drawn_from_it_alone_goes_and_what_has_other_sources_is_offered(memory: Memory) -> None:
    turn, other = memory.record_turn("s", "user", TURN), memory.record_turn("s", "user", KEPT)
    fact = derived(memory, "fact", "Mrs Zanzibarova gets the jam", turn.id, session="s")
    deeper = derived(memory, "reflection", "They are generous with jam", fact)
    both = derived(memory, "reflection", "Much was said of jam and of watering", turn.id, other.id)
    corrected = memory.correct(fact, "Mrs Zanzibarova gets all of the jam")
    plan = memory.files.plan_erase([turn.id])
    assert {turn.id, fact, deeper, corrected.id} == set(plan.ids)
    assert plan.memories == 4
    assert fates(plan)[both] == "kept"
    assert fates(memory.files.plan_erase([fact]))[turn.id] == "kept"  # where it was said is offered
    again = memory.files.plan_erase([turn.id], keep=[deeper], also=[both])
    assert set(again.ids) == {turn.id, fact, corrected.id, both}
    proof = memory.files.erase(memory.files.plan_erase([turn.id], keep=[deeper]))
    assert proof.complete
    left = memory.get(both)
    assert left.source_ids == (other.id,)
    assert memory.get(deeper).source_ids == ()
    assert memory.files.check(deep=True).findings == ()


def test_an_earlier_wording_goes_with_the_later_one_and_not_the_other_way(memory: Memory) -> None:
    old = memory.remember("Lives in Zzyzxville at number 12")
    new = memory.correct(old.id, "Lives in Zzyzxville at number 14")
    plan = memory.files.plan_erase([old.id])
    assert plan.ids == (old.id,)
    assert fates(plan)[new.id] == "kept"
    assert set(memory.files.plan_erase([new.id]).ids) == {old.id, new.id}
    assert memory.files.erase(plan).complete
    assert memory.get(new.id).supersedes is None
    assert memory.files.check(deep=True).ok


def test_a_whole_session_goes_with_title_summary_and_what_was_said_of_it(memory: Memory, home: Path) -> None:
    first = memory.record_turn("talk", "user", TURN)
    memory.record_turn("talk", "assistant", "I will bring the wvkrhubarb jam to her on Friday.")
    memory.record_turn("other", "user", KEPT)
    with memory._core.operation("x", "Named the session") as op:
        op.connection.execute(
            "UPDATE sessions_consolidations SET title = 'wvkrhubarb', summary = ?, last_error = ?, "
            "consolidated_through = 2 WHERE session_id = 'talk'",
            (TURN[:50], f"bad reply: {TURN}"),
        )
    fact = memory.remember(KEPT)
    with memory._core.operation("x", "Moved") as op:
        op.connection.execute("UPDATE memories SET session_id = 'talk', source_ids = ? WHERE id = ?",
                              (json.dumps([first.id, memory.view.transcript("other")[0].id]), fact.id))  # fmt: skip
    plan = memory.files.plan_erase(session_id="talk")
    assert plan.memories == 2
    assert memory.files.erase(plan).complete
    with pytest.raises(NotFoundError):
        memory.view.session("talk")
    assert memory.get(fact.id).session_id is None
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb", "Zanzibarova"]) == []


def test_one_turn_takes_the_words_out_of_its_session_and_leaves_the_rest(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", TURN)
    memory.record_turn("talk", "user", KEPT)
    with memory._core.operation("x", "Consolidated the session") as op:
        op.connection.execute(
            "UPDATE sessions_consolidations SET title = 'About the greenhouse', summary = 'jam, watering', "
            "consolidated_through = 2, consolidated_at = 5 WHERE session_id = 'talk'"
        )
    number = op.op_id
    assert memory.files.erase(memory.files.plan_erase([turn.id])).complete
    session = memory.view.session("talk")
    assert (session.title, session.summary, session.turns) == ("About the greenhouse", None, 1)
    undone = memory.undo(number)  # the rest of that operation can still be taken back
    assert undone is not None
    assert memory.view.session("talk").consolidated_at is None
    assert memory.view.session("talk").summary is None


def test_everything_else_that_quotes_it_goes_or_loses_the_words(memory: Memory, home: Path) -> None:
    fact, other = memory.remember(FACT), memory.remember(KEPT)
    memory.questions.expect("where is the key kept?", fact.id)
    memory.questions.expect("where is the key kept?", other.id)
    memory.questions.pin(FACT[5:45])
    memory.scratchpad.set("plans", f"remember: {FACT}!")
    memory.scratchpad.set("plain", KEPT)
    with memory._core.operation("x", "Asked") as op:
        for payload in ({"new": fact.id, "old": other.id, "reason": ""}, {"content": FACT[:40], "sources": []},
                        {"memories": [fact.id, other.id], "reason": "new"}, {"memory": other.id, "text": ""}):  # fmt: skip
            proposals.ask(op.connection, proposals.identity("x", str(payload)), "x", payload, 1)
        told = {"at": 1, "agent": "a", "session_id": None}
        recalls.add(op.connection, **told, query=f"tell me: {FACT}", memory_ids=[other.id])  # type: ignore[arg-type]
        recalls.add(op.connection, **told, query="the key?", memory_ids=[fact.id, other.id])  # type: ignore[arg-type]
        op.connection.execute(
            "INSERT INTO job_runs(job, period, state, started_at, finished_at, report, error) "
            "VALUES ('decay', 'manual:1', 'done', 1, 2, ?, ?)",
            (
                json.dumps(
                    {
                        "summary": f"let go of “{FACT[:40]}”",
                        "ids": [fact.id, other.id],
                        "notes": [FACT, "fine"],
                    }
                ),
                FACT,
            ),
        )
        op.connection.execute(
            "INSERT INTO entities(id, canonical_name, type, summary, created_at) VALUES ('ent_x', 'Keys', 'other', ?, 1)",
            (FACT,),
        )
    memory.tag(other.id, add=["garden"])
    plan = memory.files.plan_erase([fact.id])
    assert {place: plan.counts[place] for place in ("card", "scratchpad", "question", "recall", "run")} == {
        "card": 2, "scratchpad": 1, "question": 1, "recall": 1, "run": 1,
    }  # fmt: skip
    kept = next(one.key for one in plan.optional_carriers if one.place == "scratchpad")
    assert memory.files.plan_erase([fact.id], keep=[kept]).counts.get("scratchpad") is None
    assert memory.files.erase(plan).complete
    assert memory.scratchpad.keys() == ["plain"]
    assert rows(home, "SELECT query, expected FROM saved_queries") == [
        ("where is the key kept?", json.dumps([other.id]))
    ]
    assert [json.loads(payload) for (payload,) in rows(home, "SELECT payload FROM proposals")] == [
        {"memories": [other.id], "reason": "new"}, {"memory": other.id, "text": ""},
    ]  # fmt: skip
    assert rows(home, "SELECT query, memory_ids FROM recalls") == [("the key?", json.dumps([other.id]))]
    [(report, error)] = rows(home, "SELECT report, error FROM job_runs")
    assert json.loads(report) == {"summary": "(erased)", "ids": [other.id], "notes": ["fine"]}
    assert error == "(erased)"
    assert rows(home, "SELECT summary FROM entities WHERE id = 'ent_x'") == [(None,)]
    assert memory.files.check(deep=True).findings == ()
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet"]) == []


def test_an_import_that_had_it_can_still_be_undone_and_done_again_for_the_rest(
    memory: Memory, tmp_path: Path
) -> None:
    source = tmp_path / "in.jsonl"
    lines = [{"role": "user", "content": text, "session": "s"} for text in (KEPT, TURN, "The third turn")]
    source.write_text("\n".join(map(json.dumps, lines)))
    report = memory.files.import_paths([source])
    assert report.operation is not None
    [turn] = [one for one in memory.view.page() if one.content == TURN]
    memory.tag(turn.id, add=["jam"])
    memory.forget(turn.id)
    assert memory.files.erase(memory.files.plan_erase([turn.id])).complete
    assert [op.kind for op in memory.view.operations()] == ["erase", "import"]
    assert memory.view.operations()[0].label == "Erased 1 memory for good"
    next_one = memory.history.next_undo()
    assert next_one is None or next_one.kind != "erase"
    undone = memory.undo(report.operation.op_id)
    assert undone is not None
    assert (undone.restored, undone.conflicts) == (3, ())  # two turns and their session
    assert memory.view.count() == 0
    assert memory.files.check(deep=True).ok
    redone = memory.undo(undone.by.op_id)
    assert redone is not None
    assert sorted(one.content for one in memory.view.page()) == sorted([KEPT, "The third turn"])
    with pytest.raises(InputError, match="no way back"):
        memory.undo(next(op.op_id for op in memory.view.operations() if op.kind == "erase"))
    again = memory.files.import_paths([source])
    assert (again.imported, again.reasons) == (0, {"erased for good": 1})
    assert memory.files.check(deep=True).findings == ()


def test_what_only_history_still_has_is_erased_by_its_id(memory: Memory, home: Path) -> None:
    memory.remember(KEPT)
    fact = memory.remember(FACT)
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.get(fact.id)
    plan = memory.files.plan_erase([fact.id])
    assert plan.memories == 1
    assert memory.files.erase(plan).complete
    assert memory.redo() is None
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet"]) == []


def test_names_that_stand_nowhere_else_go_and_a_merge_loses_only_that_name(
    memory: Memory, home: Path
) -> None:
    here = memory.remember("Dr Wolfgang Xylander came by")
    memory.remember("Dr Wolfie Xander came by as well")
    memory.remember("Dr Wolfie Xander plays chess")
    memory.models.index_pending()
    named = {name: id for id, name in rows(home, "SELECT id, canonical_name FROM entities")}
    survivor = next(id for name, id in named.items() if "Xylander" in name)
    absorbed = next(id for name, id in named.items() if "Xander" in name)
    memory.entities.merge(survivor, absorbed)
    plan = memory.files.plan_erase([here.id])
    assert plan.counts["entity"] == 1
    assert memory.files.erase(plan).complete
    [(merged, count)] = rows(home, "SELECT merged_into, mention_count FROM entities WHERE id = ?", absorbed)
    assert (merged, count) == (None, 2)
    assert memory.files.check(deep=True).findings == ()
    for operation in memory.view.operations():
        if operation.kind == "merge" or "erged" in operation.label:
            assert "Xylander" not in operation.label
    memory.close()
    assert found_in_bytes(home.parent, ["Xylander", "xyland"]) == []


def test_a_name_that_somebody_took_out_goes_with_the_only_text_that_has_it(
    memory: Memory, home: Path
) -> None:
    here = memory.remember("Dr Wolfgang Xylander came by")
    both = memory.remember("Dr Anton Bibberling came by")
    turn = memory.record_turn("s", "user", "Dr Anton Bibberling rang")
    memory.models.index_pending()
    for id, name in rows(home, "SELECT id, canonical_name FROM entities"):
        for one in (here,) if "Xyl" in name else (both, turn):
            memory.entities.unlink(one.id, id)
    assert memory.files.erase(memory.files.plan_erase([here.id, both.id])).complete
    assert [name for (name,) in rows(home, "SELECT canonical_name FROM entities")] == ["Anton Bibberling"]
    memory.close()
    assert found_in_bytes(home.parent, ["Xylander", "xylander"]) == []


def test_taking_back_everything_after_an_erase_never_brings_it_back(memory: Memory, home: Path) -> None:
    facts = [memory.remember(text) for text in (FACT, KEPT, CJK)]
    memory.change_all("tag", [one.rid for one in facts], add=["all"])
    memory.correct(facts[1].id, f"{KEPT} and Fridays")
    memory.change_all("forget", [one.rid for one in facts])
    assert memory.files.erase(memory.files.plan_erase([facts[0].id, facts[2].id])).complete
    for _ in range(2):
        while memory.undo():
            assert memory.files.check(deep=True).ok
        while memory.redo():
            assert memory.files.check(deep=True).ok
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet", "花生过敏"]) == []


@settings(max_examples=examples(40))
@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=80), st.integers(0, 150))
def test_a_long_run_in_common_is_always_seen(text: str, before: str, after: str, start: int) -> None:
    texts = ErasedTexts([text])
    run = " ".join(text.split())[start : start + 40].removesuffix("…")
    plain = normalise_for_matching(run)
    if plain not in normalise_for_matching(text):  # it was cut between a letter and its mark
        return
    if len(plain) >= 40:
        assert texts.carried_by(f"{before} {run} {after}")
    if len(plain) >= 8:
        assert texts.contains_sentence(run)


def test_texts_that_share_little_are_not_taken_for_each_other() -> None:
    texts = ErasedTexts([FACT, TURN, "ok then"])
    assert not texts.mentions_any(KEPT)
    assert not texts.mentions_any("I told you already: the jam is sold out.")
    assert texts.without_quotations(f"Corrected “{FACT[:59]}…” to “{KEPT}”") == f"Corrected “…” to “{KEPT}”"
    assert texts.without_quotations(f"Corrected “…{FACT[-12:]}” to “{KEPT}”") == f"Corrected “…” to “{KEPT}”"


def test_a_reader_of_the_plan_changes_nothing(memory: Memory) -> None:
    fact = memory.remember(FACT)
    before = memory.files.content_hash(), memory.data_version(), len(memory.view.operations())
    memory.files.plan_erase([fact.id])
    assert (memory.files.content_hash(), memory.data_version(), len(memory.view.operations())) == before


def test_an_unknown_id_or_nothing_is_refused(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.files.plan_erase(["fact_000000000000"])
    with pytest.raises(NotFoundError):
        memory.files.plan_erase(session_id="nowhere")
    with pytest.raises(InputError):
        memory.files.plan_erase([])


def test_a_wording_that_was_merged_into_it_goes_with_it(memory: Memory, home: Path) -> None:
    one, other = memory.remember(FACT), memory.remember("Her spare wvkrhubarb opener lies outside")
    memory.review.merge(one.id, [other.id])
    plan = memory.files.plan_erase([one.id])
    assert {carrier.key: carrier.why for carrier in plan.carriers if carrier.place == "memory"} == {
        one.id: "chosen", other.id: "an earlier wording of it",
    }  # fmt: skip
    assert memory.files.erase(plan).complete
    memory.close()
    assert found_in_bytes(home.parent, ["wvkrhubarb"]) == []


def test_a_merged_wording_that_was_taken_back_goes_with_its_parts(memory: Memory) -> None:
    one, other = memory.remember(KEPT), memory.remember(FACT)
    memory.review.merge(one.id, [other.id], text=f"{KEPT}. {FACT}")
    memory.undo()
    plan = memory.files.plan_erase([other.id])
    assert [carrier.why for carrier in plan.carriers if carrier.place == "history"] == [
        "a later wording of it, taken back since"
    ]
    assert memory.files.erase(plan).complete


def _told(memory: Memory) -> str:
    return memory.context("who gets the wvkrhubarb jam, is it for Mrs Zanzibarova?").text


def test_a_withheld_turn_is_told_to_nobody_when_the_fact_that_withheld_it_is_erased(memory: Memory) -> None:
    turn = memory.record_turn("s", "user", TURN)
    fact = derived(memory, "fact", "Mrs Zanzibarova gets the jam", turn.id, session="s")
    assert "wvkrhubarb" in _told(memory)
    memory.forget(fact, withhold=True)
    assert "wvkrhubarb" not in _told(memory)
    plan = memory.files.plan_erase([fact])
    (offered,) = [carrier for carrier in plan.carriers if carrier.key == turn.id]
    assert offered.outcome == "kept"
    assert offered.choice
    assert "goes to the Trash" in offered.why
    assert memory.files.erase(plan).complete
    assert memory.get(turn.id).ended_by == "forgotten"
    assert "wvkrhubarb" not in _told(memory)
    assert memory.files.check(deep=True).ok
    memory.restore(turn.id)
    assert "wvkrhubarb" in _told(memory)


def test_a_turn_that_another_fact_withholds_stays_as_it_is(memory: Memory) -> None:
    turn = memory.record_turn("s", "user", TURN)
    facts = [
        derived(memory, "fact", f"Mrs Zanzibarova gets the {what}", turn.id, session="s")
        for what in ("jam", "rhubarb")
    ]
    for fact in facts:
        memory.forget(fact, withhold=True)
    plan = memory.files.plan_erase(facts[:1])
    assert all("Trash" not in carrier.why for carrier in plan.carriers)
    assert memory.files.erase(plan).complete
    assert memory.get(turn.id).active
    assert "wvkrhubarb" not in _told(memory)


def test_the_turn_of_an_earlier_wording_stays_withheld_too(memory: Memory) -> None:
    turn, later = memory.record_turn("s", "user", TURN), memory.record_turn("s", "user", KEPT)
    old = derived(memory, "fact", "Mrs Zanzibarova gets the jam", turn.id, session="s")
    new = derived(memory, "fact", "The fair gets the jam", later.id, session="s")
    with memory._core.operation("consolidate", "Consolidated") as op:
        rid = memories.get(op.connection, new, 1).rid
        memories.update(op.connection, rid, attributes={"supersedes": old, "conflict_reason": "said later"})
        memories.update(
            op.connection, memories.get(op.connection, old, 1).rid, valid_until=2, ended_by="superseded"
        )
    memory.forget(new, withhold=True)
    assert "wvkrhubarb" not in _told(memory)
    assert memory.files.erase(memory.files.plan_erase([new])).complete
    assert [memory.get(one.id).ended_by for one in (turn, later)] == ["forgotten", "forgotten"]
