"""A new home or job by its name alone, and that somebody with a name is gone: the known fact is asked about.

Of each sort half the cases only look like it. Further facts are known in each, and none of them is asked about.
"""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock

_BEGIN, _DAYS = 1_773_316_800, 40 * 86_400
_BESIDE = ("I play the cello", "My brother Arne lives in Basel", "I take the 52 bus to work")


def _asked_about(known: str, words: str) -> set[str]:
    """The known facts that a card shows after the person said something new."""
    clock = Clock(_BEGIN)
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        for text in (known, *_BESIDE):
            memory.remember(text)
        clock.now += _DAYS
        memory.record_turn("s", "user", words)
        asyncio.run(memory.consolidate("s"))
        cards = memory.review.items(limit=20, kinds=("conflict", "choice"))
        return {one.content for card in cards for one in card.memories} & {known, *_BESIDE}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I live in Leipzig", "finally in nantes, moved in on the 17th"),
        ("We live in Tartu with my parents", "new flat in Gdynia since Friday, boxes everywhere"),
        ("Ich wohne in Kassel", "endlich in Rostock, am Montag eingezogen"),
        ("I work at Halden Paper", "signed with Kapoor & Sons, start in May"),
        (
            "I'm a nurse at St Columba's hospital",
            "handed in my notice, joining Brightwater Clinic on the 1st",
        ),
        ("I work for Delmar Foods as a buyer", "first week at Oakline done, everyone is kind"),
    ],
)
def test_a_new_home_or_job_by_its_name_alone_is_asked_about(known: str, words: str) -> None:
    assert _asked_about(known, words) == {known}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I live in Leipzig", "finally in Nantes, the train took nine hours"),
        ("I live in Leipzig", "my parents moved in with my aunt in Bremen on the 3rd"),
        ("I live in Leipzig", "stuck in Nantes until Friday, conference"),
        ("I work at Halden Paper", "signed with Vodafone, starts in May, 20 a month cheaper"),
        ("I work at Halden Paper", "my sister signed with Kapoor & Sons, she starts in May"),
        ("I'm a nurse at St Columba's hospital", "first week with Oakline broadband, still no signal"),
    ],
)
def test_a_journey_a_contract_and_somebody_elses_are_not(known: str, words: str) -> None:
    assert _asked_about(known, words) == set()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I have a dog called Pixel", "Pixel died last week"),
        ("We keep two hens, Dotty and Mabel", "a fox got Mabel on Sunday"),
        ("My girlfriend Ines studies law in Graz", "Ines and I split up"),
        ("I have a horse called Bramble at the yard in Ely", "had to let Bramble go, sold her to a girl in the village"),
        ("Our cat is called Nero", "we had Nero put to sleep yesterday"),
        ("My grandpa Otis lives in the home on Mill Lane", "grandpa Otis passed away on Tuesday"),
    ],
)  # fmt: skip
def test_that_somebody_with_a_name_is_gone_is_asked_about(known: str, words: str) -> None:
    assert _asked_about(known, words) == {known}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I have a dog called Pixel", "Pixel's tracker died last week, ordered a new one"),
        ("I have a dog called Pixel", "Pixel nearly died last week, he ate a sock"),
        ("We keep two hens, Dotty and Mabel", "we lost Mabel for an hour, she was in the shed"),
        ("My girlfriend Ines studies law in Graz", "Ines and I split the rent"),
        ("Our cat is called Nero", "Nero slept all day, I'm dead tired"),
        (
            "My grandpa Otis lives in the home on Mill Lane",
            "Uncle Otis in the series died in the last episode",
        ),
    ],
)
def test_what_only_speaks_of_an_end_is_not(known: str, words: str) -> None:
    assert _asked_about(known, words) == set()
