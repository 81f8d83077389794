"""Remember, correct, confirm, forget, restore, tag: what each does, and what it refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError, ProtectedError
from memtui.engine.records import Options

NOW = 1_750_000_000
DAY = 86_400
OPTIONS = Options(background=False, embedder="off")


class Shelf:
    """One memory, seen by the person and by an agent; time stands still until it is moved."""

    def __init__(self, path: Path) -> None:
        self.now = float(NOW)
        self.person = Memory.open(path, clock=lambda: self.now, options=OPTIONS)
        self.agent = Memory.open(path, actor="agent:codex", clock=lambda: self.now, options=OPTIONS)


@pytest.fixture
def shelf(place: Path) -> Iterator[Shelf]:
    opened = Shelf(place)
    yield opened
    opened.person.close()
    opened.agent.close()


@pytest.fixture
def memory(shelf: Shelf) -> Memory:
    return shelf.person


# Remember


def test_what_the_person_states_is_certain_and_protected(memory: Memory) -> None:
    fact = memory.remember("  Ada lives in Lisbon \n", tags=["#city", "Home"])
    assert fact.content == "Ada lives in Lisbon"
    assert (fact.kind, fact.trust, fact.source, fact.confidence) == ("fact", "user", "explicit", 1.0)
    assert fact.protected and fact.decay_rate == 0.0 and fact.confirmed_at == NOW
    assert fact.tags == ("city", "Home")
    assert fact == memory.get(fact.id)


def test_what_an_agent_states_fades(shelf: Shelf) -> None:
    fact = shelf.agent.remember("Ada lives in Lisbon", confidence=0.8, source="GOAL:3")
    assert (fact.trust, fact.source, fact.confidence, fact.decay_rate) == ("agent", "GOAL:3", 0.8, 0.1)
    assert not fact.protected
    shelf.now += 10 * DAY
    assert shelf.person.get(fact.id).effective == pytest.approx(0.8 * 2.718281828**-1.0, rel=1e-6)


def test_an_equal_fact_is_reinforced_instead_of_stored_twice(shelf: Shelf) -> None:
    first = shelf.agent.remember("Ada lives in Lisbon", confidence=0.5, tags=["a"])
    again = shelf.agent.remember("Ada lives in Lisbon", confidence=0.7, tags=["b", "A"])
    assert again.id == first.id
    assert (again.confidence, again.tags) == (0.7, ("a", "b"))
    assert shelf.agent.remember("Ada lives in Lisbon", confidence=0.2).confidence == 0.7
    assert shelf.person.view.count("kind:fact") == 1


def test_the_person_saying_what_an_agent_said_protects_it(shelf: Shelf) -> None:
    first = shelf.agent.remember("Ada lives in Lisbon", confidence=0.5)
    again = shelf.person.remember("Ada lives in Lisbon")
    assert again.id == first.id
    assert again.protected and again.decay_rate == 0.0 and again.trust == "user" and again.confidence == 1.0


def test_a_forgotten_text_can_be_remembered_anew(memory: Memory) -> None:
    first = memory.remember("Ada lives in Lisbon")
    memory.forget(first.id)
    second = memory.remember("Ada lives in Lisbon")
    assert second.id != first.id
    assert memory.view.count("is:trash") == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"content": " \n"}, "no text"), ({"content": "x" * 20_001}, "20,001 characters"), ({"content": "a\0b"}, "NUL"),
        ({"content": 5}, "int"), ({"confidence": 1.1}, "between 0 and 1"), ({"confidence": -0.1}, "between 0 and 1"),
        ({"confidence": float("nan")}, "between 0 and 1"), ({"confidence": "sure"}, "between 0 and 1"),
        ({"tags": ["two words"]}, "not a usable tag"), ({"tags": [""]}, "not a usable tag"),
        ({"tags": ["x" * 65]}, "not a usable tag"), ({"tags": ["a,b"]}, "not a usable tag"),
        ({"tags": ["\x1b"]}, "not a usable tag"), ({"source": ""}, "source"), ({"source": "x" * 501}, "source"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_remembered_is_said_and_nothing_is_stored(
    memory: Memory, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        memory.remember(**({"content": "Ada lives in Lisbon"} | given))
    assert caught.value.hint and caught.value.exit_code == 3
    assert memory.view.count() == memory.view.count_operations() == 0


def test_a_single_tag_may_be_given_as_a_word(memory: Memory) -> None:
    assert memory.remember("one", tags="city").tags == ("city",)


# Correct


def test_a_correction_replaces_the_text_and_links_both_ways(shelf: Shelf) -> None:
    turn = shelf.person.record_turn("talk", "user", "I moved to Porto")
    old = shelf.person.remember("Ada lives in Porto", tags=["city"])
    with shelf.person._core.connections.write() as connection:
        connection.execute(
            "UPDATE memories SET source_ids = json_array(?), project = 'p' WHERE rid = ?", (turn.id, old.rid)
        )
    shelf.now += DAY
    new = shelf.person.correct(old.id, " Ada lives in Lisbon ")
    assert new.content == "Ada lives in Lisbon" and new.id != old.id and new.supersedes == old.id
    assert (new.tags, new.project, new.source_ids, new.source) == (("city",), "p", (turn.id,), "explicit")
    assert new.protected and new.decay_rate == 0.0
    gone = shelf.person.get(old.id)
    assert (gone.ended_by, gone.valid_until, gone.content) == ("superseded", NOW + DAY, "Ada lives in Porto")
    for end in (old.id, new.id):
        assert [row.id for row in shelf.person.view.versions(end)] == [old.id, new.id]
    assert [row.id for row in shelf.person.view.sources(new.id)] == [turn.id]
    assert {row.id for row in shelf.person.view.derived(turn.id)} == {old.id, new.id}
    assert shelf.person.files.check(deep=True).ok


def test_versions_are_a_chain_whichever_one_is_asked_for(memory: Memory) -> None:
    ids = [memory.remember("version 0").id]
    for number in range(1, 5):
        ids.append(memory.correct(ids[-1], f"version {number}").id)
    for id in ids:
        assert [row.id for row in memory.view.versions(id)] == ids
    assert [row.content for row in memory.view.page("kind:fact")] == ["version 4"]


def test_an_agents_correction_keeps_how_sure_it_is_and_how_it_fades(shelf: Shelf) -> None:
    old = shelf.agent.remember("Ada lives in Porto", confidence=0.6)
    new = shelf.agent.correct(old.id, "Ada lives in Lisbon")
    assert (new.confidence, new.decay_rate, new.protected, new.trust) == (0.6, 0.1, False, "agent")


def test_an_agents_correction_of_the_persons_words_is_trusted_as_an_agents(memory: Memory) -> None:
    stored = memory.record_turn("talk", "user", "I moved to Porto last spring")
    asyncio.run(memory.consolidate("talk"))
    (drawn,) = memory.view.derived(stored.id)
    assert drawn.trust == "user" and not drawn.protected
    memory.actor = "agent:codex"
    assert memory.correct(drawn.id, "The person moved to Braga last spring").trust == "agent"


def test_the_persons_correction_of_an_agents_fact_is_the_persons_own(shelf: Shelf) -> None:
    old = shelf.agent.remember("Ada lives in Porto", confidence=0.6)
    new = shelf.person.correct(old.id, "Ada lives in Lisbon")
    assert (new.confidence, new.decay_rate, new.protected, new.trust) == (1.0, 0.0, True, "user")


def test_a_correction_that_says_the_same_is_refused(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    with pytest.raises(InputError, match="same"):
        memory.correct(fact.id, " Ada lives in Lisbon\n")
    assert memory.get(fact.id).active


@pytest.mark.parametrize("text", ["", "  ", "x" * 20_001, "a\0b"])
def test_a_correction_to_what_is_no_text_is_refused(memory: Memory, text: str) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    with pytest.raises(InputError):
        memory.correct(fact.id, text)
    assert memory.get(fact.id).active and memory.view.count() == 1


def test_turns_and_the_trash_cannot_be_corrected(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    gone = memory.forget(memory.remember("Ada lives in Porto").id)
    for id, said in ((turn.id, "turn of a conversation"), (gone.id, "Trash")):
        with pytest.raises(InputError, match=said) as caught:
            memory.correct(id, "Ada lives in Lisbon")
        assert caught.value.hint


# Protection


@pytest.mark.parametrize(
    "act",
    [
        lambda memory, id: memory.confirm(id),
        lambda memory, id: memory.correct(id, "Ada lives nowhere"),
        lambda memory, id: memory.forget(id),
    ],
    ids=["confirm", "correct", "forget"],
)
def test_agents_may_not_change_what_the_person_vouched_for(
    shelf: Shelf, act: Callable[[Memory, str], object]
) -> None:
    stated = shelf.person.remember("Ada lives in Lisbon")
    confirmed = shelf.person.confirm(shelf.agent.remember("The ferry leaves at nine").id)
    for fact in (stated, confirmed):
        with pytest.raises(ProtectedError, match="agent:codex") as caught:
            act(shelf.agent, fact.id)
        assert caught.value.hint
        assert shelf.person.get(fact.id) == fact
        act(shelf.person, fact.id)


def test_agents_do_not_bring_back_what_the_person_stated_and_forgot(shelf: Shelf) -> None:
    stated = shelf.person.remember("Ada lives in Lisbon")
    gone = shelf.person.forget(stated.id)
    with pytest.raises(ProtectedError, match="agent:codex"):
        shelf.agent.restore(stated.id)
    assert shelf.agent.change_all("restore", [stated.rid]) is None
    assert shelf.person.get(stated.id) == gone
    assert shelf.person.restore(stated.id).active


def test_an_agent_saying_what_the_person_stated_changes_nothing_of_it(shelf: Shelf) -> None:
    stated = shelf.person.remember("Ada lives in Lisbon", confidence=0.8, tags=["home"])
    assert shelf.agent.remember("Ada lives in Lisbon", tags=["work"]) == stated


def test_a_confirmed_observation_stays_so_when_it_is_corrected(shelf: Shelf) -> None:
    seen = shelf.person.confirm(shelf.agent.observations.remember_one("Tests run on Mondays", "finding").id)
    corrected = shelf.person.correct(seen.id, "Tests run on Tuesdays")
    assert corrected.protected
    with pytest.raises(ProtectedError):
        shelf.agent.forget(corrected.id)


def test_confirming_makes_certain_and_stops_fading(shelf: Shelf) -> None:
    fact = shelf.agent.remember("Ada lives in Lisbon", confidence=0.4)
    shelf.now += 5 * DAY
    confirmed = shelf.person.confirm(fact.id)
    assert (confirmed.confidence, confirmed.effective, confirmed.decay_rate) == (1.0, 1.0, 0.0)
    assert confirmed.confirmed_at == confirmed.reviewed_at == NOW + 5 * DAY
    shelf.now += 1_000 * DAY
    assert shelf.person.get(fact.id).effective == 1.0


def test_turns_and_the_trash_cannot_be_confirmed(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    gone = memory.forget(memory.remember("Ada lives in Porto").id)
    for id in (turn.id, gone.id):
        with pytest.raises(InputError):
            memory.confirm(id)


# Forget and restore


def test_forgetting_is_a_move_to_the_trash_and_restoring_brings_all_of_it_back(shelf: Shelf) -> None:
    fact = shelf.person.remember("We met Ada Lovelace in Lisbon", tags=["city"])
    entities = shelf.person.view.entities_of(fact.id)
    assert entities
    gone = shelf.person.forget(fact.id)
    assert (gone.ended_by, gone.valid_until, gone.active) == ("forgotten", NOW, False)
    assert shelf.person.view.count() == 0 and shelf.person.view.count("is:trash") == 1
    assert shelf.person.get(fact.id) == gone
    shelf.now += DAY
    back = shelf.person.restore(fact.id)
    assert back.active and back.ended_by is None
    assert (back.content, back.tags, back.protected) == (fact.content, fact.tags, True)
    assert shelf.person.view.entities_of(fact.id) == entities
    assert shelf.person.view.count("Lovelace") == 1


def test_restoring_is_a_sign_of_life(shelf: Shelf) -> None:
    """What faded would fade again the same night."""
    fact = shelf.agent.remember("Ada lives in Lisbon")
    shelf.agent.forget(fact.id)
    shelf.now += 60 * DAY
    assert shelf.person.restore(fact.id).effective == 1.0


def test_forgetting_and_restoring_twice_is_the_same_as_once(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    gone = memory.forget(fact.id)
    assert memory.forget(fact.id) == gone
    back = memory.restore(fact.id)
    assert memory.restore(fact.id) == back


def test_a_superseded_fact_can_be_taken_out_of_the_trash(memory: Memory) -> None:
    old = memory.remember("Ada lives in Porto")
    memory.correct(old.id, "Ada lives in Lisbon")
    assert memory.restore(old.id).active
    assert memory.view.count("kind:fact") == 2


def test_an_unknown_id_is_said_by_every_verb(memory: Memory) -> None:
    for act in (
        lambda: memory.get("fact_no"), lambda: memory.correct("fact_no", "x"), lambda: memory.confirm("fact_no"),
        lambda: memory.forget("fact_no"), lambda: memory.restore("fact_no"), lambda: memory.tag("fact_no", add=["x"]),
        lambda: memory.view.versions("fact_no"), lambda: memory.view.session("nothere"),
    ):  # fmt: skip
        with pytest.raises(NotFoundError) as caught:
            act()
        assert caught.value.hint and caught.value.exit_code == 3


def test_verbs_take_a_unique_beginning_of_an_id(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    assert memory.tag(fact.id[:9], add=["city"]).id == fact.id
    assert memory.forget(fact.id[:9]).id == fact.id


# Tags


def test_a_tag_is_the_same_in_any_case_and_keeps_its_first_writing(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon", tags=["Travel"])
    assert memory.tag(fact.id, add=["TRAVEL", "#Straße", "strasse"]).tags == ("Travel", "Straße")
    assert memory.tag(fact.id, remove=["travel"]).tags == ("Straße",)
    assert memory.tag(fact.id, add=["a", "b"], remove=["STRASSE", "zzz"]).tags == ("a", "b")


def test_removing_and_adding_a_tag_at_once_changes_its_writing(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon", tags=["travel"])
    assert memory.tag(fact.id, add=["Travel"], remove=["travel"]).tags == ("Travel",)


def test_turns_and_forgotten_memories_can_be_tagged(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    assert memory.tag(turn.id, add=["x"]).tags == ("x",)
    memory.forget(turn.id)
    assert memory.tag(turn.id, add=["y"]).tags == ("x", "y")


# In bulk


def test_a_bulk_verb_is_one_operation_that_one_undo_takes_back(memory: Memory) -> None:
    facts = [memory.remember(f"fact {number}") for number in range(5)]
    operation = memory.change_all("forget", [fact.rid for fact in facts[:4]])
    assert operation is not None
    assert (operation.kind, operation.label, operation.rows) == ("forget", "Forgot 4 memories", 4)
    assert memory.view.count() == 1
    undone = memory.undo()
    assert undone is not None and undone.restored == 4
    assert memory.view.count() == 5


def test_a_bulk_verb_passes_over_what_it_does_not_apply_to(shelf: Shelf) -> None:
    turn = shelf.person.record_turn("talk", "user", "words")
    stated = shelf.person.remember("stated by the person")
    said = shelf.agent.remember("said by the agent")
    confirmed = shelf.person.change_all("confirm", [turn.rid, said.rid, 999])
    assert confirmed is not None and confirmed.label == "Confirmed 1 memory"
    other = shelf.agent.remember("another one")
    forgotten = shelf.agent.change_all("forget", [stated.rid, said.rid, other.rid])
    assert forgotten is not None and forgotten.rows == 1
    assert shelf.person.get(stated.id).active


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few rows were many."""
    monkeypatch.setattr("memtui.engine.memory._ROWS_AT_ONCE", 10)
    monkeypatch.setattr("memtui.engine.memory._ROWS_PER_TRANSACTION", 10)


