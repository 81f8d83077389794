"""An agent cannot tell a memory with withheld turns from one that never held them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from door_kit import Door, beside
from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Options
from memtui.mcp import resources

from clock import Clock

SECRET = "I work at Initech with Zora Quimby."
OPEN = "I take the tram to the Globex office with Ada Lovelace."
_changing = re.compile(r"(?:ep|fact|obs|refl)_[0-9a-f]+")


def _memory(clock: Clock) -> Memory:
    return Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off"))


@pytest.fixture
def both(clock: Clock) -> Any:
    """A memory with a withheld turn, and its fellow that never had it; the turn."""
    with _memory(clock) as first, _memory(clock) as second:
        turn = first.record_turn("monday", "user", SECRET)
        asyncio.run(first.consolidate("monday"))
        for fact in first.view.page("kind:fact"):
            first.forget(fact.id, withhold=True)
        for one in (first, second):
            one.record_turn("tuesday", "user", OPEN)
        yield first, second, turn


Ask = Callable[[Door], Any]
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
    "finish": lambda door: door.call("mark_session_consolidated", session_id="monday").text,
    "save": lambda door: (
        door.call(
            "save_facts_batch",
            session_id="monday",
            facts=[{"content": "The user rows", "source_ids": ["ep_1"]}],
        ).text
    ),
}


@pytest.mark.parametrize("scope", [{}, {"filter": "kind:episode,fact"}], ids=["all", "confined"])
@pytest.mark.parametrize("asked", CALLS)
def test_answers_are_those_of_a_memory_that_never_held_it(
    both: Any, asked: str, scope: dict[str, str]
) -> None:
    first, second, _ = both
    had, never = (
        _changing.sub("ID", CALLS[asked](Door(one, beside(one, **scope)))) for one in (first, second)
    )
    assert had == never


WITH_ID: dict[str, Callable[[Door, str], str]] = {
    "confirm": lambda door, id: door.call("confirm_fact", memory_id=id).text,
    "correct": lambda door, id: door.call("correct_fact", memory_id=id, new_content="I row").text,
    "forget": lambda door, id: door.call("forget_fact", memory_id=id).text,
    "conflicts": lambda door, id: (
        door.call("detect_conflicts", session_id="tuesday", new_fact_id=id, new_fact_content="I row").text
    ),
    "resource": lambda door, id: _resource(door, id),
}


def _resource(door: Door, id: str) -> str:
    with pytest.raises(MemtuiError) as refused:
        resources.read_resource(door.agent, f"memory://{id}")
    return f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize("asked", WITH_ID)
def test_its_id_is_answered_as_one_that_is_not_there(both: Any, asked: str) -> None:
    first, _, turn = both
    door = Door(first, beside(first))
    assert _changing.sub("ID", WITH_ID[asked](door, turn.id)) == _changing.sub(
        "ID", WITH_ID[asked](door, "ep_0123456789ab")
    )


def test_the_person_finds_it(both: Any) -> None:
    first, _, turn = both
    assert [one.id for one in first.view.page("is:withheld")] == [turn.id]
    for one in first.view.page("is:forgotten kind:fact"):
        first.restore(one.id)
    assert first.view.page("is:withheld") == []
