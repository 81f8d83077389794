""" "Guest count went up to 135": kept because of the fact that it changes, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.compatible import are_compatible
from memtui.engine.records import Options

from clock import Clock

DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock(1_773_316_800)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as opened:
        yield opened


def _say(memory: Memory, clock: Clock, session: str, words: str) -> None:
    memory.record_turn(session, "user", words)
    asyncio.run(memory.consolidate(session))
    clock.now += DAY


@pytest.mark.parametrize(
    ("known", "words", "new"),
    [
        ("Our service runs on Python 3.11 and FastAPI.", "Sorry. It's 3.12 now.", "It's 3.12 now"),
        (
            "The wedding of Tom and Aisha has 120 guests.",
            "also guest count went up to 135 cos toms uncle suddenly exists",
            "Guest count went up to 135 cos toms uncle suddenly exists",
        ),
    ],
)
def test_a_bare_value_is_asked_about_beside_the_fact_that_it_changes(
    memory: Memory, clock: Clock, known: str, words: str, new: str
) -> None:
    _say(memory, clock, "a", known)
    _say(memory, clock, "b", words)
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    assert [one.content for one in card.memories] == [new, known.rstrip(".")]


@pytest.mark.parametrize(
    "words", ["Sorry. It's 3.12 now.", "also guest count crept up to 135 cos toms uncle suddenly exists"]
)
def test_where_it_changes_nothing_that_is_known_it_is_not_kept(
    memory: Memory, clock: Clock, words: str
) -> None:
    _say(memory, clock, "a", "I live in Bergen.")
    _say(memory, clock, "b", words)
    assert [one.content for one in memory.view.page("kind:fact")] == ["I live in Bergen"]


def test_a_forgotten_one_is_not_brought_back_by_a_bare_value(memory: Memory, clock: Clock) -> None:
    _say(memory, clock, "a", "The wedding of Tom and Aisha has 120 guests.")
    (fact,) = memory.view.page("kind:fact")
    memory.forget(fact.id)
    clock.now += DAY
    _say(memory, clock, "b", "also guest count crept up to 135 cos toms uncle suddenly exists")
    assert memory.view.page("kind:fact") == []


def test_what_begins_with_two_people_is_about_them() -> None:
    known = "Need a timeline for tom and aisha, wedding is 14 june at Hollin Barn, 120 guests"
    assert not are_compatible("Tom and aisha is now the 21st june not 14th", known)
    assert are_compatible("Tobi and Lena love football", "Lena is allergic to hazelnuts")
