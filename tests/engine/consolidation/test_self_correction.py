"""A value that is taken back a moment later: within a message, or in the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options

from clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        yield memory


def talk(memory: Memory, clock: Clock, *said: str) -> None:
    for one in said:
        memory.record_turn("s1", "user", one)
        clock.now += 40
    clock.now += 3_600
    asyncio.run(memory.consolidate("s1"))


def standing(memory: Memory) -> list[MemoryRecord]:
    """Facts that nothing replaced and no card asks about."""
    facts = memory.view.page("kind:fact")
    settled = {fact.supersedes for fact in facts}
    for card in memory.review.items():
        if card.kind != "conflict":
            continue
        settled |= {one.id for one in card.memories[1:]}
    return [fact for fact in facts if fact.id not in settled]


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        (("My piano lesson is on Thursday. No wait, it's on Friday.",), "Thursday", "Friday"),
        (("The plumber comes at 8:30 on the first.", "wait no, 9:30 they just texted, not 8:30"), "at 8:30", "9:30"),
        (("I am asking 9,000 for the boat.", "Actually make it 8,000, a round figure."), "9,000", "8,000"),
        (("Our club meets the first Wednesday at Angle.", "I tell a lie, it's Thursday we meet."), "Wednesday", "Thursday"),
        (("Meine Klavierstunde ist am Dienstag. Quatsch, sie ist am Mittwoch.",), "Dienstag", "Mittwoch"),
        (("Mi clase de piano es el jueves. Miento, es el viernes.",), "jueves", "viernes"),
        (("Mon cours de piano est le mardi. Enfin non, c'est le jeudi.",), "mardi", "jeudi"),
    ],
)  # fmt: skip
def test_what_was_just_said_gives_way_to_the_correction(
    memory: Memory, clock: Clock, said: tuple[str, ...], old: str, new: str
) -> None:
    talk(memory, clock, *said)
    texts = [fact.content for fact in standing(memory)]
    assert not [text for text in texts if old in text and new not in text]
    assert [text for text in texts if new in text]


@pytest.mark.parametrize(
    "said",
    [
        ("My piano lesson is on Thursday.", "Actually my sister Ada has her dance class on Friday."),
        ("My piano lesson is on Thursday.", "Thanks!", "I like tea.", "Sure.", "Actually I prefer trains.",
         "The bins go out on Fridays."),
        ("I work at Globex on Mondays.", "I have two cats."),
    ],
)  # fmt: skip
def test_what_corrects_nothing_leaves_what_was_said(
    memory: Memory, clock: Clock, said: tuple[str, ...]
) -> None:
    talk(memory, clock, *said)
    assert said[0].rstrip(".") in [fact.content for fact in standing(memory)]


def test_the_replaced_fact_keeps_the_reason_and_undo_brings_it_back(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "My piano lesson is on Thursday. No wait, it's on Friday.")
    [new] = standing(memory)
    assert new.supersedes is not None
    old = memory.get(new.supersedes)
    assert "Thursday" in old.content
    assert old.confidence < new.confidence
    memory.undo()
    assert memory.view.page("kind:fact") == []


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        (
            ("We move into the flat on 2 May, 460 in total.", "Thanks!", "It's the 9th now."),
            "2 May",
            "the 9th",
        ),
        (
            ("We record at Drop of Sun, Aug 14-16, four songs.", "ok great", "Its the 21-23 now, same price"),
            "Aug 14-16",
            "the 21-23",
        ),
    ],
)
def test_a_value_that_stands_alone_asks_about_the_last_one_of_its_kind(
    memory: Memory, clock: Clock, said: tuple[str, ...], old: str, new: str
) -> None:
    talk(memory, clock, *said)
    (card,) = [card for card in memory.review.items() if card.kind == "conflict"]
    assert new in card.memories[0].content and old in card.memories[1].content
