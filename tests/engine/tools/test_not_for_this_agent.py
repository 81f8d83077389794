"""What the person keeps from one agent: for that one it was never there, at any door; the others are told it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from door_kit import Door, beside
from memtui import Memory
from memtui.engine.errors import InputError, MemtuiError, ProtectedError
from memtui.engine.records import Options
from memtui.mcp import resources

from clock import Clock

SECRET = "I work at Initech with Zora Quimby."
OPEN = "I take the tram to the Globex office with Ada Lovelace."
_changing = re.compile(r"(?:ep|fact|obs|refl)_[0-9a-f]+")
Ask = Callable[[Door], Any]


def _memory(clock: Clock) -> Memory:
    return Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off"))


@pytest.fixture
def both(clock: Clock) -> Iterator[Any]:
    """A memory with a fact that is not for ``bot``, and its fellow that never had it nor its turn; the fact, the turn."""
    with _memory(clock) as first, _memory(clock) as second:
        turn = first.record_turn("monday", "user", SECRET)
        asyncio.run(first.consolidate("monday"))
        [fact] = first.view.page("kind:fact")
        note = first.observations.remember(insights=["Initech pays late"], source="explicit")[0]
        first.withhold(fact.id, "bot")
        first.withhold(note.id, "Bot")
        for one in (first, second):
            one.record_turn("tuesday", "user", OPEN)
        yield first, second, fact, turn


CALLS: dict[str, Ask] = {
    "search": lambda door: door.call("search_memory", query="who works at Initech or takes the tram").text,
    "search turns": lambda door: door.call("search_memory", query="Initech", kind="episode").text,
    "stats": lambda door: door.call("memory_stats").text,
    "about": lambda door: door.call("about_user", limit=50).text,
    "over_time": lambda door: door.call("over_time", limit=50).text,
    "known name": lambda door: door.call("get_entity_info", name="Ada Lovelace").text,
    "its name": lambda door: door.call("get_entity_info", name="Zora Quimby").text,
    "context": lambda door: door.call("get_context", prompt="do I work with Zora Quimby at Initech?").text,
    "observations": lambda door: door.call("recall_observations", query="Initech").text,
    "its session": lambda door: door.call("get_episodes_for_consolidation", session_id="monday").text,
    "done": lambda door: door.call("is_session_consolidated", session_id="monday").text,
    "python search": lambda door: _shown(door.agent.memory.search("Initech Zora Quimby").hits),
    "python context": lambda door: door.agent.memory.context("do I work at Initech?").text,
    "said again": lambda door: door.call("remember_fact", content="The user works at Initech").text,
}


def _shown(hits: Any) -> list[str]:
    return [hit.memory.content for hit in hits]


@pytest.mark.parametrize("scope", [{}, {"filter": "kind:episode,fact,observation"}], ids=["all", "confined"])
@pytest.mark.parametrize("asked", CALLS)
def test_answers_are_those_of_a_memory_that_never_held_it(
    both: Any, asked: str, scope: dict[str, str]
) -> None:
    first, second, *_ = both
    had, never = (
        _changing.sub("ID", str(CALLS[asked](Door(one, beside(one, **scope))))) for one in (first, second)
    )
    assert had == never


WITH_ID: dict[str, Callable[[Door, str], str]] = {
    "confirm": lambda door, id: door.call("confirm_fact", memory_id=id).text,
    "correct": lambda door, id: door.call("correct_fact", memory_id=id, new_content="I row").text,
    "forget": lambda door, id: door.call("forget_fact", memory_id=id).text,
    "explain": lambda door, id: door.call("explain_search", query="Initech", memory_id=id).text,
    "resource": lambda door, id: _resource(door, id),
}


def _resource(door: Door, id: str) -> str:
    with pytest.raises(MemtuiError) as refused:
        resources.read_resource(door.agent, f"memory://{id}")
    return f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize("asked", WITH_ID)
def test_its_id_is_answered_as_one_that_is_not_there(both: Any, asked: str) -> None:
    first, _, fact, turn = both
    door = Door(first, beside(first))
    for one in (fact, turn):
        there, never = (WITH_ID[asked](door, id) for id in (one.id, "fact_0123456789ab"))
        assert _changing.sub("ID", there) == _changing.sub("ID", never)


def test_other_agents_are_told_it(both: Any) -> None:
    first, _, fact, turn = both
    found = Door(first, beside(first, "other")).ask("search_memory", query="Initech")["memories"]
    assert {fact.id, turn.id} <= {one["id"] for one in found}


def test_what_takes_its_place_is_kept_back_too(both: Any) -> None:
    first, _, fact, turn = both
    new = first.correct(fact.id, "The user works at Hooli")
    door = Door(first, beside(first))
    assert door.ask("search_memory", query="Hooli Initech")["memories"] == []
    first.allow(new.id, "bot")  # and with it what it took the place of
    found = {one["id"] for one in door.ask("search_memory", query="Hooli Initech")["memories"]}
    assert {new.id, turn.id} <= found


def test_an_agent_that_listens_when_it_is_decided_is_told_it_no_more(clock: Clock) -> None:
    with _memory(clock) as memory:
        fact = memory.remember("The user rows at dawn")
        door = Door(memory, beside(memory))
        assert door.ask("memory_stats")["memories"] == 1
        memory.withhold(fact.id, "bot")
        assert door.ask("memory_stats")["memories"] == 0
        memory.undo()
        assert door.ask("memory_stats")["memories"] == 1
        assert memory.view.page("withheld:*") == []


def test_the_person_finds_and_lifts_it(both: Any) -> None:
    first, _, fact, turn = both
    assert {one.id for one in first.view.page("withheld:bot kind:fact,episode")} == {fact.id, turn.id}
    assert first.view.page("withheld:other") == []
    assert first.view.detail(fact.id).withheld_from == first.view.detail(turn.id).withheld_from == ("bot",)
    assert first.view.operations()[0].label
    first.allow(fact.id, "BOT")
    assert [one.content for one in first.view.page("withheld:*")] == ["Initech pays late"]
    first.undo()
    assert first.view.detail(fact.id).withheld_from == ("bot",)


def test_several_at_once_are_one_operation(clock: Clock) -> None:
    with _memory(clock) as memory:
        facts = [memory.remember(f"The user owns boat {number}") for number in range(3)]
        done = memory.change_all("withhold", [one.rid for one in facts], agent="bot")
        assert done is not None and memory.view.count("withheld:bot") == 3
        memory.undo()
        assert memory.view.count("withheld:bot") == 0


def test_who_decides_is_the_person(both: Any) -> None:
    first, _, fact, _ = both
    agent = beside(first, "other").memory
    for change in (agent.withhold, agent.allow):
        with pytest.raises(ProtectedError):
            change(fact.id, "bot")
    with pytest.raises(InputError):
        first.withhold(fact.id, " ")


def test_a_reflection_drawn_from_it_is_kept_back_and_a_summary_that_names_it_is_not_told(
    clock: Clock,
) -> None:
    with _memory(clock) as memory:
        fact = memory.remember("The user works at Initech with Zora Quimby")
        memory.remember("Zora Quimby plays chess")
        zora = memory.entities.get("Zora Quimby").entity
        memory.entities.describe(zora.id, "Zora is a colleague at Initech.")
        door = Door(memory, beside(memory))
        assert "Initech" in door.call("get_entity_info", name="Zora Quimby").text
        memory.withhold(fact.id, "bot")
        answer = door.call("get_entity_info", name="Zora Quimby").text
        assert "chess" in answer and "Initech" not in answer
