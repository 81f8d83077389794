"""Greetings, exclamations, moods and fragments are no facts; what leaves out its subject gets it back, or is not drawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from memtui.engine.consolidation.extract.antecedents import find_antecedent

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


@pytest.mark.parametrize(
    "message",
    [
        "Kannst du mir erklären was TSE bedeutet, ganz einfach", "Kann ich das mit Kaffee nehmen",
        "Jetzt sag mir noch wieviel Gramm sind ein Pfund", "Cuanto es la mitad de 3800 menos 150",
        "2 lines for gumtree for the old whipper snipper, a honda", "Hé tu peux m'expliquer pourquoi les chats ronronnent",
        "Gimme an opener that's not cringe, I have a red bike",
    ],
)  # fmt: skip
def test_a_request_without_its_mark_is_no_fact(facts: Facts, message: str) -> None:
    assert facts(message) == []


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("and county final is sunday 11 october in Páirc Uí Rinn, mam and dad are coming down from Skibbereen", "Skibbereen"),
        ("Guten Abend, ich bin die Marlies und hab einen Blumenladen in Oldenburg", "Oldenburg"),
        ("my doctor put me up to losartan 100 since yesterday", "losartan 100"),
    ],
)  # fmt: skip
def test_what_only_begins_like_a_request_or_a_greeting_is_one(facts: Facts, message: str, word: str) -> None:
    assert any(word in fact for fact in facts(message))


def test_a_fact_without_its_subject_is_not_drawn(facts: Facts) -> None:
    assert facts("sleeps in the woodshed. that's where it is") == []


def test_a_subject_that_is_left_out_is_named_where_it_is_certain(facts: Facts) -> None:
    assert find_antecedent("Alfie did the food challenge.", "still has to carry the pens", ()) == "Alfie"
    assert find_antecedent("Alfie played with Karim.", "still has to carry the pens", ()) is None
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
