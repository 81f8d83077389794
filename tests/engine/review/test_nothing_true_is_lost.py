"""A decision about a contradiction takes nothing away that may still be true."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.conflicts import relation_between
from memtui.engine.records import Options
from memtui.engine.review.cards import ReviewItem
from memtui.engine.store import proposals

from clock import Clock

PEANUTS = "My son Leo is allergic to peanuts"
WEEK = "Mia has swimming on Tuesdays at 16:00 and Leo has speech therapy on Thursdays at 14:30"
MOVED = "Mia's swimming moved from Tuesday to Wednesday 16:30"


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as opened:
        yield opened


def talk(memory: Memory, clock: Clock, session: str, *contents: str) -> None:
    for content in contents:
        clock.now += 20
        memory.record_turn(session, "user", content)
    clock.now += 3_600
    asyncio.run(memory.consolidate())


def card_between(memory: Memory, old: str, new: str, topic: str | None = None) -> ReviewItem:
    """A card about two facts that an agent stored, as a comparison asks it."""
    memory.actor = "agent:test"
    first, second = (memory.remember(text, confidence=0.8, topic=topic).id for text in (old, new))
    memory.actor = "person"
    with memory._core.change("test", "Asked") as op:
        payload = {"new": second, "old": first, "reason": "it may have changed since (both may be true)"}
        proposals.ask(op.connection, "prop_00000001", proposals.CONFLICT, payload, 1_760_000_000)
    (card,) = [item for item in memory.review.items() if item.kind == "conflict"]
    return card


@pytest.mark.parametrize(
    "new",
    [
        "Besides peanuts he is also allergic to cashews now",
        "Leo is allergic to cashews as well",
        "Leo is allergic to cashews too",
        "Leo ist auch gegen Cashews allergisch",
        "Außerdem ist Leo gegen Cashews allergisch",
        "Leo est aussi allergique aux noix de cajou",
        "Leo también es alérgico a los anacardos",
    ],
)
def test_an_addition_contradicts_nothing(new: str) -> None:
    assert relation_between(new, "My son Leo is allergic to peanuts", judged=3.0).kind == "beside"


def test_also_beside_a_change_is_a_change() -> None:
    found = relation_between(
        "Also, the standup moved to 10:30", "My standup is at 10:00 every day", judged=3.0
    )
    assert found.kind == "conflict"


def test_besides_peanuts_brings_no_card(memory: Memory, clock: Clock) -> None:
    talk(
        memory,
        clock,
        "s1",
        "What can I cook? My son Leo is allergic to peanuts and my daughter Mia doesn't eat fish.",
    )
    clock.now += 86_400
    talk(
        memory,
        clock,
        "s2",
        "Leo was at Dr. Yilmaz today. Besides peanuts he is also allergic to cashews now.",
    )
    assert not [item for item in memory.review.items() if item.kind == "conflict"]
    facts = [fact.content for fact in memory.view.page("kind:fact")]
    assert "Besides peanuts Leo is also allergic to cashews now" in facts


def test_what_an_ordinary_fact_loses_on_being_replaced(memory: Memory) -> None:
    card = card_between(memory, "My office is in Oslo", "My office is in Bergen")
    memory.review.decide(card, "keep")
    old = memory.get(card.memories[1].id)
    assert (old.confidence, old.decay_rate) == (0.3, 0.5)


def test_a_replaced_health_fact_stays_and_is_served_with_its_caution(memory: Memory) -> None:
    card = card_between(memory, PEANUTS, "My son Leo is allergic to cashews", "health")
    assert card.proposed == "both"
    memory.review.decide(card, "keep")
    old = memory.get(card.memories[1].id)
    assert old.active and old.confidence > 0.3 and old.decay_rate == card.memories[1].decay_rate
    assert memory.view.cautions([old.id])


def test_the_card_names_what_would_be_lost_and_the_old_one_does_not_fade(memory: Memory) -> None:
    card = card_between(memory, WEEK, MOVED)
    assert card.left_over == "Leo has speech therapy on Thursdays at 14:30"
    assert card.proposed == "merge"
    before = card.memories[1]
    memory.review.decide(card, "keep")
    after = memory.get(before.id)
    assert (after.confidence, after.decay_rate) == (before.confidence, before.decay_rate)


def test_keeping_the_new_home_leaves_the_rule_that_was_said_with_the_old_one(
    memory: Memory, clock: Clock
) -> None:
    talk(memory, clock, "s1", "From now on please answer in grams, and we live in Bergen.")
    clock.now += 86_400
    talk(memory, clock, "s2", "We live in Oslo now.")
    (card,) = [item for item in memory.review.items() if item.kind == "conflict"]
    memory.review.decide(card, "keep")
    rule = memory.get(card.memories[1].id)
    assert (rule.topic, rule.active, rule.confidence, rule.decay_rate) == ("rule", True, 0.8, 0.0)
    assert memory.view.cautions([rule.id])
