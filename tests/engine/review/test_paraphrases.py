"""A fact that likely says the same as a known one, in other words: it is stored, and a card asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare.paraphrase import find_paraphrase
from memtui.engine.records import Options
from memtui.engine.review.cards import ReviewItem

KNOWN, AGAIN = "No Friday deployments, please", "Never deploy on a Friday"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=Options(background=False)) as memory:
        yield memory


def cards(memory: Memory) -> list[ReviewItem]:
    return [card for card in memory.review.items() if card.kind == "duplicate"]


def contents(memory: Memory) -> set[str]:
    return {fact.content for fact in memory.view.page("kind:fact")}


@pytest.mark.parametrize("scanned", [False, True])
def test_a_fact_in_other_words_is_stored_and_a_card_asks(memory: Memory, scanned: bool) -> None:
    memory.remember(KNOWN)
    memory.remember("The van stands behind the bakery at night")
    memory.remember(AGAIN)
    if scanned:
        memory.jobs.run_now("embedding")
    (card,) = cards(memory)
    assert [one.content for one in card.memories] == [AGAIN, KNOWN]
    assert card.reason == "these may say the same in other words"
    assert {KNOWN, AGAIN} <= contents(memory)


def test_a_merge_keeps_one_and_the_card_is_settled(memory: Memory) -> None:
    memory.remember(KNOWN, tags=["a"])
    memory.remember(AGAIN, tags=["b"])
    memory.jobs.run_now("embedding")
    memory.review.decide(cards(memory)[0], "merge")
    (fact,) = memory.view.page("kind:fact")
    assert set(fact.tags) == {"a", "b"}
    assert cards(memory) == []


def test_both_stay_and_it_is_not_asked_again(memory: Memory) -> None:
    memory.remember(KNOWN)
    memory.remember(AGAIN)
    memory.jobs.run_now("embedding")
    memory.review.decide(cards(memory)[0], "both")
    memory.jobs.run_now("embedding")
    assert cards(memory) == []
    assert contents(memory) == {KNOWN, AGAIN}


def test_what_one_project_says_is_not_compared_with_another(memory: Memory) -> None:
    memory.remember(KNOWN, project="shop")
    memory.remember(AGAIN, project="blog")
    assert cards(memory) == []


def test_a_pair_that_was_asked_as_a_conflict_is_not_asked_as_the_same(memory: Memory) -> None:
    from memtui.engine.consolidation import apply

    old, new = memory.remember(KNOWN), memory.remember(AGAIN)
    with memory._core.connections.write() as connection:
        apply.open_conflict(connection, new.id, old.id, "it may have changed since", 1)
    (card,) = [card for card in memory.review.items() if card.kind == "conflict"]
    memory.review.decide(card, "both")
    memory.jobs.run_now("embedding")
    assert cards(memory) == []


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("My sister Carla lives in Hull", "My brother Tom lives in Hull"),
        ("I have two cats", "I have two dogs"),
        ("The office moved to Leeds", "Our office is in York"),
        ("The meeting is at 4 in room 12", "The meeting is at 3 in room 10"),
        ("I'm allergic to milk", "I'm allergic to eggs"),
        ("No ticket numbers in commit messages", "No author names in commit messages"),
        ("Never use milk in the school kitchen", "Never use eggs in the school kitchen"),
        ("User prefers perl for small scripts", "User prefers ruby for small scripts"),
        ("The mail service logs to stdout", "The auth service logs to stdout"),
        ("Nadia asuu Turussa", "Nadia työskentelee koulussa"),
        ("ナディアは学校で働いている", "母は京都に住んでいる"),
    ],
)
def test_another_value_in_the_same_words_is_not_the_same(new: str, known: str) -> None:
    assert find_paraphrase(new, [known]) is None


def test_of_several_the_likeliest_is_found() -> None:
    assert find_paraphrase(AGAIN, ["I have two cats", KNOWN, "We deploy from the main branch"]) == 1
