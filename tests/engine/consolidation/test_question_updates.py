"""What a question says before it asks meets the fact that it changes, and is kept for nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.question_updates import updates_in_questions
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.records import Options


class Clock:
    now = 1_780_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        yield memory


def ask(memory: Memory, clock: Clock, known: str, question: str) -> list[tuple[str, ...]]:
    """The cards, as texts, after a question of another day."""
    memory.remember(known)
    clock.now += 30 * 86_400
    memory.record_turn("s", "user", question)
    clock.now += 60
    asyncio.run(memory.consolidate("s"))
    return [
        tuple(one.content for one in card.memories) for card in memory.review.items() if card.kind != "new"
    ]


@pytest.mark.parametrize(
    ("known", "question", "new"),
    [
        ("I live in Sheffield", "Now that I live in Leeds, which gym chains are near the station?", "I live in Leeds"),
        ("I play bass in a band called The Lanterns",
         "As I've left The Lanterns, where can I find people to jam with in Cork?", "I've left The Lanterns"),
        ("Ich wohne in Hamburg", "Jetzt wo ich in Bremen wohne, welche Chöre gibt es dort?", "ich in Bremen wohne"),
    ],
)  # fmt: skip
def test_a_question_that_says_what_changed_gets_a_card(
    memory: Memory, clock: Clock, known: str, question: str, new: str
) -> None:
    cards = ask(memory, clock, known, question)
    assert any(new in card[0] and known in card for card in cards), cards


@pytest.mark.parametrize(
    "question",
    [
        "If I lived in Valencia, which district would be good with a dog?",
        "Since I work from home, which chair is good?",
        "As I said, what is the capital of Peru?",
    ],
)
def test_what_changes_nothing_is_not_kept(memory: Memory, clock: Clock, question: str) -> None:
    assert ask(memory, clock, "I live in Madrid", question) == []
    assert [fact.content for fact in memory.view.page("kind:fact")] == ["I live in Madrid"]


def test_only_what_is_said_before_the_question_is_read() -> None:
    message = split_sentences("Now that it's over, we are glad. Now that we rent in Hull, is parking free?")
    found = [one.text for some in updates_in_questions(message, {}).values() for one in some]
    assert found == ["We rent in Hull"]
