"""What a family asks: a meal brings all rules for food, a day what happens on it, and reasons name the right person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from test_unrelated_prompts import DATA, remembered


@pytest.fixture(scope="module")
def family() -> Iterator[Memory]:
    with remembered(json.loads((Path(DATA) / "family.json").read_text())) as memory:
        yield memory


def test_a_meal_brings_all_rules_for_food_and_no_timetable(family: Memory) -> None:
    text = family.context("What shall I cook tonight?").text
    for rule in (
        "coriander",
        "for four people and in grams",
        "cashews",
        "vegetarian",
        "diabetic",
        "celiac",
        "almonds",
    ):
        assert rule in text, rule
    for other in ("Mondays", "Wednesday", "Parent evening", "library"):
        assert other not in text, other


def test_the_reason_names_whom_a_danger_is_about_and_nobody_else(family: Memory) -> None:
    why = {one.memory.content: one.reason for one in family.context("What shall I cook tonight?").vital}
    assert why["Dr. Yilmaz said almonds are fine but no mixed nuts ever"] == "health"
    assert next(reason for text, reason in why.items() if "allergic to cats" in text) == "health: Tom"
    assert next(reason for text, reason in why.items() if "Emilia" in text) == "health: Emilia"
    assert why["No nuts because of Leo"] == "health: Leo"


@pytest.mark.parametrize(
    "prompt", ["what shall we do on Saturday?", "what is on 28 November?", "any plans for November 28th?"]
)
def test_a_day_brings_what_happens_on_it(family: Memory, prompt: str) -> None:
    block = family.context(prompt)
    assert "Mia turns 9 on November 28" in block.text
    assert ("on Sat 28 Nov",) in [one.reasons for one in block.related] or "november" in prompt.lower()


def test_a_day_without_a_date_brings_no_other_day(family: Memory) -> None:
    assert "Mia turns 9" not in family.context("what shall we do on Thursday?").text


def test_the_decision_that_calls_a_plan_off_stands_before_the_plan(family: Memory) -> None:
    text = family.context("plan our train trip to Graz").text
    assert text.index("decided not to go to Graz") < text.index("We want to visit")
