"""The result of a test, or that somebody may have something again, is asked about beside the allergy that was known."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
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
        assert known in [one.content for one in memory.view.page("kind:fact is:active", limit=50)]
        return [
            tuple(one.content for one in card.memories)
            for card in memory.review.items(limit=20, kinds=("conflict", "choice"))
        ]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I'm allergic to walnuts", "allergy test today: negative"),
        ("I'm allergic to walnuts", "Allergy test came back clear"),
        ("I'm allergic to walnuts", "Had the allergy test today. It was negative!"),
        ("I'm allergic to walnuts", "the test was negative, no nut allergy after all"),
        ("I'm allergic to walnuts", "Tested negative for walnuts this morning"),
        ("I'm allergic to walnuts", "turns out I'm fine with walnuts, the doctor says"),
        ("I can't have gluten", "cleared for gluten again"),
        ("I'm coeliac", "cleared for gluten again"),
        ("I'm lactose intolerant", "The doctor cleared me to have lactose again"),
        ("I'm lactose intolerant", "good news, I can drink milk again"),
        ("Mila is allergic to walnuts", "Mila's allergy test today: negative"),
        ("Mila is allergic to eggs", "Mila is allowed to eat eggs again"),
        ("Mila ist gegen Nüsse allergisch", "Mila hatte heute den Allergietest: negativ"),
        ("Ich bin gegen Walnüsse allergisch", "Allergietest heute: negativ"),
        ("Ich bin gegen Walnüsse allergisch", "der Test war negativ, doch keine Nussallergie"),
        ("Ich habe Zöliakie", "darf wieder Gluten essen"),
        ("Ich habe eine Laktoseintoleranz", "Laktose ist wieder erlaubt, sagt der Arzt"),
        ("Je suis allergique aux noix", "test d'allergie aujourd'hui : négatif"),
        ("Je suis allergique aux noix", "le test était négatif, finalement pas d'allergie aux noix"),
        ("Je suis cœliaque", "je peux de nouveau manger du gluten"),
        ("Soy alérgico a las nueces", "prueba de alergia hoy: negativa"),
        ("Soy alérgico a las nueces", "la prueba salió negativa, al final no hay alergia a las nueces"),
        ("Soy celíaca", "ya puedo comer gluten otra vez"),
        ("I'm allergic to penicillin", "blood results: negative for penicillin"),
        ("I'm allergic to nuts", "my allergist says almonds are safe again"),
        ("Mila has a milk allergy", "Mila's results are in: no milk allergy"),
        ("Mila has a milk allergy", "Mila passed the milk challenge, dairy is fine again"),
    ],
)
def test_a_result_is_asked_about(known: str, words: str) -> None:
    assert any(known in card for card in _cards(known, words))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I'm allergic to walnuts", "Covid test today: negative"),
        ("I'm allergic to walnuts", "Mila's allergy test today: negative"),
        ("I'm allergic to walnuts", "the allergy test was not negative"),
        ("I'm allergic to walnuts", "Was the allergy test negative?"),
        ("I'm allergic to walnuts", "I hope the allergy test is negative"),
        ("I'm allergic to walnuts", "if the allergy test is negative we'll bake the cake"),
        ("I'm allergic to walnuts", "cleared for gluten again"),
        ("I'm allergic to walnuts", "I can eat eggs again"),
        ("I'm allergic to walnuts", "negative feedback on the walnut table today"),
        ("Ich bin gegen Walnüsse allergisch", "Schwangerschaftstest heute: negativ"),
    ],
)
def test_another_test_another_person_or_no_result_is_not_asked_about(known: str, words: str) -> None:
    assert not any(known in card for card in _cards(known, words))
