"""What stands in quotation marks or is said in a part to play is not told as what the person said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock

NOW = 1_763_812_800
DAY = 86_400


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=Clock(NOW), options=Options(background=False)) as memory:
        for place, text in enumerate(
            ("Do that.", "Until the next one.", "Make it shorter please.", "Rename the file.")
        ):
            memory.record_turn(f"chatter{place}", "user", text, NOW - 5 * DAY)
        yield memory


@pytest.mark.parametrize(
    ("words", "prompt", "others"),
    [
        (("pretend you are my barber. I have a wife called Bess and a boat.",), "What is my wife called?", "Bess"),
        (
            ("Let's do a role play, I'm a tenant and you are the landlord.", "I have three dogs and a piano in my flat."),
            "Which animals do I have in my flat?",
            "three dogs",
        ),
        (
            ("You are a doctor and I'm your patient. I take warfarin and I live alone in Bath.",),
            "Which medicine do I take?",
            "warfarin",
        ),
        (
            ('The mail from the agency said "We moved. My office is in Kerry now." and nothing else.',),
            "Where is my office?",
            "Kerry",
        ),
    ],
)  # fmt: skip
def test_others_words_are_not_told(memory: Memory, words: tuple[str, ...], prompt: str, others: str) -> None:
    for place, text in enumerate(words):
        memory.record_turn("play", "user", text, NOW - 4 * DAY + place)
    assert others not in memory.context(prompt).text


@pytest.mark.parametrize(
    ("words", "prompt", "own"),
    [
        (
            ("I won't pretend that I like it, but my wife is called Bess after a cow.",),
            "What is my wife called?",
            "Bess",
        ),
        (
            ("My son does role play games on Fridays, and we have three dogs in the flat.",),
            "Which animals do I have in my flat?",
            "three dogs",
        ),
        (
            ("Let's do a role play, I'm a tenant.", "Ok, enough role play. I take warfarin, by the way."),
            "Which medicine do I take?",
            "warfarin",
        ),
        (('My office is called "The Nest" and it is in Kerry.',), "Where is my office?", "Kerry"),
    ],
)
def test_the_persons_own_beside_them_are(
    memory: Memory, words: tuple[str, ...], prompt: str, own: str
) -> None:
    for place, text in enumerate(words):
        memory.record_turn("play", "user", text, NOW - 4 * DAY + place)
    assert own in memory.context(prompt).text
