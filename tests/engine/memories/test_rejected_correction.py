"""The person rejects what an agent or a reading put in the place of a fact: the fact stands again, and nothing speaks
against it. What the person corrected is forgotten whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.tools.registry import Toolbox

from clock import Clock

NOW = 1_773_316_800  # 12 March 2026, noon UTC
DAY = 86_400
SAID = "Our daughter Ida is fond of liquorice"
FALSE = "Ida is not fond of liquorice"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW - 9 * DAY)


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        yield memory


@pytest.fixture
def turn(memory: Memory) -> MemoryRecord:
    said = memory.record_turn("monday", "user", f"{SAID}.")
    asyncio.run(memory.consolidate("monday"))
    return said


@pytest.fixture
def fact(memory: Memory, turn: MemoryRecord, clock: Clock) -> MemoryRecord:
    (found,) = memory.view.page("kind:fact")
    clock.now = NOW
    return found


def _forget(memory: Memory, id: str) -> None:
    memory.forget(id)


def _forget_in_bulk(memory: Memory, id: str) -> None:
    other = memory.remember("The user keeps bees")
    memory.change_all("forget", [memory.get(id).rid, other.rid])


def _reject_card(memory: Memory, id: str) -> None:
    (card,) = [one for one in memory.review.items() if id in {found.id for found in one.memories}]
    memory.review.decide(card, "forget")


def _grant_request(memory: Memory, id: str) -> None:
    memory.acting_as("agent:codex").review.request_change("forget", id, why="it is wrong")
    (card,) = memory.review.items(kinds=["change_request"])
    memory.review.decide(card, "forget")


@pytest.mark.parametrize("reject", [_forget, _forget_in_bulk, _reject_card, _grant_request])
def test_a_fact_stands_again_once_an_agents_correction_is_rejected(
    memory: Memory, turn: MemoryRecord, fact: MemoryRecord, reject: Callable[[Memory, str], None]
) -> None:
    false = memory.acting_as("agent:cursor").correct(fact.id, FALSE)
    assert not memory.get(fact.id).active
    reject(memory, false.id)
    assert memory.get(fact.id).active
    assert memory.get(false.id).ended_by == "forgotten"
    assert not memory.view.cautions([turn.id, fact.id])
    block = memory.context("can Ida eat liquorice?").text
    assert SAID in block
    assert "forgotten" not in block
    latest = memory.view.operations(limit=1)[0]
    assert "stands again" in latest.label
    memory.undo()
    assert memory.get(false.id).active
    assert not memory.get(fact.id).active


def test_of_several_corrections_of_agents_the_statement_before_them_stands_again(
    memory: Memory, fact: MemoryRecord
) -> None:
    first = memory.acting_as("agent:cursor").correct(fact.id, FALSE)
    second = memory.acting_as("agent:codex").correct(first.id, "Ida eats liquorice every day")
    memory.forget(second.id)
    assert [one.id for one in memory.view.page("kind:fact")] == [fact.id]


def test_the_persons_own_correction_is_forgotten_with_what_it_replaced(
    memory: Memory, turn: MemoryRecord, fact: MemoryRecord
) -> None:
    new = memory.correct(fact.id, FALSE)
    memory.forget(new.id)
    assert not memory.get(fact.id).active
    assert [one.how for one in memory.view.cautions([turn.id])[turn.id]] == ["forgotten"]


def test_what_the_person_corrected_before_an_agent_did_stands_again_alone(
    memory: Memory, turn: MemoryRecord, fact: MemoryRecord
) -> None:
    own = memory.correct(fact.id, "Ida is fond of walnuts")
    with memory._core.connections.write() as connection:  # an older program of an agent may have changed it
        connection.execute("UPDATE memories SET confirmed_at = NULL WHERE id = ?", (own.id,))
    false = memory.acting_as("agent:cursor").correct(own.id, FALSE)
    memory.forget(false.id)
    assert memory.get(own.id).active
    assert not memory.get(fact.id).active
    (caution,) = memory.view.cautions([turn.id])[turn.id]
    assert (caution.how, caution.successor and caution.successor.id) == ("corrected", own.id)


@pytest.mark.parametrize("accept", ["confirm", "keep"])
def test_a_correction_that_the_person_accepted_is_theirs(
    memory: Memory, fact: MemoryRecord, accept: str
) -> None:
    new = memory.acting_as("agent:cursor").correct(fact.id, FALSE)
    if accept == "confirm":
        memory.confirm(new.id)
    else:
        (card,) = [one for one in memory.review.items() if new.id in {found.id for found in one.memories}]
        memory.review.decide(card, "keep")
    memory.forget(new.id)
    assert not memory.get(fact.id).active


def test_withheld_with_its_turns_all_of_it_goes(
    memory: Memory, turn: MemoryRecord, fact: MemoryRecord
) -> None:
    false = memory.acting_as("agent:cursor").correct(fact.id, FALSE)
    memory.forget(false.id, withhold=True)
    assert not memory.get(fact.id).active
    memory.restore(fact.id)
    assert memory.get(fact.id).active
    assert not memory.view.cautions([turn.id, fact.id])
    assert not memory.view.page("is:withheld")


def test_what_a_conversation_replaced_stands_again_as_sure_as_before(memory: Memory, clock: Clock) -> None:
    memory.record_turn("tuesday", "user", "My piano lesson is on Thursday. No wait, it's on Friday.")
    asyncio.run(memory.consolidate("tuesday"))
    facts = {one.id: one for one in memory.view.page("kind:fact")}
    (new,) = [one for one in facts.values() if one.supersedes]
    assert new.supersedes is not None
    old = facts[new.supersedes]
    assert memory.view.cautions([old.id])
    assert old.confidence < new.confidence
    memory.forget(new.id)
    again = memory.get(old.id)
    assert again.active
    assert not memory.view.cautions([old.id])
    assert (again.confidence, again.decay_rate) == (0.8, new.decay_rate)


def test_restored_after_its_correction_was_forgotten_nothing_speaks_against_it(
    memory: Memory, turn: MemoryRecord, fact: MemoryRecord
) -> None:
    new = memory.correct(fact.id, FALSE)
    memory.forget(new.id)
    memory.restore(fact.id)
    assert not memory.view.cautions([turn.id, fact.id])
    assert "forgotten" not in memory.context("can Ida eat liquorice?").text


def test_an_agent_does_not_say_again_what_was_rejected_but_its_own_words(
    memory: Memory, fact: MemoryRecord
) -> None:
    cursor = memory.acting_as("agent:cursor")
    tools = Toolbox.of(cursor)
    first = cursor.correct(fact.id, FALSE)
    back = tools.call("correct_fact", {"memory_id": first.id, "new_content": SAID}).text
    assert json.loads(back)["status"] == "done"
    (now,) = memory.view.page("kind:fact")
    again = json.loads(tools.call("correct_fact", {"memory_id": now.id, "new_content": FALSE}).text)
    assert again["status"] == "done"
    memory.forget(again["memory"]["id"])
    (now,) = memory.view.page("kind:fact")
    refused = json.loads(tools.call("correct_fact", {"memory_id": now.id, "new_content": FALSE}).text)
    assert refused["status"] == "declined"
