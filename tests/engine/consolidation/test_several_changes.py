"""A message that says several changes at once asks about each fact that it changes."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.several_changes import changed_parts
from memtui.engine.records import Options

from clock import Clock

_BEGIN, _DAYS = 1_773_316_800, 40 * 86_400


def _asked_about(known: tuple[str, ...], words: str) -> set[str]:
    """The known facts that a card shows after the person said something new."""
    clock = Clock(_BEGIN)
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        for text in known:
            memory.remember(text)
        clock.now += _DAYS
        memory.record_turn("s", "user", words)
        asyncio.run(memory.consolidate("s"))
        cards = memory.review.items(limit=20, kinds=("conflict", "choice"))
        return {one.content for card in cards for one in card.memories}


@pytest.mark.parametrize(
    ("known", "words", "beside"),
    [
        (
            ("Our stand-up is at 9:30", "I'm the tech lead of the payments team", "We use Slack"),
            "stand-up's at 10 now, I moved over to the search team, and we left Slack for Teams",
            (),
        ),
        (
            ("Our backend runs on Python 3.9", "We deploy with Jenkins"),
            "we finally moved the backend to Python 3.12 and dropped Jenkins for GitHub Actions",
            (),
        ),
        (
            ("I live in Bradford with my partner", "I work as a dispatcher at a taxi firm"),
            "Big year: moved to Leeds in April, changed jobs (I'm at the council now), and my knee is fine",
            ("My sister Carla lives in Hull",),
        ),
        (
            ("My driving test is on 4 October", "My driving instructor is Karl"),
            "Karl broke his leg so my instructor is Bea, and the driving test moved to 18 October",
            ("I live near the test centre",),
        ),
        (
            ("The project is called Falcon", "Falcon ships in Q2"),
            "we renamed Falcon to Heron, and it ships in Q3 now",
            ("Wei owns the API",),
        ),
    ],
)
def test_each_fact_that_a_part_changes_is_asked_about(
    known: tuple[str, ...], words: str, beside: tuple[str, ...]
) -> None:
    asked = _asked_about((*known, *beside), words)
    assert set(known) <= asked
    assert asked.isdisjoint(beside)


def test_somebody_elses_changes_are_not_the_persons() -> None:
    known = ("I work at Volvo", "I live in Oslo", "I have a dog called Rex")
    assert _asked_about(known, "My neighbour moved to Bergen, changed jobs, and her dog died") == set()


def test_only_what_says_several_changes_is_cut() -> None:
    assert changed_parts("we left Slack for Teams, and the rent went up to 900") == [
        "we left Slack for Teams",
        "the rent went up to 900",
    ]
    assert changed_parts("we left Slack for Teams, and the tea is good") == []
    assert changed_parts("I'm a vet and I live in Bremen") == []
