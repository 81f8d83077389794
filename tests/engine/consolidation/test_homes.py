"""Where somebody lives: another place by its name follows the known one; what is no home replaces none."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.compare.conflicts import relation_between


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We live in Oslo now", "I live in Bergen"),
        ("i live in munich now", "i live in berlin"),
        ("I moved: I live in Oslo now", "I live in Bergen"),
        ("I moved and now live in Oslo", "I live in Berlin"),
        ("I moved from Berlin to Munich", "I live in Berlin"),
        ("I moved back to New York in March", "I live in Berlin"),
        ("I moved last year to Paris", "I live in a flat in Berlin"),
        ("I live in the Netherlands now", "I live in Germany"),
        ("My sister lives in Rome now", "My sister lives in Oslo"),
    ],
)
def test_another_place_that_is_said_to_be_the_new_home_follows_the_old_one(new: str, old: str) -> None:
    standing = relation_between(new, old, correcting=True)
    assert (standing.kind, standing.reason, standing.strong) == ("conflict", "a different home", True)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We moved to Pegelstraat 14", "I live in Rotterdam"),
        ("We moved to Tindrum", "I live in Berlin"),
    ],
)
def test_a_street_or_a_place_that_is_not_known_as_one_is_a_question(new: str, old: str) -> None:
    standing = relation_between(new, old, correcting=True)
    assert (standing.kind, standing.strong) == ("conflict", False)


def test_two_places_of_which_none_is_said_to_be_new_are_a_question() -> None:
    standing = relation_between("I live in Germany", "I live in Berlin")
    assert (standing.kind, standing.strong) == ("conflict", False)


@pytest.mark.parametrize("correcting", [False, True])
@pytest.mark.parametrize(
    "new",
    [
        "I live in a small flat",
        "I live at home now",
        "I moved my desk to the window",
        "I moved to a new team",
        "I moved the meeting to Paris",
        "I moved in with Ada",
        "My sister lives in Rome",
        "I also live in Rome now",
        "My second home is in Rome now",
    ],
)
def test_what_tells_no_home_stands_beside_the_one_that_is_known(new: str, correcting: bool) -> None:
    assert relation_between(new, "I live in Berlin", correcting=correcting).kind == "beside"


def test_somebody_with_a_name_has_one_home_and_one_employer_too() -> None:
    moved = relation_between(
        "My sister Anna lives in Rome now", "My sister Anna lives in Oslo", correcting=True
    )
    assert (moved.reason, moved.strong) == ("a different home", True)
    works = relation_between("My sister Anna works at Bosch", "My sister Anna works at Siemens")
    assert (works.kind, works.reason, works.strong) == ("conflict", "a different employer", False)
    assert not relation_between("I also work at Bosch now", "I work at Siemens", correcting=True).strong
    assert relation_between("My employer is Bosch", "I work at Siemens").reason == "a different employer"
    for other in ("My sister Nina works at Siemens", "My brother works at Siemens", "I work at Siemens"):
        assert relation_between("My sister Anna works at Bosch", other).reason != "a different employer"


def test_another_doctor_is_a_conflict_also_with_the_title_before_the_name() -> None:
    assert (
        relation_between("My dentist is Dr. Weber", "My dentist is Dr. Bakker").reason
        == "a different dentist"
    )
    assert relation_between("My dentist is Dr. Weber", "My dentist is Weber").kind != "conflict"
