from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.consolidation.compare import conflicts
from memtui.engine.consolidation.compare.similarity import compare_statements

DUPLICATES = (
    ("Ada is allergic to walnuts", "Ada is allergic to walnuts."),
    ("I live in an apartment in Bergen", "I live in a flat in Bergen"),
    ("My brother Bo plays the cello", "My brother, Bo, is playing the cello"),
    ("The kiln was moved by Tobias", "Tobias moved the kiln"),
    ("I don't eat meat", "I don't eat meat any more"),
    ("I don't eat meat anymore", "I don't eat meat"),
)
NOT_DUPLICATES = (
    ("Ada likes walnuts", "Ada never likes walnuts"),
    ("Standup is at 10:00", "Standup is at 11:00"),
    ("I no longer work at Tidewatch", "I work at Tidewatch"),
    ("Ada asked Bo to stay", "Bo asked Ada to stay"),
    ("I live in Bergen", "I live in Oslo"),
    ("Works with Samir on the backend", "Works with Olga on the backend"),
    ("The rent is 1,480 a month", "The rent is 1,595 a month"),
    ("Runs without a coach", "Runs with a coach"),
    ("Meets Yuki before lunch", "Meets Yuki after lunch"),
    ("Ada moved", "Ada moved to Porto in 2019"),
    ("likes two sugars in coffee", "likes three sugars in coffee"),
    ("我住在北京", "我住在上海"),
)


@pytest.mark.parametrize(("first", "second"), DUPLICATES)
def test_the_same_in_other_words_is_a_duplicate(first: str, second: str) -> None:
    assert compare_statements(first, second).kind == "duplicate"


@pytest.mark.parametrize(("first", "second"), NOT_DUPLICATES)
def test_what_differs_in_what_matters_is_no_duplicate(first: str, second: str) -> None:
    assert compare_statements(first, second).kind != "duplicate"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Ada eats cheese on Fridays", "Ada does not eat cheese on Fridays", "denies"),
        ("Standup is at 10:00 on the second floor", "Standup is at 10:30 on the second floor", "one says 10:00, the other 10:30"),
        ("The dentist comes on Monday morning", "The dentist comes on Tuesday morning", "one says Monday, the other Tuesday"),
    ],
)  # fmt: skip
def test_a_near_duplicate_that_differs_is_a_conflict_with_its_reason(
    first: str, second: str, reason: str
) -> None:
    verdict = compare_statements(first, second)
    assert verdict.kind == "conflict"
    assert reason in " ".join(verdict.reasons)


def test_statements_about_other_things_are_different() -> None:
    assert compare_statements("Rhubarb hates stairs", "Olga negotiated the SMS contract").kind == "different"


@given(st.text(max_size=80), st.text(max_size=80))
def test_comparing_is_symmetric_and_total(first: str, second: str) -> None:
    there, back = compare_statements(first, second), compare_statements(second, first)
    assert there.kind == back.kind
    assert 0.0 <= there.score <= 1.0


@given(st.text(min_size=1, max_size=80))
def test_every_text_is_its_own_duplicate(text: str) -> None:
    assert compare_statements(text, text).kind == "duplicate"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Ada plays chess daily with Mira", "Ada enjoyed chess daily with Mira", "one says plays, the other enjoyed"),
        ("Ada plays chess", "Ada plays chess in Lovelace", "only one names Lovelace"),
        ("Stores keys in Postgres and studies", "Stores keys in SQLite and studies", "one says Postgres, the other SQLite"),
    ],
)  # fmt: skip
def test_a_reason_names_the_words_as_they_stand_not_their_stems(first: str, second: str, reason: str) -> None:
    assert reason in compare_statements(first, second).reasons


def test_the_day_on_which_something_was_said_is_no_value_that_contradicts() -> None:
    said = "Tom has been vegetarian since last week"
    first, later = f"{said} (said 6 November 2026)", f"{said} (said 10 November 2026)"
    # Nor the same: "next Saturday", said on another day, may be another Saturday.
    assert conflicts.relation_between(later, first).kind == "beside"
    assert conflicts.relation_between(later, later).kind == "duplicate"
