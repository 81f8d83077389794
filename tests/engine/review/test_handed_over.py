"""A question about a fact that was merged or replaced goes on about what stands in its place, or is settled with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation import apply
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.review.cards import ReviewItem

from clock import Clock

NOW = 1_773_316_800


@pytest.fixture
def memory() -> Iterator[Memory]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=Clock(NOW), options=options) as memory:
        yield memory


def _facts(memory: Memory, *texts: str) -> list[MemoryRecord]:
    return [memory.remember(text) for text in texts]


def _ask(memory: Memory, new: MemoryRecord, old: MemoryRecord, *others: MemoryRecord) -> None:
    with memory._core.change("test", "Asked") as op:
        apply.open_conflict(
            op.connection, new.id, old.id, "a different city", NOW, others=[one.id for one in others]
        )


def _cards(memory: Memory) -> list[ReviewItem]:
    return memory.review.items(kinds=["conflict", "choice"])


def _shown(card: ReviewItem) -> set[str]:
    return {one.id for one in card.memories}


@pytest.mark.parametrize("text", ["", "I live in Oslo and in Bergen"])
def test_another_conflict_of_a_merged_fact_is_asked_about_the_merged_text(memory: Memory, text: str) -> None:
    first, second, third = _facts(memory, "I live in Oslo", "I live in Bergen", "I live in Tromso")
    _ask(memory, second, first)
    _ask(memory, second, third)
    card = next(one for one in _cards(memory) if first.id in _shown(one))
    memory.review.decide(card, "merge", keep=first.id, text=text)
    (left,) = _cards(memory)
    (merged,) = [one for one in memory.view.page("kind:fact") if one.id != third.id]
    assert _shown(left) == {merged.id, third.id}
    assert memory.view.status().review == 1
    memory.undo()
    assert len(_cards(memory)) == 2


def test_merged_with_the_command_it_is_asked_about_too(memory: Memory) -> None:
    first, second, third = _facts(memory, "I live in Oslo", "I live in Bergen", "I live in Tromso")
    _ask(memory, second, third)
    memory.review.merge(first.id, [second.id], text="I live in Oslo and in Bergen")
    (left,) = _cards(memory)
    (merged,) = [one for one in memory.view.page("kind:fact") if one.id != third.id]
    assert _shown(left) == {merged.id, third.id}


def test_of_a_choice_what_was_merged_is_offered_as_it_is_now(memory: Memory) -> None:
    new, first, second, third = _facts(
        memory, "It moved to Friday", "My gym is on Monday", "Gym: Monday", "I swim on Sunday"
    )
    _ask(memory, new, first, second, third)
    memory.review.merge(second.id, [first.id])
    (left,) = _cards(memory)
    assert [one.id for one in left.memories] == [new.id, second.id, third.id]


def test_what_the_person_answered_before_is_not_asked_again(memory: Memory) -> None:
    first, second, third = _facts(memory, "I live in Oslo", "I live in Bergen", "I live in Tromso")
    _ask(memory, first, third)
    memory.review.decide(_cards(memory)[0], "both")
    _ask(memory, second, third)
    memory.review.merge(first.id, [second.id])
    assert not _cards(memory)


def test_a_question_about_a_fact_that_an_agent_corrected_comes_back_with_the_fact(memory: Memory) -> None:
    agent = memory.acting_as("agent:cursor")
    first = agent.remember("I live in Oslo")
    (other,) = _facts(memory, "I live in Tromso")
    _ask(memory, first, other)
    false = agent.correct(first.id, "I live in Paris")
    memory.forget(false.id)
    (left,) = _cards(memory)
    assert _shown(left) == {first.id, other.id}


def test_what_a_replaced_statement_would_have_changed_is_asked_no_more(memory: Memory) -> None:
    allergy, gone, still = _facts(
        memory, "Ida is allergic to hazelnuts", "She got tested, the hazelnut allergy is gone",
        "Almonds are fine, hazelnut still no",
    )  # fmt: skip
    _ask(memory, gone, allergy)
    _ask(memory, still, gone)
    card = next(one for one in _cards(memory) if still.id in _shown(one))
    memory.review.decide(card, "keep")
    assert not _cards(memory)
    memory.undo()
    assert len(_cards(memory)) == 2


def test_what_the_new_statement_contradicts_too_is_asked_about_it(memory: Memory) -> None:
    first, second, third = _facts(memory, "I live in Oslo", "I live in Bergen", "I live in Tromso")
    _ask(memory, second, first)
    _ask(memory, third, second)
    card = next(one for one in _cards(memory) if third.id in _shown(one))
    memory.review.decide(card, "keep")
    (left,) = _cards(memory)
    assert [one.id for one in left.memories] == [third.id, first.id]


def test_what_would_change_a_replaced_fact_is_asked_about_its_successor(memory: Memory) -> None:
    old, new, moved = _facts(memory, "My gym is on Monday", "My gym is on Tuesday", "It moved to Friday")
    _ask(memory, moved, old)
    _ask(memory, new, old)
    card = next(one for one in _cards(memory) if new.id in _shown(one))
    memory.review.decide(card, "keep")
    (left,) = _cards(memory)
    assert [one.id for one in left.memories] == [moved.id, new.id]


def test_a_statement_that_was_rejected_is_no_former_value_of_the_fact(memory: Memory) -> None:
    allergy, gone = _facts(
        memory, "Ida is allergic to hazelnuts", "She got tested, the hazelnut allergy is gone"
    )
    _ask(memory, gone, allergy)
    memory.review.decide(_cards(memory)[0], "forget")
    assert not memory.get(gone.id).active
    assert not memory.view.replacements([allergy.id])
    assert not memory.view.page("changed:1d")
    assert memory.view.cautions([gone.id])[gone.id][0].successor == memory.get(allergy.id)
