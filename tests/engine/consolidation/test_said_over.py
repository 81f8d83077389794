"""A statement that says which value is over, of something that was not known before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.value_mentions import value_said_over
from memtui.engine.records import Options

from clock import Clock

MOVED = "Go-live for all water boards is Thursday 31 December and no longer Thursday 10 December"


@pytest.mark.parametrize(
    ("text", "was"),
    [
        (MOVED, "Thursday 10 December"),
        ("The release moved from 1 August to 15 August", "1 August"),
        ("We meet on Tuesdays at seven, no longer on Fridays", "Fridays"),
        ("The rent is 950 a month instead of 900", "900"),
        ("The match is at 3:15 now, not 2:30", "2:30"),
        ("Der Kurs ist jetzt donnerstags statt dienstags", "dienstags"),
        ("La boda ya no es el 20 de marzo, es el 17 de abril", "20 de marzo"),
    ],
)
def test_the_value_that_is_over_is_found_in_its_words(text: str, was: str) -> None:
    assert value_said_over(text) == was


@pytest.mark.parametrize(
    "text",
    [
        "I take tea instead of coffee",
        "Meet at 9, not 10",  # nothing says that it was 10
        "I read from 5:00 to 7:00",
        "The shop is no longer open on Mondays",
        "Send it by Friday, not only on Friday",
        "I work from home on Fridays, not at the office on Fridays",
    ],
)
def test_what_names_no_other_value_says_no_change(text: str) -> None:
    assert value_said_over(text) == ""


def test_what_was_not_known_before_is_told_as_changed(tmp_path: Path) -> None:
    clock = Clock(1_760_000_000.0)
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        memory.record_turn("s", "user", f"{MOVED}.")
        clock.now += 7200
        asyncio.run(memory.consolidate())
        assert [one.content for one in memory.view.page("is:changed")] == [MOVED]
        (change,) = memory.view.portrait().changes
        assert (change.how, change.was, change.old) == ("told", "Thursday 10 December", None)
