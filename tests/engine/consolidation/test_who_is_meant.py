"""A fact names whom it is about. Where the name is not certain the person is asked, and no agent is given the fact."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        yield memory


def talk(memory: Memory, clock: Clock, *said: str) -> list[str]:
    for one in said:
        memory.record_turn("s1", "user", one)
        clock.now += 40
    asyncio.run(memory.consolidate("s1"))
    return [fact.content for fact in memory.view.page("kind:fact")]


def test_a_pronoun_inside_a_sentence_becomes_the_name(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory, clock, "Leo was at Dr. Yilmaz today. Besides peanuts he is also allergic to cashews now."
    )
    assert "Besides peanuts Leo is also allergic to cashews now" in facts


def test_the_name_is_found_in_the_message_before(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory,
        clock,
        "We decided not to go to Graz for Christmas, Karin will come to us instead, December 24 to 27.",
        "On the sofa bed in the study. She is vegetarian by the way.",
    )
    assert "Karin: she is vegetarian" in facts


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (
            "Mia's swimming is on Wednesdays. Tom is at work until five. My mother Hilde will take her every week.",
            "her",
        ),
        ("We have to carry the Jext pen everywhere. Kindergarten has one.", "one"),
        ("Emma and Nora are coming at seven. She is vegetarian and has celiac disease.", "She"),
    ],
)
def test_where_nobody_can_tell_the_person_is_asked(
    memory: Memory, clock: Clock, said: str, word: str
) -> None:
    facts = talk(memory, clock, said)
    (card,) = [item for item in memory.review.items() if item.kind == "held"]
    assert f"is meant by “{word}”?" in card.reason
    assert "The sentence before it: “" in card.reason
    assert card.text not in facts
    assert card.text not in [hit.memory.content for hit in memory.search(card.text).hits]


def test_the_person_writes_the_name(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "Emma and Nora are coming at seven. She is vegetarian and has celiac disease.")
    (card,) = [item for item in memory.review.items() if item.kind == "held"]
    memory.review.decide(card, "correct", text="Nora is vegetarian and has celiac disease")
    assert "Nora is vegetarian and has celiac disease" in [
        fact.content for fact in memory.view.page("kind:fact")
    ]


def test_a_sentence_with_two_subjects_gives_two_facts(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory,
        clock,
        "My daughter Mia has swimming on Tuesdays and my son Leo has speech therapy on Thursdays.",
    )
    assert set(facts) == {
        "My daughter Mia has swimming on Tuesdays",
        "My son Leo has speech therapy on Thursdays",
    }
