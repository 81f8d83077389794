"""All that an agent did since a time is taken back as one operation, and given back by one undo."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import MemoryRecord, Options

from clock import Clock

NOW, DAY = 1_773_316_800, 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        yield memory


def as_agent(memory: Memory, name: str = "claude") -> None:
    memory.actor = f"agent:{name}"


def work(memory: Memory, clock: Clock) -> tuple[MemoryRecord, MemoryRecord]:
    """An agent's day: a fact of its own, corrected and tagged; one of an agent before it that it forgot."""
    as_agent(memory, "other")
    theirs = memory.remember("Ada likes tea")
    clock.now += DAY
    as_agent(memory)
    own = memory.remember("Ada likes coffee")
    clock.now += 60
    own = memory.correct(own.id, "Ada likes espresso")
    memory.tag(own.id, add=["drinks"])
    memory.forget(theirs.id)
    memory.record_turn("talk", "user", "I like espresso too.")
    memory.actor = "person"
    return own, theirs


def contents(memory: Memory) -> set[str]:
    return {one.content for one in memory.view.page()}


def test_one_undo_takes_all_back_and_one_undo_gives_it_back(memory: Memory, clock: Clock) -> None:
    own, theirs = work(memory, clock)
    before = contents(memory)
    found = memory.history.agent_changes("claude", NOW + 1)
    assert [one.kind for one in found.operations] == ["forget", "tag", "correct", "remember"]
    assert (found.turns_left, found.conflicts) == (1, ())
    done = memory.history.undo_agent("claude", NOW + 1)
    assert done.by.label == "Undid 4 changes of claude"
    assert contents(memory) == {"Ada likes tea", "I like espresso too."}
    assert not memory.history.agent_changes("claude", NOW + 1).operations
    memory.undo()
    assert contents(memory) == before and memory.get(own.id).tags == ("drinks",)
    assert not memory.get(theirs.id).active
    assert len(memory.history.agent_changes("claude", NOW + 1).operations) == 4
    memory.redo()
    assert contents(memory) == {"Ada likes tea", "I like espresso too."}
    assert not memory.history.agent_changes("claude", NOW + 1).operations
    memory.undo()
    assert contents(memory) == before


def test_with_turns_too(memory: Memory, clock: Clock) -> None:
    work(memory, clock)
    memory.history.undo_agent("claude", NOW + 1, turns=True)
    assert contents(memory) == {"Ada likes tea"}


FALSE = "I'm allergic to penicillin and I moved to Berlin."


def consolidate(memory: Memory, clock: Clock) -> None:
    clock.now += 3_600
    memory.actor = "person"
    asyncio.run(memory.consolidate())


def test_what_was_drawn_from_its_turns_goes_with_them(memory: Memory, clock: Clock) -> None:
    memory.record_turn("mine", "user", "I like tea with milk.")
    consolidate(memory, clock)
    before = contents(memory)
    as_agent(memory)
    memory.record_turn("talk", "user", FALSE)
    clock.now += 60
    memory.record_turn("talk2", "user", "I work as a plumber in Kiel.")
    consolidate(memory, clock)
    assert "Berlin" in str(contents(memory) - {FALSE})
    found = memory.history.agent_changes("claude", NOW + 1, turns=True)
    assert [one.kind for one in found.operations] == ["consolidate", "record", "record"]
    assert (found.conflicts, found.undo_first) == ((), ())
    done = memory.history.undo_agent("claude", NOW + 1, turns=True)
    assert (done.conflicts, done.undo_first) == ((), ())
    assert contents(memory) == before and not memory.pending_sessions()
    memory.undo()
    assert "Berlin" in str(contents(memory) - {FALSE})


def test_what_was_drawn_together_with_others_is_named_to_be_undone_first(
    memory: Memory, clock: Clock
) -> None:
    memory.record_turn("mine", "user", "I like tea with milk.")
    as_agent(memory)
    memory.record_turn("talk", "user", FALSE)
    consolidate(memory, clock)
    found = memory.history.agent_changes("claude", NOW - 1, turns=True)
    assert [one.kind for one in found.undo_first] == ["consolidate"] and found.conflicts
    memory.undo(found.undo_first[0].op_id)
    memory.history.undo_agent("claude", NOW - 1, turns=True)
    assert contents(memory) == {"I like tea with milk."}
    assert [one.session_id for one in memory.pending_sessions()] == ["mine"]


def test_only_since_then_and_only_that_agent(memory: Memory, clock: Clock) -> None:
    own, _ = work(memory, clock)
    found = memory.history.agent_changes("claude", NOW + DAY + 30)
    assert [one.kind for one in found.operations] == ["forget", "tag", "correct"]
    memory.history.undo_agent("claude", NOW + DAY + 30)
    assert contents(memory) == {"Ada likes tea", "Ada likes coffee", "I like espresso too."}
    assert own.id not in {one.id for one in memory.view.page()}


def test_what_the_person_changed_since_stays(memory: Memory, clock: Clock) -> None:
    as_agent(memory)
    kept, gone = memory.remember("Ada likes tea"), memory.remember("Ada likes milk")
    memory.actor = "person"
    memory.confirm(kept.id)
    found = memory.history.agent_changes("claude", NOW)
    assert [one.memory_id for one in found.conflicts] == [kept.id]
    done = memory.history.undo_agent("claude", NOW)
    assert [one.memory_id for one in done.conflicts] == [kept.id]
    assert contents(memory) == {"Ada likes tea"}
    assert gone.id not in {one.id for one in memory.view.page()}


def test_what_the_person_did_between_stays(memory: Memory) -> None:
    as_agent(memory)
    fact = memory.remember("Ada likes tea")
    memory.actor = "person"
    memory.tag(fact.id, add=["mine"])
    as_agent(memory)
    memory.tag(fact.id, add=["theirs"])
    memory.actor = "person"
    assert memory.history.agent_changes("claude", NOW).conflicts
    memory.history.undo_agent("claude", NOW)
    assert memory.get(fact.id).tags == ("mine",)


def test_a_correction_is_taken_back_whole_or_not(memory: Memory) -> None:
    as_agent(memory)
    old = memory.remember("Ada likes tea")
    new = memory.correct(old.id, "Ada likes milk")
    memory.actor = "person"
    memory.confirm(new.id)
    with pytest.raises(InputError, match="nothing since then"):
        memory.history.undo_agent("claude", NOW)
    assert contents(memory) == {"Ada likes milk"}


def test_an_earlier_change_can_be_undone_after_it(memory: Memory) -> None:
    fact = memory.remember("Ada likes tea")
    memory.tag(fact.id, add=["mine"])
    as_agent(memory)
    memory.tag(fact.id, add=["theirs"])
    memory.actor = "person"
    (tagged,) = [one for one in memory.view.operations() if one.actor == "person" and one.kind == "tag"]
    memory.history.undo_agent("claude", NOW)
    assert memory.get(fact.id).tags == ("mine",)
    assert not memory.undo(tagged.op_id).conflicts  # type: ignore[union-attr]
    assert memory.get(fact.id).tags == ()


def test_nothing_to_undo_is_said(memory: Memory) -> None:
    with pytest.raises(InputError, match="nothing since then"):
        memory.history.undo_agent("claude", NOW)
