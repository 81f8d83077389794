"""What Review or a later statement replaced and the person says again is asked about, and never made surer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.review.cards import ReviewItem

from clock import Clock

NOW = 1_773_316_800
DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW - 9 * DAY)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        yield memory


def _say(memory: Memory, clock: Clock, session: str, text: str, at: float | None = None) -> None:
    clock.now += DAY
    memory.record_turn(session, "user", text, at)
    asyncio.run(memory.consolidate(session))


def _fact(memory: Memory, text: str) -> MemoryRecord:
    found = [one for one in memory.view.page("kind:fact") if text in one.content]
    return max(found, key=lambda one: one.rid)


@pytest.fixture
def replaced(memory: Memory, clock: Clock) -> MemoryRecord:
    """A fact that Review replaced by another."""
    _say(memory, clock, "s1", "The db is sqlite.")
    _say(memory, clock, "s2", "The db is postgres now, not sqlite anymore.")
    (card,) = memory.review.items(kinds=["conflict"])
    assert [one.content[:17] for one in card.memories] == ["The db is postgre", "The db is sqlite"]
    memory.review.decide(card, "keep")
    return memory.get(card.memories[1].id)


def _cards(memory: Memory) -> list[ReviewItem]:
    return memory.review.items(kinds=["conflict"])


@pytest.mark.parametrize(
    "words", ["The db is sqlite.", "the db is sqlite for now", "The db is sqlite for now."]
)
def test_said_again_after_review_replaced_it_is_asked_about(
    memory: Memory, clock: Clock, replaced: MemoryRecord, words: str
) -> None:
    _say(memory, clock, "s3", words)
    (card,) = _cards(memory)
    new, old = card.memories
    assert ("sqlite" in new.content, "postgres" in old.content) == (True, True)
    assert "said it again" in card.reason
    assert new.id != replaced.id
    assert memory.get(replaced.id).confidence == replaced.confidence
    told = memory.acting_as("agent:a").context("which db do we use?").text
    assert "not decided yet between this and" in told
    assert not memory.review.items(kinds=["duplicate"])
    memory.review.decide(card, "keep")
    assert not _cards(memory)
    assert memory.view.cautions([old.id])[old.id][0].successor == memory.get(new.id)
    assert not memory.view.cautions([new.id])


def test_decided_against_it_again_the_other_one_stands(
    memory: Memory, clock: Clock, replaced: MemoryRecord
) -> None:
    _say(memory, clock, "s3", "The db is sqlite.")
    (card,) = _cards(memory)
    memory.review.decide(card, "forget")
    assert not _cards(memory)
    assert "sqlite." not in [one.content for one in memory.view.page("kind:fact")]
    assert not memory.view.cautions([card.memories[1].id])


def test_an_older_talk_neither_asks_nor_makes_it_surer(
    memory: Memory, clock: Clock, replaced: MemoryRecord
) -> None:
    _say(memory, clock, "s3", "The db is sqlite.", NOW - 30 * DAY)
    assert not _cards(memory)
    assert memory.get(replaced.id).confidence == replaced.confidence


def test_an_agent_that_remembers_it_makes_it_no_surer(memory: Memory, replaced: MemoryRecord) -> None:
    memory.acting_as("agent:a").remember("The db is sqlite", confidence=1.0)
    assert memory.get(replaced.id).confidence == replaced.confidence


def test_said_again_after_the_same_talk_replaced_it_is_asked_about(memory: Memory, clock: Clock) -> None:
    _say(memory, clock, "s1", "My piano lesson is on Thursday. No wait, it's on Friday.")
    old = _fact(memory, "Thursday")
    _say(memory, clock, "s2", "My piano lesson is on Thursday.")
    (card,) = _cards(memory)
    assert ["Thursday" in card.memories[0].content, "Friday" in card.memories[1].content] == [True, True]
    assert memory.get(old.id).confidence == old.confidence
