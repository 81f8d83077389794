"""What the person said in another conversation is never replaced without them; in the same one only what they take back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock

DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        yield memory


def talk(memory: Memory, clock: Clock, session: str, *said: str) -> None:
    for one in said:
        memory.record_turn(session, "user", one)
        clock.now += 40
    clock.now += DAY
    asyncio.run(memory.consolidate(session))


def cards(memory: Memory) -> list[tuple[str, str]]:
    found = [item for item in memory.review.items() if item.kind == "conflict"]
    return [(item.memories[0].content, item.memories[1].content) for item in found]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "We use go 1.22 and sqlite.",
            "We're going with postgres instead of sqlite for the server part, sqlite stays for the cli.",
        ),
        ("My standup is at 10:00 every day.", "Actually, the standup moved to 10:30."),
        ("I live in Bergen.", "I moved, I live in Oslo now."),
        ("I am 30 years old.", "I am 31 years old now."),
    ],
)
def test_across_conversations_the_person_is_asked(memory: Memory, clock: Clock, old: str, new: str) -> None:
    talk(memory, clock, "s1", old)
    talk(memory, clock, "s2", new)
    facts = memory.view.page("kind:fact")
    assert len(facts) == 2
    assert [fact.confidence for fact in facts] == [0.8, 0.8]
    assert not any(fact.supersedes for fact in facts)
    assert len(cards(memory)) == 1


def test_in_one_conversation_what_is_taken_back_is_replaced(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "s1", "My standup is at 10:00 every day on the second floor.")
    talk(memory, clock, "s1", "Actually, the standup moved to 10:30 on Tuesdays.")
    new, old = memory.view.page("kind:fact")
    assert new.supersedes == old.id
    assert not cards(memory)


def test_in_one_conversation_a_fact_that_says_more_is_a_question(memory: Memory, clock: Clock) -> None:
    talk(
        memory,
        clock,
        "s1",
        "We use go 1.22 and sqlite.",
        "We're going with postgres instead of sqlite for the server part, sqlite stays for the cli.",
    )
    assert [fact.confidence for fact in memory.view.page("kind:fact")] == [0.8, 0.8]
