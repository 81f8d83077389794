"""What is up to the person no agent changes, by whichever door: the engine refuses it, and a request asks them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import ProtectedError
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.tools.registry import Toolbox

SAID = "I am allergic to walnuts."


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        yield memory


def _drawn(memory: Memory, said: str) -> MemoryRecord:
    """What was drawn from words of the person, whom nobody asked about it."""
    memory.record_turn("monday", "user", said)
    asyncio.run(memory.consolidate("monday"))
    (fact,) = memory.view.page("kind:fact")
    assert not fact.protected and fact.reviewed_at is None
    return fact


def _merge(agent: Memory, fact: MemoryRecord) -> None:
    other = agent.remember("The user eats walnuts")
    agent.review.merge(other.id, [fact.id], text="The user eats all nuts")


CHANGES: dict[str, Callable[[Memory, MemoryRecord], object]] = {
    "correct": lambda agent, fact: agent.correct(fact.id, "The user eats walnuts"),
    "forget": lambda agent, fact: agent.forget(fact.id),
    "classify": lambda agent, fact: agent.classify(fact.id, topic="home"),
    "merge": _merge,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_the_person_said_of_their_health_no_agent_changes(
    memory: Memory, change: Callable[[Memory, MemoryRecord], object]
) -> None:
    fact = _drawn(memory, SAID)
    assert fact.topic == "health"
    with pytest.raises(ProtectedError, match="may only ask"):
        change(memory.acting_as("agent:coach"), fact)
    assert memory.get(fact.id) == fact
    change(memory, fact)  # the person does
    assert memory.get(fact.id) != fact


def test_of_many_it_is_passed_over(memory: Memory) -> None:
    fact, agent = _drawn(memory, SAID), memory.acting_as("agent:coach")
    own = agent.remember("The user is learning Basque")
    agent.change_all("forget", [fact.rid, own.rid])
    assert memory.get(fact.id) == fact
    assert not memory.get(own.id).active


def test_what_the_person_decided_in_review_no_agent_changes(memory: Memory) -> None:
    fact = _drawn(memory, "I live in Bergen.")
    memory.forget(fact.id)
    memory.restore(fact.id)
    assert memory.get(fact.id).reviewed_at is not None
    with pytest.raises(ProtectedError, match="may only ask"):
        memory.acting_as("agent:coach").correct(fact.id, "The user lives in Oslo")


def test_it_can_ask_as_the_tool_does(memory: Memory) -> None:
    fact = _drawn(memory, SAID)
    agent = memory.acting_as("agent:coach")
    agent.review.request_change("correct", fact.id, text="The user eats walnuts")
    answer = Toolbox.of(agent).call(
        "correct_fact", {"memory_id": fact.id, "new_content": "The user eats walnuts"}
    )
    assert '"waits"' in answer.text
    (card,) = memory.review.items(kinds=["change_request"])
    memory.review.decide(card, "correct")
    assert memory.get(fact.id).ended_by == "superseded"


def test_its_own_words_and_what_is_of_no_danger_it_changes(memory: Memory) -> None:
    fact, agent = _drawn(memory, "I live in Bergen."), memory.acting_as("agent:coach")
    assert agent.correct(fact.id, "The user lives in Oslo").corrected_by == "coach"
    own = agent.remember("The user is allergic to cats", topic="health")
    agent.forget(own.id)
    assert memory.get(own.id).ended_by == "forgotten"
    again = agent.remember("The user is allergic to cats", topic="health")
    assert again.active
