"""Values in statements: how they are read, and which of them are said to be over."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.compare.similarity import tokens_as_written
from memtui.engine.consolidation.compare.value_mentions import negated_values, read_values, spoken_forms
from memtui.engine.consolidation.compare.values import sets_another_value, takes_back_value


def _read(text: str) -> set[str]:
    return {value for kind in read_values(text, tokens_as_written(text)).values for value in kind}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("budget monté à 21 500", {"21500"}),
        ("me pasaron 1.900.000", {"1900000"}),
        ("kostet 18 000 €", {"18000"}),
        ("rent is 1,650", {"1650"}),
        ("weighs 3.75 kilos", {"3.75"}),
        ("on commence à 21h", {"21:00"}),
    ],
)
def test_thousands_are_one_number(text: str, values: set[str]) -> None:
    assert _read(text) == values


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("moved from 9 to 10", {"9"}),
        ("is not 12 anymore, is 19 may", {"12"}),
        ("nicht am 3. sondern erst am 17. märz", {"3/"}),
        ("july 3 to 10 is gone", {"3/7", "10/7"}),
        ("they have no more seat july 18, i got august 8", {"18/7"}),
        ("i said 900 pounds to fergus, is too low", {"900"}),
        ("it's no longer tuesdays", {"1"}),
        ("no more than 20 dollars", set()),
        ("not just 12 but 20", set()),
    ],
)
def test_what_is_said_to_be_over(text: str, over: set[str]) -> None:
    assert negated_values(text) == over


def test_a_value_may_be_said_in_short() -> None:
    assert spoken_forms(read_values("3 may at 16:00", ["3", "may", "at", "16:00"]).values) >= {
        "3/", "3", "16", "4", "3/5", "16:00",
    }  # fmt: skip
    assert takes_back_value("is not 12 anymore, is 19 may", "Financial accounting 12 may")
    assert not takes_back_value("is not 11 anymore, is 19 may", "Financial accounting 12 may")
    assert sets_another_value("The bus is at 9:30, not 8:30", "The bus leaves at 8:30")
