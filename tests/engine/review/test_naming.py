"""Facts with a name that a correction takes away are shown before it, and wait on its card; no other fact is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.review import naming
from memtui.engine.review.cards import ReviewItem
from memtui.present.dependents import dependents_headline
from memtui.present.review import card_kind
from memtui.ui.panes.review.rows import Card
from memtui.ui.panes.review.verdicts import verdict_consequences

from clock import Clock

DAY = 86_400


@pytest.fixture
def memory() -> Iterator[Memory]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=Clock(1_773_316_800), options=options) as memory:
        yield memory


def facts(memory: Memory, *texts: str) -> list[MemoryRecord]:
    found = [memory.remember(text) for text in texts]
    memory.models.index_pending()
    return found


def named(memory: Memory, old: MemoryRecord, new: str) -> set[str]:
    """Before it is corrected."""
    return {one.memory.content for one in memory.view.dependents([old.id]).after(new).naming}


def cards(memory: Memory) -> list[ReviewItem]:
    return [one for one in memory.review.items() if one.kind == "dependents"]


@pytest.mark.parametrize(
    ("old", "new", "names_it", "others"),
    [
        ("I work at Initech as an accountant", "I work at Globex as an accountant",
         ["My commute to Initech takes 40 minutes", "The user has lunch in the Initech canteen", "My badge is Initech's old one"],
         ["Bill works at Initech", "I used to like the initech font", "My cat is called Tom", "Is Initech in Leeds?"]),
        ("The user lives in Oslo", "The user lives in Bergen",
         ["I cycle to the harbour of Oslo", "Lives near the opera in Oslo"], ["Ada lives in Oslo", "I like trains"]),
        ("Ada works at Blue Harbour", "Ada works at Globex",
         ["Ada has a desk at Blue Harbour"],
         ["Pavel works at Blue Harbour", "Ada sails from a blue harbour", "Ada likes Blue Monday"]),
        ("Standup is in Turing", "Standup is in Hopper",
         ["The standup of Friday is in Turing"], ["The lamp in Turing is broken"]),
        ("The rent of the flat is 900", "The rent of the flat is 950",
         ["The rent of 900 is due on the first"], ["The printer cost 900", "The rent is due on the first"]),
        ("I play tennis with Carla in the park", "I play padel with Carla in the park",
         ["I meet Carla for tennis in the park at ten"], ["I watch tennis", "I like the park", "My tennis racket is new"]),
        ("My review is on Monday", "My review is on Friday", [], ["I swim on Monday"]),
        ("My cat is called Tom", "My cat is called Tom, and is twelve", [], ["I feed Tom at seven"]),
    ],
)  # fmt: skip
def test_only_facts_of_the_same_subject_with_the_name_are(
    memory: Memory, old: str, new: str, names_it: list[str], others: list[str]
) -> None:
    fact, *_ = facts(memory, old, *names_it, *others)
    assert named(memory, fact, new) == set(names_it)
    assert not named(memory, fact, old)
    memory.correct(fact.id, new)
    assert {one.content for card in cards(memory) for one in card.memories} == set(names_it)


def test_before_it_is_forgotten_merged_or_erased_facts_with_its_name_are_shown(memory: Memory) -> None:
    fact, ride, _, other = facts(
        memory, "I work at Initech", "I ride to Initech", "I like trains", "I work for Globex now"
    )
    found = memory.view.dependents([fact.id])
    assert [one.memory.id for one in found.naming] == [ride.id] and not found.is_needed
    assert dependents_headline(found) == "1 fact with the same name"
    merging = memory.view.dependents([other.id, fact.id]).after(other.content)
    assert dependents_headline(merging) == "1 fact with the old name"
    assert not memory.view.dependents([other.id, fact.id]).after("I work at Initech and Globex").naming
    memory.review.merge(other.id, [fact.id])
    (card,) = cards(memory)
    assert [one.id for one in card.memories] == [ride.id]
    memory.undo()
    assert not cards(memory)


def test_they_wait_on_the_card_until_each_is_decided(memory: Memory) -> None:
    fact, ride, lunch, badge = facts(
        memory, "I work at Initech", "I ride to Initech", "I eat at Initech", "My badge says Initech"
    )
    memory.correct(fact.id, "I work at Globex")
    (card,) = cards(memory)
    assert card_kind(card)[0] == "old name" and card.only_named
    assert verdict_consequences(Card(card, ""), None)[0] == ("keep", "still true, as they are")
    assert verdict_consequences(Card(card, ""), 0)[0] == ("keep", "still true, as it is")
    assert (
        card.reason
        == "3 facts have a name of what you corrected: “I work at Initech”, now “I work at Globex”"
    )
    assert not memory.view.cautions([ride.id, lunch.id, badge.id])
    memory.review.decide(card, "keep", keep=ride.id)
    (card,) = cards(memory)
    assert {one.id for one in card.memories} == {lunch.id, badge.id}
    assert memory.view.status().review == 1
    memory.review.decide(card, "correct", text="I eat at Globex", keep=lunch.id)
    (card,) = cards(memory)
    assert [one.id for one in card.memories] == [badge.id] and Card(card, "").headline == badge.content
    memory.undo()
    memory.undo()
    (card,) = cards(memory)
    assert len(card.memories) == 3
    forgot = memory.review.decide(card, "forget")
    assert forgot is not None and forgot.label == "Forgot 3 facts with the old name"
    assert not cards(memory)


def test_an_undo_of_the_correction_takes_the_card_away(memory: Memory) -> None:
    fact, _ = facts(memory, "I work at Initech", "I ride to Initech")
    memory.correct(fact.id, "I work at Globex")
    assert cards(memory)
    memory.undo()
    assert not cards(memory)


def test_what_is_forgotten_or_only_reworded_asks_about_nothing(memory: Memory) -> None:
    fact, _ = facts(memory, "I work at Initech", "I ride to Initech")
    fact = memory.correct(fact.id, "I work for Initech since 2019")
    assert not cards(memory)
    memory.forget(fact.id)
    assert not cards(memory)


def test_it_fails_where_no_name_is_looked_for(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fact, _ = facts(memory, "I work at Initech", "I ride to Initech")
    monkeypatch.setattr(naming, "_names_in", lambda *_: iter(()))
    assert not named(memory, fact, "I work at Globex")
