"""Turns and notes know what of them was corrected or forgotten since; the caution goes away with the decision."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.records import Caution, MemoryRecord, Options

from clock import Clock

NOW = 1_773_316_800  # 12 March 2026, noon UTC
DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW - DAY)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        yield memory


def _read(memory: Memory, *turns: str) -> list[MemoryRecord]:
    said = [memory.record_turn("monday", "user", text) for text in turns]
    asyncio.run(memory.consolidate("monday"))
    return said


def _fact(memory: Memory, word: str) -> MemoryRecord:
    (found,) = [one for one in memory.view.page("kind:fact") if word in one.content]
    return found


def _of(memory: Memory, one: MemoryRecord) -> tuple[Caution, ...]:
    return memory.view.cautions([one.id]).get(one.id, ())


def test_a_turn_knows_that_its_fact_was_corrected(memory: Memory, clock: Clock) -> None:
    turn, other = _read(memory, "I work at Initech.", "My cat is called Tom.")
    assert not _of(memory, turn)
    old = _fact(memory, "Initech")
    clock.now = NOW
    new = memory.correct(old.id, "The user works at Globex")
    (caution,) = _of(memory, turn)
    assert (caution.how, caution.at, caution.withheld) == ("corrected", NOW, False)
    assert (caution.old.id, caution.successor) == (old.id, new)
    assert not _of(memory, other)
    memory.undo()
    assert not _of(memory, turn)
    memory.redo()
    assert _of(memory, turn) == (caution,)


def test_corrected_again_it_names_the_latest_text(memory: Memory, clock: Clock) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    clock.now = NOW
    globex = memory.correct(_fact(memory, "Initech").id, "The user works at Globex")
    hooli = memory.correct(globex.id, "The user works at Hooli")
    (caution,) = _of(memory, turn)
    assert (caution.old.content, caution.successor) == ("I work at Initech", hooli)
    memory.correct(hooli.id, "I work at Initech")
    assert not _of(memory, turn)  # it says what holds


def test_forgotten_and_restored(memory: Memory, clock: Clock) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    fact = _fact(memory, "Initech")
    clock.now = NOW
    memory.forget(fact.id)
    (caution,) = _of(memory, turn)
    assert (caution.how, caution.at, caution.successor) == ("forgotten", NOW, None)
    memory.restore(fact.id)
    assert not _of(memory, turn)


def test_faded_and_merged_are_no_caution(memory: Memory, clock: Clock) -> None:
    turn, other = _read(memory, "I work at Initech.", "My cat is called Tom.")
    kept = memory.remember("The user's cat is Tom")
    memory.review.merge(kept.id, [_fact(memory, "called").id])
    assert not _of(memory, other)
    clock.now = NOW + 400 * DAY
    memory.jobs.run_now("decay")
    assert memory.view.page("is:faded")
    assert not _of(memory, turn)
    # What it was merged into and corrected then, is.
    memory.correct(kept.id, "The user's cat is Tim")
    assert [one.how for one in _of(memory, other)] == ["corrected"]


def test_what_a_later_statement_replaced_knows_it(memory: Memory, clock: Clock) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    clock.now = NOW
    memory.record_turn("monday", "user", "I now work at Globex, not at Initech any more.")
    memory.record_turn("monday", "user", "I work at Globex now.")
    asyncio.run(memory.consolidate("monday"))
    (caution,) = _of(memory, turn)
    assert caution.successor is not None
    assert "Globex" in caution.successor.content


def test_what_nobody_corrected_was_replaced_when_the_later_statement_was_made(
    memory: Memory, clock: Clock
) -> None:
    (turn,) = _read(memory, "We live in Bergen.")
    clock.now = NOW
    memory.record_turn("monday", "user", "We live in Oslo now.")
    clock.now = NOW + 5 * DAY
    asyncio.run(memory.consolidate("monday"))
    (caution,) = _of(memory, turn)
    assert (caution.how, caution.what, caution.at) == ("corrected", "replaced", NOW)
    assert caution.successor is not None
    clock.now = NOW + 9 * DAY
    memory.correct(caution.successor.id, "The user lives in Hamar")
    (caution,) = _of(memory, turn)
    assert (caution.how, caution.what) == ("corrected", "corrected")
    assert caution.successor is not None and caution.at == NOW + 9 * DAY


def test_a_reflection_drawn_from_it_knows_too(memory: Memory, clock: Clock) -> None:
    _read(memory, "I work at Initech.")
    fact = _fact(memory, "Initech")
    with memory._core.change("reflect", "Reflected") as op:
        from memtui.engine.store import memories

        rid = memories.insert(
            op.connection, kind="reflection", content="Work at Initech fills the week.", event_time=NOW - DAY,
            created_at=NOW - DAY, trust="model", source_ids=[fact.id],
        )  # fmt: skip
        assert rid is not None
    (reflection,) = memory.view.rows([rid])
    clock.now = NOW
    assert not _of(memory, reflection)
    new = memory.correct(fact.id, "The user works at Globex")
    assert [one.successor for one in _of(memory, reflection)] == [new]
    text = memory.context("how is work?").text
    assert text.index("Globex") < text.index("Work at Initech")


def test_in_a_ranking_it_stands_behind_its_successor(memory: Memory, clock: Clock) -> None:
    turn, _ = _read(memory, "I work at Initech near the station.", "My cat is called Tom.")
    assert memory.search("who works at Initech").hits[0].memory.kind == "episode"
    clock.now = NOW
    new = memory.correct(_fact(memory, "Initech").id, "The user works at Globex")
    result = memory.search("who works at Initech")
    places = {hit.memory.id: hit for hit in result.hits}
    assert places[new.id].rank == places[turn.id].rank - 1
    assert [one.successor for one in places[turn.id].cautions] == [new]
    assert memory.explain("who works at Initech", turn.id).rank == places[turn.id].rank
    # Where the successor does not pass, the caution names it.
    alone, *_ = memory.search("who works at Initech", filter="kind:episode").hits
    assert [one.successor for one in alone.cautions] == [new]


def test_the_block_leaves_out_only_what_says_the_old_value(memory: Memory, clock: Clock) -> None:
    _read(memory, "I work at Initech. My dentist appointments always hurt a lot, so I bring headphones.")
    clock.now = NOW
    prompt = "what helps me at the dentist?"
    assert "headphones" in memory.context(prompt, limit=1).text
    memory.correct(_fact(memory, "Initech").id, "The user works at Globex")
    assert "headphones" in memory.context(prompt).text
    block = memory.context("where do I work, at Initech?")
    assert "Globex" in block.text
    assert "Initech" not in block.text


def test_withheld_turns_are_told_to_no_agent(memory: Memory, clock: Clock) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    fact = _fact(memory, "Initech")
    clock.now = NOW
    memory.forget(fact.id, withhold=True)
    assert [one.withheld for one in _of(memory, turn)] == [True]
    assert "Initech" not in memory.context("what do I do at Initech?").text
    memory.undo()
    assert not _of(memory, turn)
    memory.forget(fact.id)
    memory.forget(fact.id, withhold=True)
    assert [one.withheld for one in _of(memory, turn)] == [True]
    assert not memory.restore(fact.id).attributes.get("withheld")
    memory.forget(fact.id)
    assert [one.withheld for one in _of(memory, turn)] == [False]


def test_withholding_is_the_persons(memory: Memory) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    with pytest.raises(InputError):
        memory.forget(turn.id, withhold=True)
    memory.actor = "agent:bot"
    with pytest.raises(ProtectedError):
        memory.forget(_fact(memory, "Initech").id, withhold=True)


def test_who_is_confined_is_told_of_nothing_outside(memory: Memory, clock: Clock) -> None:
    (turn,) = _read(memory, "I work at Initech.")
    old = memory.tag(_fact(memory, "Initech").id, add=["private"])
    clock.now = NOW
    new = memory.correct(old.id, "The user works at Globex")
    assert not memory.view.cautions([turn.id], within="-tag:private")
    memory.tag(new.id, remove=["private"])
    memory.tag(old.id, remove=["private"])
    memory.tag(new.id, add=["secret"])
    (caution,) = memory.view.cautions([turn.id], within="-tag:secret")[turn.id]
    assert caution.successor is None


def test_what_was_replaced_is_not_withheld_in_silence(memory: Memory) -> None:
    _read(memory, "I work at Initech.", "My cat is called Tom.")
    old, cat = _fact(memory, "Initech"), _fact(memory, "Tom")
    memory.correct(old.id, "The user works at Globex")
    with pytest.raises(InputError) as refused:
        memory.forget(old.id, withhold=True)
    assert "superseded" in refused.value.message
    memory.forget(cat.id)
    assert memory.forget(cat.id, withhold=True).withheld
