"""Whatever is neither the person's word nor confirmed is told with whose words it is, at every door that tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from door_kit import Door
from memtui.mcp import resources

QUOTE = "quoted from an agent"


@pytest.fixture
def planted(door: Door) -> Door:
    """An agent wrote a fact and a lesson; the person wrote and confirmed one each."""
    door.ask("remember_fact", content="Selma Lund keeps the accordion in the cellar")
    door.ask("remember_observations", lessons=["The accordion lessons of Selma Lund begin late"])
    door.person.remember("Selma Lund bought an accordion in Oslo")
    door.ask(
        "record_turn", session_id="s", role="assistant", content="Selma Lund tunes the accordion herself"
    )
    return door


def texts(value: Any) -> Iterator[dict[str, Any]]:
    """Every memory in an answer."""
    if isinstance(value, dict):
        if "content" in value and "trust" in value:
            yield value
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_memory", {"query": "accordion of Selma Lund", "limit": 10}),
        ("get_entity_info", {"name": "Selma Lund"}),
        ("about_user", {"limit": 50}),
        ("recall_observations", {"query": "accordion lessons"}),
        ("get_episodes_for_consolidation", {"session_id": "s"}),
    ],
)
def test_a_tool_says_whose_words_they_are(planted: Door, tool: str, arguments: dict[str, Any]) -> None:
    output = list(texts(planted.ask(tool, **arguments)))
    assert any(one["trust"] != "user" for one in output), (
        "nothing of an agent was told: the test shows nothing"
    )
    for one in output:
        if one["trust"] == "user":
            assert not one.get("caution")
        else:
            assert QUOTE in one["caution"], one


def test_what_the_person_confirmed_is_told_without_a_caution(planted: Door) -> None:
    [fact] = planted.person.view.page("trust:agent kind:fact")
    planted.person.confirm(fact.id)
    output = {one["id"]: one for one in texts(planted.ask("search_memory", query="accordion in the cellar"))}
    assert not output[fact.id].get("caution")


def test_the_context_block_quotes_it(planted: Door) -> None:
    lines = planted.ask("get_context", prompt="where is the accordion of Selma Lund?")["text"].splitlines()
    assert any("Oslo" in line and QUOTE not in line for line in lines)
    assert [line for line in lines if "cellar" in line and QUOTE not in line] == []
    assert any("cellar" in line for line in lines)


def test_a_resource_says_it_too(planted: Door) -> None:
    [fact] = planted.person.view.page("trust:agent kind:fact")
    assert QUOTE in resources.read_resource(planted.agent, f"memory://{fact.id}").text
