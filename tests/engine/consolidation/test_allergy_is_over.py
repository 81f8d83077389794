""" "Not allergic any more, tested today" is asked about beside the allergy that was known, in four languages."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.filler import without_filler
from memtui.engine.records import Options

from clock import Clock

_BEGIN, _DAYS = 1_773_316_800, 40 * 86_400
_BESIDE = ("I live in Bremen", "My sister Carla is allergic to latex", "I have a dog called Pepper")


def _cards(known: str, words: str) -> list[tuple[str, ...]]:
    """The texts of the cards after the person said something new."""
    clock = Clock(_BEGIN)
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        for text in (*_BESIDE, known):
            memory.remember(text)
        clock.now += _DAYS
        memory.record_turn("s", "user", words)
        asyncio.run(memory.consolidate("s"))
        return [
            tuple(one.content for one in card.memories)
            for card in memory.review.items(limit=20, kinds=("conflict", "choice"))
        ]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I'm allergic to walnuts", "I'm not allergic any more, tested today"),
        ("I'm allergic to walnuts", "not allergic any more, tested today"),
        ("I'm allergic to walnuts", "I got tested today and the walnut allergy is gone"),
        ("Mila is allergic to walnuts", "Mila is not allergic any more, tested today"),
        ("Mila ist gegen Nüsse allergisch", "Mila ist nicht mehr allergisch, heute getestet"),
        ("Jonas hat eine Katzenallergie", "die Katzenallergie von Jonas ist weg, Test war negativ"),
        ("Je suis allergique aux noix", "plus allergique, testé aujourd'hui"),
        ("Léo est allergique aux œufs", "l'allergie de Léo est partie"),
        ("Soy alérgico a las nueces", "ya no soy alérgico, prueba hoy"),
        ("Leo es alérgico al huevo", "a Leo se le quitó la alergia"),
    ],
)
def test_an_allergy_that_is_over_is_asked_about(known: str, words: str) -> None:
    assert any(known in card for card in _cards(known, words))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I'm allergic to nuts", "Mila is not allergic to nuts"),
        ("I'm allergic to nuts", "I'm not allergic to cats"),
        ("I'm allergic to nuts", "I'm not only allergic to nuts but also to kiwi"),
        ("Mila is allergic to walnuts", "I'm not allergic to walnuts"),
        ("Mia ist gegen Nüsse allergisch", "Jonas ist nicht allergisch"),
    ],
)
def test_another_person_or_another_allergy_is_not_asked_about(known: str, words: str) -> None:
    assert not any(known in card for card in _cards(known, words))


def test_the_french_plus_is_no_filler() -> None:
    assert without_filler("plus allergique aux noix") == "Plus allergique aux noix"
    assert without_filler("plus my sister is coeliac") == "My sister is coeliac"
