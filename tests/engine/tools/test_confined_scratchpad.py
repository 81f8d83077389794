"""A confined agent has a scratchpad of its scope: the rest of it does not exist for it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from door_kit import Door, beside
from memtui.engine.errors import InputError
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import Toolbox, run_tool


def ask(agent: Agent, name: str, **arguments: Any) -> Any:
    answer = run_tool(agent, name, arguments)
    assert answer.ok, answer.text
    return msgspec.json.decode(answer.text)


def keys(agent: Agent, **arguments: Any) -> list[str]:
    found: list[str] = ask(agent, "scratchpad_list", **arguments)["keys"]
    return found


def test_keys_of_others_are_neither_told_nor_overwritten(door: Door) -> None:
    door.person.scratchpad.set("task", "see the doctor")
    work, home = beside(door.person, project="work"), beside(door.person, filter="tag:home")
    assert keys(work) == keys(home) == []
    assert ask(work, "scratchpad_search", query="doctor")["entries"] == []
    error = run_tool(work, "scratchpad_read", {"key": "task"}).error
    assert error and error.code == "not_found" and "[" not in error.message
    assert ask(work, "scratchpad_write", key="task", value="ship it")["key"] == "task"
    ask(home, "scratchpad_write", key="task", value="water the plants")
    assert ask(work, "scratchpad_read", key="task")["value"] == "ship it"
    assert keys(work, prefix="ta") == ["task"] and keys(work, prefix="[") == []
    assert ask(work, "scratchpad_search", query="project")["entries"] == []
    assert door.person.scratchpad.get("task").value == "see the doctor"


def test_another_agent_of_the_scope_shares_it_and_the_person_sees_whose_it_is(door: Door) -> None:
    ask(beside(door.person, project="work"), "scratchpad_write", key="task", value="ship it")
    assert keys(beside(door.person, project="work")) == ["task"]
    assert door.person.scratchpad.keys() == ["[project:work] task"]
    assert keys(door.agent) == ["[project:work] task"]
    door.person.undo(door.person.view.operations()[0].op_id)
    assert door.person.scratchpad.keys() == []


@pytest.mark.parametrize("scopes", [("a", "a] b"), ("a", "a [x"), ("x" * 90, "x" * 91), ("a\nb", "a b")])
def test_no_scope_can_be_named_into_another_ones_scratchpad(door: Door, scopes: tuple[str, str]) -> None:
    one, other = (beside(door.person, project=scope) for scope in scopes)
    ask(one, "scratchpad_write", key="b] task", value="mine")
    ask(one, "scratchpad_write", key="task", value="mine")
    assert keys(other) == []


def test_a_key_of_a_confined_agent_may_be_as_long_as_any(door: Door) -> None:
    agent = beside(door.person, project="work" * 40)
    ask(agent, "scratchpad_write", key="k" * 200, value="x")
    assert keys(agent) == ["k" * 200]


@pytest.mark.parametrize("empty", [{"filter": ""}, {"filter": "  \n "}, {"project": ""}, {"project": " "}])
def test_a_scope_that_is_given_and_empty_lets_nobody_in(door: Door, empty: dict[str, str]) -> None:
    with pytest.raises(InputError, match="is empty"):
        beside(door.person, **empty)
    with pytest.raises(InputError, match="is empty"):
        Toolbox.of(door.agent.memory, **empty)  # type: ignore[arg-type]


def test_a_long_list_of_keys_ends_and_says_how_many_there_are_beyond(door: Door) -> None:
    for number in range(503):
        door.person.scratchpad.set(f"key {number:03}", "x")
    output = ask(door.agent, "scratchpad_list")
    assert (len(output["keys"]), output["more"]) == (500, 3)
