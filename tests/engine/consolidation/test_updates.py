"""What people say later takes the place of what they said before, however little the words have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare import conflicts, update_model
from memtui.engine.consolidation.compare.candidates import preceding_text
from memtui.engine.consolidation.compare.conflicts import relation_between
from memtui.engine.consolidation.compare.pair_features import Statement
from memtui.engine.records import Options

from clock import Clock

IDLE = 3_600


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        yield memory


def talk(memory: Memory, clock: Clock, session: str, *said: str) -> None:
    for one in said:
        memory.record_turn(session, "user", one)
        clock.now += 40
    clock.now += IDLE
    asyncio.run(memory.consolidate(session))


def test_what_precedes_a_clause_in_its_own_sentence_counts() -> None:
    said = "Thanks. also the exam, they have no more seat july 18, i got august 8 instead"
    assert (
        preceding_text("I got august 8 instead", said)
        == "Thanks. also the exam, they have no more seat july 18,"
    )
    assert preceding_text("Also the exam, they have no more seat july 18", said) == "Thanks."


def kind(new: str, old: str) -> str:
    (score,) = update_model.update_model().replacement_odds(Statement(new), [Statement(old)])
    return relation_between(new, old, judged=score).kind


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Dmitri left for Shopify, Aisha Rahman took over deploys", "Dmitri owns the deploys"),
        ("V2 slipped, it's June 9 now", "V2 goes out April 14"),
        ("We dropped Jenkins, builds run in GitHub Actions", "We use Jenkins for the builds"),
        ("I'm no longer allergic to hazelnuts", "I'm allergic to hazelnuts"),
        ("Tobi is not allergic to cats", "Tobi is allergic to cats"),
        ("I had to give up the flat, I'm on Corn Street now", "I live in a flat on Mill Road"),
        ("The standup has gone to 10:15", "Standup is at 9:45"),
        ("I'm off warfarin, on rivaroxaban", "I'm on warfarin"),
        ("I quit Costa, I'm at the union bar now", "I work on Saturdays at Costa"),
        ("Chorprobe ist jetzt mittwochs", "Chorprobe ist dienstags"),
        ("le yoga est passé au jeudi", "Je fais du yoga le mardi soir"),
        ("ya no trabajo en La Paz, me cambié al Marañón", "Trabajo en el Hospital La Paz"),
    ],
)
def test_a_change_in_other_words_is_a_conflict(new: str, old: str) -> None:
    assert kind(new, old) == "conflict"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("My sister works at Deloitte", "I work at Marsden"),
        ("Tobi is allergic to cats", "Im allergic to hazelnuts"),
        ("Tobi is not allergic to cats", "I'm allergic to cats"),
        ("My dad takes warfarin now", "My mum takes warfarin"),
        ("Elias starts at the new school", "Elias cant have lactose"),
        ("Its on the 17th because Priya is away", "Priya is the reviewer"),
        ("Tobi lives in Berlin now", "I live in Dresden"),
        ("My sister is allergic to nuts", "I am not allergic to nuts"),
        ("remember, I take no dairy", "No dairy for me"),
        ("We also have a Redis for sessions", "The database is MySQL 8"),
        ("told the clinic, I can't have latex", "I'm allergic to latex"),
        ("please no mushrooms, they taste of mud", "I hate mushrooms"),
        ("kein Fisch für mich", "Ich bin allergisch gegen Fisch"),
        ("Kyle at the garage looked at my brakes", "Our boiler man is Derek"),
        ("Paulo asked if he can bring his bicycle inside", "Paulo makes the dough"),
        ("Am Montag ist Feiertag", "Ich arbeite freitags im Homeoffice"),
        ("il y a aussi un cours de pilates le jeudi", "Je fais du yoga le mardi soir"),
    ],
)
def test_what_only_looks_like_a_change_stands_beside_it(new: str, old: str) -> None:
    assert kind(new, old) == "beside"


def test_a_change_that_shares_no_rare_word_waits_in_review_with_both_and_their_dates(
    memory: Memory, clock: Clock
) -> None:
    talk(memory, clock, "s1", "We bank with the Co-op.", "I bake with flour from Shipton Mill.")
    talk(memory, clock, "s2", "Metro Bank has our account now, they were cheaper.")
    (card,) = [item for item in memory.review.items() if item.kind == "conflict"]
    new, old = card.memories
    assert "Metro" in new.content
    assert "Co-op" in old.content
    assert new.event_time > old.event_time
    assert conflicts.CHANGED in card.reason


def test_accepting_the_card_replaces_the_old_value_and_undo_brings_the_card_back(
    memory: Memory, clock: Clock
) -> None:
    talk(memory, clock, "s1", "We bank with the Co-op.")
    talk(memory, clock, "s2", "Metro Bank has our account now, they were cheaper.")
    (card,) = [item for item in memory.review.items() if item.kind == "conflict"]
    memory.review.decide(card, "keep")
    new, old = (memory.get(one.id) for one in card.memories)
    assert new.supersedes == old.id
    assert old.confidence == pytest.approx(0.3)
    assert not [item for item in memory.review.items() if item.kind == "conflict"]
    memory.undo()
    assert memory.get(old.id).confidence > 0.3
    assert [item.id for item in memory.review.items() if item.kind == "conflict"] == [card.id]


def test_nothing_that_the_person_confirmed_is_replaced_without_them(memory: Memory, clock: Clock) -> None:
    old = memory.remember("We bank with the Co-op")
    clock.now += IDLE
    talk(memory, clock, "s2", "Metro Bank has our account now, they were cheaper.")
    assert memory.get(old.id).confidence == 1.0
    assert [item.memories[1].id for item in memory.review.items() if item.kind == "conflict"] == [old.id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I am allergic to peanuts.", "Actually I'm not allergic to cats anymore, it was dust."),
        ("I am allergic to peanuts.", "I'm no longer allergic to peanuts, the test came back negative."),
        ("I am allergic to peanuts.", "My sister Ada is no longer allergic to peanuts."),
        ("My daughter is allergic to nuts.", "Actually my son is not allergic to nuts anymore."),
        ("I am allergic to ibuprofen.", "I stopped taking ibuprofen, I take paracetamol now."),
        ("My dog Rex is allergic to chicken.", "My cat Tom is no longer allergic to chicken."),
        ("I work at Globex.", "My brother no longer works at Globex, he moved to Initech."),
        ("My wife is vegan.", "I'm not vegan anymore."),
    ],
)
def test_health_and_what_is_said_of_somebody_else_is_never_replaced_without_asking(
    old: str, new: str, memory: Memory, clock: Clock
) -> None:
    talk(memory, clock, "before", old)
    talk(memory, clock, "later", new)
    [known] = [fact for fact in memory.view.page("kind:fact") if old.rstrip(".") in fact.content]
    assert known.confidence > 0.7
    assert not memory.view.cautions([known.id])


def test_what_was_said_earlier_replaces_nothing_that_was_said_later(memory: Memory, clock: Clock) -> None:
    later = clock.now + 90 * 86_400
    clock.now = later
    talk(memory, clock, "new", "Metro Bank has our account now, they were cheaper.")
    memory.record_turn("old", "user", "We bank with the Co-op.", event_time=later - 60 * 86_400)
    clock.now += IDLE
    asyncio.run(memory.consolidate("old"))
    assert len(memory.view.page("kind:fact")) == 2
    assert not any(fact.supersedes for fact in memory.view.page("kind:fact"))
    assert not [item for item in memory.review.items() if item.kind == "conflict"]


def test_a_long_memory_is_compared_within_bounds(memory: Memory, clock: Clock) -> None:
    for number in range(300):
        memory.remember(f"Locker {number} holds a red box and key {number * 7}")
    clock.now += IDLE
    talk(memory, clock, "s1", "The standup is at 9:45 every day.")
    talk(memory, clock, "s2", "The standup has moved to 10:15 now.")
    cards = [item for item in memory.review.items() if item.kind == "conflict"]
    linked = [fact for fact in memory.view.page("kind:fact", limit=1_000) if fact.supersedes]
    assert len(cards) + len(linked) == 1
