"""Greetings, exclamations, moods and fragments are no facts; what leaves out its subject gets it back, or is not drawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from memtui.engine.consolidation.extract.antecedents import antecedent

Facts = Callable[..., list[str]]


@pytest.mark.parametrize(
    "message",
    [
        "Fine, tea", "Guten Morgen", "Booo no puffins", "so much for the 8th", "on my break so quick one",
        "Right and allergy clinic update!!", "ja, ich weiß", "me estoy muriendo de sueño", "jaja el de las mañas está chido",
        "we're in, we're in, there are still boxes", "she laughed, bless her", "Gliedern Sie mir ein Kapitel über Dahlmann",
        "Matthias fragt, ob Zürich oder Göttingen teurer sei", "ich habe schlecht geschlafen und könnte heute alle verklagen",
        "some people can't have dairy, they use oat milk instead", "the tests are allergic to my code lol",
    ],
)  # fmt: skip
def test_chat_is_no_fact(facts: Facts, message: str) -> None:
    assert facts(message) == []


def test_a_fact_without_its_subject_is_not_drawn(facts: Facts) -> None:
    assert facts("sleeps in the woodshed. that's where it is") == []


def test_a_subject_that_is_left_out_is_named_where_it_is_certain(facts: Facts) -> None:
    assert antecedent("Alfie did the food challenge.", "still has to carry the pens", ()) == "Alfie"
    assert antecedent("Alfie played with Karim.", "still has to carry the pens", ()) is None
    assert any(
        "Alfie" in fact for fact in facts("my son Alfie is 8", "he's allergic to cashews and has an epipen")
    )


def test_a_message_before_names_nobody_where_two_may_be_meant(facts: Facts) -> None:
    found = facts("Alfie and Karim came over", "he's allergic to cashews")
    assert not any(fact.startswith(("Alfie:", "Karim:")) for fact in found)


def test_a_request_is_no_part_of_a_fact(facts: Facts) -> None:
    found = facts("I can't take ibuprofen, had a stomach ulcer in 2023, so what else for a banging head")
    assert found
    assert not any("what else" in fact for fact in found)
