"""A dose without the medicine's name is a change of the one medicine that the person is known to take."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock

_BEGIN, _DAYS = 1_773_316_800, 40 * 86_400
_BESIDE = (
    "I live in Bremen", "My sister Carla works at the town hall", "Carla is allergic to latex", "I have a dog called Pepper",
    "We go climbing on Thursdays", "My brother Tom lives in Lyon", "Tom has a peanut allergy", "The gym costs 40 a month",
    "I like my coffee black", "The rent is 900 a month", "Standup is at 9:30", "My flat has 75 square metres",
)  # fmt: skip
_THYROXINE = "I take levothyroxine 50 mcg every morning"
_STATIN = "I'm on atorvastatin 20 mg at night"


def _cards(known: tuple[str, ...], words: str) -> list[tuple[str, ...]]:
    """The texts of the cards after the person said something new."""
    clock = Clock(_BEGIN)
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        for text in (*_BESIDE, *known):
            memory.remember(text)
        clock.now += _DAYS
        memory.record_turn("s", "user", words)
        asyncio.run(memory.consolidate("s"))
        active = [one.content for one in memory.view.page("kind:fact is:active", limit=50)]
        assert set(known) <= set(active)
        return [
            tuple(one.content for one in card.memories)
            for card in memory.review.items(limit=20, kinds=("conflict", "choice"))
        ]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (_THYROXINE, "now it's 75 mcg"),
        (_THYROXINE, "I take 75 mcg now"),
        (_THYROXINE, "up to 75 mcg from Monday"),
        (_THYROXINE, "Saw the GP. The dose goes up to 75 mcg."),
        (_THYROXINE, "I take 75 mcg"),
        (_THYROXINE, "75 mcg since Monday"),
        ("I take levothyroxine", "they put me on 75 mcg"),
        ("I'm on 50 of levothyroxine for my thyroid", "they put me on 75 mcg"),
        (_STATIN, "up to 40 mg"),
        (_STATIN, "doctor raised it to 40mg"),
        (_STATIN, "down to 10 mg, she says my levels are fine"),
        ("Ich nehme L-Thyroxin 50 µg", "jetzt sind es 75 µg"),
        ("Ich nehme Ramipril 5 mg", "die Dosis ist jetzt 10 mg"),
        ("Je prends du lévothyrox 50 µg", "maintenant c'est 75 µg"),
        ("Tomo levotiroxina 50 mcg", "ahora son 75 mcg"),
        ("Mila takes sertraline 50 mg", "Mila is up to 75 mg now"),
    ],
)
def test_a_dose_alone_changes_the_one_medicine(known: str, words: str) -> None:
    assert any(known in card for card in _cards((known,), words))


@pytest.mark.parametrize("words", ["now it's 75 mcg", "I take 75 mcg now", "up to 75 mcg from Monday"])
def test_of_two_medicines_the_one_with_that_unit_is_meant(words: str) -> None:
    cards = _cards((_THYROXINE, _STATIN), words)
    assert any(_THYROXINE in card for card in cards)
    assert not any(_STATIN in card for card in cards)


@pytest.mark.parametrize("words", ["now it's 40 mg", "up to 40 mg", "I take 40 mg now"])
def test_of_several_medicines_one_card_asks_which(words: str) -> None:
    known = ("I take ramipril 5 mg in the morning", _STATIN)
    cards = _cards(known, words)
    assert [card for card in cards if set(known) & set(card)], cards
    assert all(set(known) <= set(card) for card in cards)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (_THYROXINE, "I take levothyroxine 50 mcg"),
        (_STATIN, "the recipe needs 40 mg of saffron"),
        (_STATIN, "now it's 40"),
        (_STATIN, "Dad is up to 40 mg now"),
        (_STATIN, "I take magnesium 300 mg too"),
        ("Mila takes sertraline 50 mg", "I'm up to 75 mg now"),
        (_STATIN, "should I go up to 40 mg?"),
        (_STATIN, "a coffee has about 95 mg of caffeine"),
    ],
)
def test_another_thing_or_person_is_not_asked_about(known: str, words: str) -> None:
    assert not any(known in card for card in _cards((known,), words))
