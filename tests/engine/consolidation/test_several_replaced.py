"""One new fact may take the place of several older ones: a card for each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.compatible import are_compatible
from memtui.engine.consolidation.compare.conflicts import relation_between
from memtui.engine.consolidation.compare.values import sets_another_value, takes_back_value
from memtui.engine.records import Options

from clock import Clock

TALKS = (
    "My gym is on Tuesdays at 6.",
    "I go to the gym on Tuesday evenings before six",
    "The gym is on Thursdays at 7 now, no longer Tuesdays",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = Clock(1_760_000_000.0)
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        for number, said in enumerate(TALKS):
            memory.record_turn(f"s{number}", "user", said)
            asyncio.run(memory.consolidate(f"s{number}"))
            clock.now += 86_400
        yield memory


def test_each_of_the_older_facts_has_a_card(memory: Memory) -> None:
    cards = [card for card in memory.review.items() if card.kind == "conflict"]
    new = TALKS[2]
    assert {(card.memories[0].content, card.memories[1].content) for card in cards} == {
        (new, "My gym is on Tuesdays at 6"),
        (new, TALKS[1]),
    }


def test_the_new_fact_names_all_that_it_replaced(memory: Memory) -> None:
    old = set()
    for _ in range(2):
        card = next(card for card in memory.review.items() if card.kind == "conflict")
        old.add(card.memories[1].id)
        memory.review.decide(card, "keep")
    (new,) = [fact for fact in memory.view.page("kind:fact") if fact.content == TALKS[2]]
    assert set(new.attributes["supersedes"]) == old
    assert len(old) == 2


def test_a_value_that_went_to_another_is_no_matter_of_health() -> None:
    old = "Priya: 12 September, 60 people, wants it vegan, all of it"
    assert takes_back_value("60 went to 75", old)
    assert not are_compatible("60 went to 75", old)
    assert are_compatible("The cake went to Leo", old)


def test_the_same_thing_at_another_value() -> None:
    assert sets_another_value("Labo a monté à 950", "Labo donne 700 euros")
    assert not sets_another_value("Labo donne 700 euros pour Lyon", "Labo donne 700 euros")
    assert not sets_another_value("Leo is 9", "The rent is 700")


def test_also_does_not_hide_that_something_changed() -> None:
    new, old = "We're also on Go 1.24 now, Postgres stays", "The service is Go 1.22 on Postgres 15"
    assert relation_between(new, old, judged=4.2).kind == "conflict"
    assert relation_between(new, old, judged=1.5).kind == "beside"


def test_what_somebody_else_does_changes_nothing_of_the_person() -> None:
    assert are_compatible("My brother quit smoking 41 days ago", "Smokes ten cigarettes a day")
    assert are_compatible("Mi hermano vive ahora en Cádiz", "Vive en Sevilla")
    assert not are_compatible("I quit smoking", "Smokes ten cigarettes a day")


def test_a_rate_that_goes_to_another_needs_little_likeness() -> None:
    new, old = "Rate goes to 92 from May", "Rate at bluebell 85 eur/h, heron is a fixed price"
    assert relation_between(new, old, judged=-0.2).kind == "conflict"
    assert relation_between("Rate is fine with them", old, judged=-0.2).kind == "beside"


def test_what_is_allowed_again_is_asked_about() -> None:
    new, old = "I can carry heavy things again", "I can't carry the batteries until the hernia has healed"
    assert relation_between(new, old, judged=0.8).kind == "conflict"
    assert not relation_between(new, old, judged=0.8).strong
    assert relation_between(new, old, judged=0.1).kind == "beside"


def test_the_likeliest_of_all_is_asked_about_where_a_word_is_shared_or_a_change_is_said() -> None:
    old = "Please know, I have slow thyroid, I take Synthroid when I wake up"
    new = "My doctor made the Synthroid stronger, 88 now"
    assert relation_between(new, old, judged=0.9).kind == "beside"
    found = relation_between(new, old, judged=0.9, likeliest=True)
    assert (found.kind, found.strong) == ("conflict", False)
    assert relation_between(new, old, judged=-0.5, likeliest=True).kind == "beside"
    assert (
        relation_between("Fernanda paints", "My gym is on Mondays", judged=0.9, likeliest=True).kind
        == "beside"
    )
    # Of another person, and of what is only added.
    assert (
        relation_between("Tobi takes Synthroid now", "I take Synthroid", judged=0.9, likeliest=True).kind
        == "beside"
    )
    assert (
        relation_between("I also take Synthroid now", "I take aspirin", judged=0.9, likeliest=True).kind
        == "beside"
    )


def test_a_part_of_what_is_known_may_be_over() -> None:
    old = "I'm on warfarin, so if you tell me to take something for this back, check that first"
    found = relation_between("Off warfarin, on rivaroxaban", old, judged=-1.0)
    assert (found.kind, found.strong) == ("conflict", False)
    assert relation_between("Off warfarin, on rivaroxaban", old, judged=-3.0).kind == "beside"
    assert relation_between("Off to Leeds, on the train", old, judged=-1.0).kind == "beside"