@pytest.mark.usefixtures("small_parts")
def test_a_bulk_verb_over_many_transactions_is_still_one_operation(memory: Memory) -> None:
    rids = [memory.record_turn("talk", "user", f"turn {number}").rid for number in range(33)]
    operation = memory.change_all("tag", rids, add=["old"])
    assert operation is not None and (operation.rows, operation.state) == (33, "done")
    assert memory.view.count("tag:old kind:episode") == 33
    memory.undo()
    assert memory.view.count("tag:old kind:episode") == 0


@pytest.mark.usefixtures("small_parts")
def test_a_cancelled_bulk_verb_keeps_what_it_did_and_is_undoable(memory: Memory) -> None:
    rids = [memory.record_turn("talk", "user", f"turn {number}").rid for number in range(33)]
    asked = iter([False, True])
    operation = memory.change_all("tag", rids, add=["old"], cancelled=lambda: next(asked))
    assert operation is not None and (operation.rows, operation.state) == (10, "done")
    memory.undo()
    assert memory.view.count("tag:old kind:episode") == 0


def test_a_bad_tag_refuses_a_bulk_verb_before_it_begins(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    before = memory.view.count_operations()
    with pytest.raises(InputError):
        memory.change_all("tag", [fact.rid], add=["two words"])
    assert memory.view.count_operations() == before


# Undo by actor


def test_a_plain_undo_takes_back_ones_own_latest_operation(shelf: Shelf) -> None:
    mine = shelf.person.remember("mine")
    theirs = shelf.agent.remember("theirs")
    assert shelf.person.history.next_undo().label == "Remembered “mine”"  # type: ignore[union-attr]
    shelf.person.undo()
    assert [row.id for row in shelf.person.view.page()] == [theirs.id]
    assert shelf.person.history.next_undo() is None and shelf.person.undo() is None
    assert shelf.person.history.next_redo() is not None and shelf.agent.history.next_redo() is None
    shelf.person.redo()
    assert {row.id for row in shelf.person.view.page()} == {mine.id, theirs.id}
    assert shelf.person.redo() is None


def test_a_new_operation_ends_redoing(memory: Memory) -> None:
    memory.remember("one")
    memory.undo()
    memory.remember("two")
    assert memory.history.next_redo() is None and memory.redo() is None


def test_any_operation_of_anyone_can_be_undone_by_choice(shelf: Shelf) -> None:
    shelf.agent.remember("theirs")
    operation = shelf.person.view.operations()[0]
    undone = shelf.person.undo(operation.op_id)
    assert undone is not None and undone.operation.op_id == operation.op_id and undone.by.actor == "person"
    assert shelf.person.view.count() == 0
    with pytest.raises(InputError, match="already undone"):
        shelf.agent.undo(operation.op_id)
    with pytest.raises(NotFoundError):
        shelf.person.undo(999)


def test_undo_survives_a_restart(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        fact = memory.remember("Ada lives in Porto")
        new = memory.correct(fact.id, "Ada lives in Lisbon")
    with Memory.open(place, options=OPTIONS) as memory:
        memory.undo()
        assert [row.id for row in memory.view.page()] == [fact.id]
    with Memory.open(place, options=OPTIONS) as memory:
        memory.redo()
        assert [row.id for row in memory.view.page()] == [new.id]
    with Memory.open(place, options=OPTIONS) as memory:
        memory.undo()
        memory.undo()
        assert memory.view.count() == 0 and memory.files.check(deep=True).ok


def test_what_is_fading_is_so_by_the_settings_wherever_it_is_looked_for() -> None:
    options = Options(background=False, embedder="off", fade_threshold=0.7)
    with Memory.open(":memory:", actor="agent:coach", options=options) as memory:
        fact = memory.remember("Green tea is kept in the blue tin", confidence=0.6)
        assert [one.id for one in memory.view.page("is:fading")] == [fact.id]
        assert [hit.memory.id for hit in memory.search("tea", filter="is:fading").hits] == [fact.id]
        assert memory.explain("tea", fact.id, filter="is:fading").excluded == ()
