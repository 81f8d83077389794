"""A session's summary: the person's first request and the names that they came back to, never an answer."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.summary import summarise_session


def test_the_first_request_and_the_names_that_come_back() -> None:
    messages = [
        "morning! ok so can you make a plan for the move to Horsforth",
        "and the dog goes to Louise in the end",
        "what do I pack for Louise",
    ]
    assert summarise_session(messages) == "Make a plan for the move to Horsforth (Louise)"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        ["hi"],
        ["thanks!", "ok"],
        ["```\ncode here for you to read\n```"],
        ["imagine I won the lottery"],
        ["I live in Bergen", "my cat is called Tom"],
    ],
)
def test_there_is_none_where_nothing_says_what_it_was_about(messages: list[str]) -> None:
    assert summarise_session(messages) is None


def test_a_long_request_is_cut() -> None:
    found = summarise_session(["write a letter about " + "the garden and the house and " * 40])
    assert found is not None
    assert len(found) <= 140


@pytest.mark.parametrize(
    "request_",
    [
        "How would you lay it out?", "Is that normal for two people?", "How do I get there by train?",
        "Put that in your head as a rule", "I understood maybe half??", "Budget went down to 19?",
        "Remind me in the week before", "How long would it take?",
    ],
)  # fmt: skip
def test_what_only_points_at_something_says_nothing_by_itself(request_: str) -> None:
    assert summarise_session([request_]) is None
    asked = "Can you write a letter to the landlord about the broken boiler?"
    assert summarise_session([request_, asked]) == "Write a letter to the landlord about the broken boiler"


def test_a_day_is_no_name_that_they_came_back_to() -> None:
    messages = [
        "write an advertisement for the boat please",
        "on a Wednesday, in August, for Maureen",
        "not this Wednesday, in August, ask Maureen",
    ]
    assert summarise_session(messages) == "Write an advertisement for the boat please (Maureen)"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("so my sister is coming\nneed a packing list for a weekend in Bath", "packing list for a weekend in Bath"),
        ("ok new week\nwhats a good marinade for tofu", "good marinade for tofu"),
        ("I passed the test!!\nNow other thing: make me a list of ingredients for 40 simit", "list of ingredients"),
    ],
)  # fmt: skip
def test_a_request_on_the_second_line_is_what_it_was_about(message: str, expected: str) -> None:
    found = summarise_session([message])
    assert found is not None
    assert expected in found
    assert "sister" not in found and "week n" not in found and "passed" not in found
