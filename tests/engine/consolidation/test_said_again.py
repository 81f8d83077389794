"""What somebody corrected or forgot does not come back by itself; said again by the person, it is a card."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options
from memtui.present.review import quarantine_note

from clock import Clock

NOW = 1_773_316_800
DAY = 86_400
OLD = "I work at Initech"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        memory.record_turn("monday", "user", f"{OLD}.")
        asyncio.run(memory.consolidate("monday"))
        clock.now += DAY
        yield memory


@pytest.fixture
def fact(memory: Memory) -> MemoryRecord:
    (found,) = memory.view.page("kind:fact")
    return found


def _facts(memory: Memory) -> list[str]:
    return sorted(one.content for one in memory.view.page("kind:fact"))


def _told(memory: Memory, role: str, text: str, at: float | None = None) -> None:
    memory.record_turn("friday", role, text, at)
    asyncio.run(memory.consolidate("friday"))


@pytest.mark.parametrize("words", ["I work at Initech.", "I am working at Initech now."])
def test_an_older_turn_does_not_bring_it_back(memory: Memory, fact: MemoryRecord, words: str) -> None:
    memory.forget(fact.id)
    _told(memory, "user", words, NOW - 30 * DAY)
    assert _facts(memory) == []


def test_reading_again_does_not_bring_it_back(memory: Memory, fact: MemoryRecord) -> None:
    memory.correct(fact.id, "The user works at Globex")
    asyncio.run(memory.consolidate("monday", again=True))
    assert _facts(memory) == ["The user works at Globex"]


def test_what_an_agent_draws_from_an_assistants_words_does_not(
    memory: Memory, fact: MemoryRecord, clock: Clock
) -> None:
    memory.forget(fact.id)
    clock.now += DAY
    turn = memory.record_turn("friday", "assistant", "You work at Initech, as you told me.")
    from memtui.engine.consolidation import planner
    from memtui.engine.consolidation.extract.protocol import Draft

    draft = Draft(content="The user works at Initech", kind="fact", sources=(turn.id,), confidence=0.8)
    with memory._core.connections.read() as connection:
        assert planner.plan_lines(connection, [draft], {turn.id: turn}, clock.now) == []


@pytest.mark.parametrize(
    "words",
    [
        "I work at Initech.", "I am working at Initech now.", "I work at Initech and the coffee is good.",
        "I work at Initech in the Leeds office these days.",
    ],
)  # fmt: skip
def test_said_again_after_it_was_forgotten_it_waits(
    memory: Memory, fact: MemoryRecord, clock: Clock, words: str
) -> None:
    memory.forget(fact.id)
    clock.now += DAY
    _told(memory, "user", words)
    assert _facts(memory) == []
    (card,) = [one for one in memory.review.items() if one.kind == "quarantined"]
    assert card.reason == "it was forgotten, and you said it again"
    assert quarantine_note(card) == "not remembered as a fact yet; agents get the turn as it was said"
    memory.review.decide(card, "keep")
    assert len(_facts(memory)) == 1


def test_said_again_after_it_was_corrected_it_is_a_conflict(
    memory: Memory, fact: MemoryRecord, clock: Clock
) -> None:
    memory.correct(fact.id, "The user works at Globex")
    clock.now += DAY
    _told(memory, "user", "I work at Initech.")
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    assert card.reason == "you corrected this, and said it again"


def test_until_the_person_decided_both_are_told_with_a_caution(
    memory: Memory, fact: MemoryRecord, clock: Clock
) -> None:
    memory.correct(fact.id, "The user works at Globex")
    clock.now += DAY
    _told(memory, "user", "I work at Initech.")
    memory.models.index_pending()
    assert memory.context("where do I work").text.splitlines()[1:] == [
        "- [not decided yet between this and: The user works at Globex] I work at Initech (said 14 Mar 2026)",
        "- [not decided yet between this and: I work at Initech] The user works at Globex",
    ]
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    memory.review.decide(card, "both")
    assert "not decided yet" not in memory.context("where do I work").text


def test_two_facts_of_which_nobody_corrected_one_are_told_without(memory: Memory, fact: MemoryRecord) -> None:
    memory.confirm(fact.id)
    _told(memory, "user", "I work at Globex.")
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    assert len(card.memories) == 2
    assert not memory.view.cautions([one.id for one in card.memories])


def test_while_review_asks_whether_a_fact_changed_agents_read_what_may_be_true_now(
    memory: Memory, fact: MemoryRecord, clock: Clock
) -> None:
    memory.confirm(fact.id)
    clock.now += DAY
    _told(memory, "user", "I work at Globex.")
    memory.models.index_pending()
    old = f"- [may have changed; said on 14 Mar 2026: I work at Globex] {OLD}"
    assert old in memory.context("where do I work").text.splitlines()
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    memory.review.decide(card, "both")
    assert "may have changed" not in memory.context("where do I work").text


def test_what_faded_may_be_drawn_again(memory: Memory, fact: MemoryRecord, clock: Clock) -> None:
    clock.now += 400 * DAY
    memory.jobs.run_now("decay")
    assert _facts(memory) == []
    _told(memory, "user", "I work at Initech.")
    assert _facts(memory) == [OLD]


@pytest.mark.parametrize("words", ["We live in Leipzig.", "We moved to Leipzig in 2019."])
def test_an_older_talk_that_says_the_corrected_value_in_other_words_is_not_drawn(
    memory: Memory, clock: Clock, words: str
) -> None:
    _told(memory, "user", "I live in Leipzig with my two kids.")
    (home,) = memory.view.page("kind:fact Leipzig")
    memory.correct(home.id, "I live in Dresden with my two kids")
    clock.now += DAY
    memory.record_turn("old", "user", words, NOW - 40 * DAY)
    asyncio.run(memory.consolidate("old"))
    assert _facts(memory) == ["I live in Dresden with my two kids", OLD]
    memory.record_turn("new", "user", words)
    asyncio.run(memory.consolidate("new"))
    assert len(_facts(memory)) == 3, "said after the correction it is for the person"


def test_a_later_change_stands_against_the_fact_in_force(memory: Memory, clock: Clock) -> None:
    for session, words in (("a", "We live in Leipzig."), ("b", "We live in Dresden now.")):
        memory.record_turn(session, "user", words)
        asyncio.run(memory.consolidate(session))
        clock.now += DAY
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    memory.review.decide(card, "keep")
    clock.now += DAY
    memory.record_turn("c", "user", "We live in Berlin now.")
    asyncio.run(memory.consolidate("c"))
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    assert [one.content for one in card.memories] == ["We live in Berlin now", "We live in Dresden now"]


def test_what_lost_against_a_known_fact_is_not_asked_about_again(memory: Memory, clock: Clock) -> None:
    for session, words in (("a", "We live in Leipzig."), ("b", "We live in Dresden now.")):
        memory.record_turn(session, "user", words)
        asyncio.run(memory.consolidate(session))
        clock.now += DAY
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    new, old = card.memories
    memory.review.decide(card, "keep", keep=old.id)
    assert [one.id for one in memory.view.versions(old.id)] == [new.id, old.id]
    clock.now += DAY
    memory.record_turn("old", "user", "We moved to Dresden in spring.", NOW + 2 * DAY)
    asyncio.run(memory.consolidate("old"))
    assert [one for one in memory.review.items() if one.kind == "conflict"] == []
    (caution,) = next(iter(memory.view.cautions([one.id for one in memory.view.sources(new.id)]).values()))
    assert caution.successor is not None and caution.successor.id == old.id


def test_a_correction_that_stands_against_a_later_word_keeps_both_links(memory: Memory, clock: Clock) -> None:
    _told(memory, "user", "We live in Leipzig.")
    (home,) = memory.view.page("kind:fact Leipzig")
    right = memory.correct(home.id, "We live in Dresden")
    clock.now += DAY
    memory.record_turn("c", "user", "We live in Berlin now.")
    asyncio.run(memory.consolidate("c"))
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    memory.review.decide(card, "keep", keep=right.id)
    kept = memory.get(right.id)
    assert kept.supersedes == home.id
    assert {one.id for one in memory.view.page("is:correction")} == {right.id}
    assert memory.get(card.memories[0].id).ended_by == "superseded"
