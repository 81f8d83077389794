"""What only sounds as if somebody could come to harm is no fact; what is of the person's own is one beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.engine.consolidation.extract.severity import only_sounds_severe

VITAL = Path(__file__).parents[3] / "data" / "vital"
Facts = Callable[..., list[str]]


@pytest.mark.parametrize(
    "message",
    [
        "I'm allergic to Mondays, what's a good crossword app",
        "chef says he will have a stroke if we run out of shallots again",
        "brussels ring gives me a heart attack every time",
        "the pos app is intolerant of nulls, chokes when the price field is empty",
        "mon ordi est allergique aux mises à jour, il plante à chaque fois",
        "There was a lady on the television who can eat nothing but rice, allergic to the whole world.",
        "radio said some driver in ohio had a seizure on the bridge",
        "table 9 yesterday said gluten allergy then ordered the bread",
        "im tatort war der mörder epileptiker",
        "they feared Parkinson's for Harold but the scan came back clean",
        "on a cru que le petit avait une intolérance au lait mais non, les tests sont bons",
        "exam prep, 10 questions about a patient with latex allergy",
        "du hast geschrieben man soll bei schwangerschaft kein rohes fleisch essen",
    ],
)
def test_what_only_sounds_like_harm_is_no_fact(facts: Facts, message: str) -> None:
    assert facts(message) == []


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("I nearly had a heart attack when Ella got stung, she's allergic to wasps", "wasps"),
        ("my car makes me sick, I get travel sick on bends", "travel sick"),
        ("exam prep for tomorrow please, and I have epilepsy so no all-nighter", "epilepsy"),
        ("we thought it was a cold but it turned out she has asthma", "asthma"),
        ("I saw a video on tiktok, I'm allergic to nickel like her", "nickel"),
        ("der Zug hat Verspätung und ich bin Diabetiker", "Diabetiker"),
    ],
)
def test_what_is_of_the_persons_own_is_drawn_beside_it(facts: Facts, message: str, word: str) -> None:
    assert any(word in fact for fact in facts(message))


def test_a_thing_that_harms_nobody_is_none() -> None:
    assert only_sounds_severe("our legacy service needs dialysis")
    assert not only_sounds_severe("our heating gives him asthma")
    assert not only_sounds_severe("the boiler is broken")


def test_look_alikes_of_others_are_seldom_drawn(facts: Facts) -> None:
    """Of two writers who knew no rule."""
    look = [
        line.split("\t")[2]
        for file in VITAL.glob("others_*_dev.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("look")
    ]
    drawn = [message for message in look if facts(message)]
    assert len(look) == 120
    assert len(drawn) <= 20, drawn
