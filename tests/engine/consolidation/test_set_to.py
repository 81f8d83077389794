"""What is set to something else is replaced; what only begins alike stands beside it."""

from __future__ import annotations

import time

import pytest
from memtui.engine.consolidation.compare import update_model
from memtui.engine.consolidation.compare.change_words import CUES, cue_patterns, says_change
from memtui.engine.consolidation.compare.conflicts import relation_between
from memtui.engine.consolidation.compare.pair_features import Statement


@pytest.mark.parametrize(
    ("new", "old", "reason"),
    [
        ("The standup moved to 10:30 on Tuesdays", "My standup is at 10:00 every day on the second floor", "time"),
        ("Standup is at 11 now", "Standup is at 10", "time"),
        ("My team meeting is now on Monday", "My team meeting is on Friday, in the big room", "day"),
        ("The dentist appointment moved to 28 November", "The dentist appointment with Dr. Bakker is on 3 November", "date"),
        ("The launch has been postponed from 4 May to 9 May", "The launch is on 4 May", "date"),
        ("My rent is now 1,200 euros", "My rent is 900 euros", "amount"),
    ],
)  # fmt: skip
def test_the_same_thing_set_to_something_else_takes_the_place_of_what_it_was(
    new: str, old: str, reason: str
) -> None:
    standing = relation_between(new, old, correcting=True)
    assert (standing.kind, standing.strong, standing.reason) == ("conflict", True, f"a different {reason}")


@pytest.mark.parametrize(
    "text", ["word with " * 1_900, "I moved" + " in a" * 3_000, "I live" + " in" * 6_000, "the is " * 2_800]
)
def test_no_text_takes_long_to_compare(text: str) -> None:
    started = time.process_time()
    relation_between(text, "I live in Berlin", correcting=True)
    relation_between("The standup is at 10", text, correcting=True)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("My sister now has 3 kids", "My sister is 40 years old"),
        ("My mother now lives at number 14", "My mother was born in 1950"),
        ("I now run 5 km on Mondays", "I run a team of 10 people"),
        ("The project deadline moved to 5 May", "The project budget is 20000 euros"),
        ("My flight is now on Tuesday", "My flight lesson is on Friday"),
        ("My team now meets on Tuesday", "My team has lunch on Friday"),
        ("Max is 5 now", "Max is my dog, we got him in 2021"),
        ("The meeting with Ann is now on Friday", "The meeting with Bob is on Monday"),
        ("The gym is now also on Tuesday", "The gym is on Monday"),
        ("My commute is now 20 minutes", "My commute is 14 km"),
    ],
)
def test_what_only_begins_alike_is_not_replaced(new: str, old: str) -> None:
    assert not relation_between(new, old, correcting=True).strong


def test_a_dose_that_is_said_not_to_be_is_asked_about() -> None:
    new = "Doctor Hannigan changed it, it's 54 now from this week not 36"
    assert (
        relation_between(
            new, "I'm on Concerta 36 mg in the morning with food", judged=2.1, correcting=True
        ).kind
        == "conflict"
    )


def test_what_sounds_like_a_change_scores_higher_than_what_does_not() -> None:
    known = [Statement("Landlord is Mr Osei")]
    judge = update_model.update_model().replacement_odds
    (changes,) = judge(
        Statement("building got sold, our landlord is some firm called Redbrick these days"), known
    )
    (asks,) = judge(Statement("what does a landlord have to repair in winter, generally"), known)
    assert changes > asks


def test_a_german_cue_is_found_in_any_case() -> None:
    assert says_change("Ich weiß es jetzt, Gleis 9") and says_change("ICH WEISS ES JETZT, GLEIS 9")
    also = cue_patterns()[CUES.index("also")]
    assert also.search("außerdem trinkt er tee".casefold())
