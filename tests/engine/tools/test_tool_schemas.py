"""The schemas of all tools are plain enough for any client, and their texts are of use to a model."""

from __future__ import annotations

from typing import Any

import pytest
from door_kit import Door
from jsonschema import Draft202012Validator
from memtui.engine.tools.base import Tool, arguments_schema, output_schema
from memtui.engine.tools.registry import TOOLS

KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "description", "enum", "items", "default", "minimum",
    "maximum", "minItems", "maxItems", "minLength", "maxLength",
}  # fmt: skip
TYPES = {"object", "string", "integer", "number", "boolean", "array"}


def _check(node: dict[str, Any]) -> None:
    assert set(node) <= KEYWORDS
    assert node["type"] in TYPES  # one, by its name
    for one in node.get("properties", {}).values():
        _check(one)
    for inner in (node.get("items"), node.get("additionalProperties")):
        if isinstance(inner, dict):
            _check(inner)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_has_plain_types_and_defaults(tool: Tool) -> None:
    for found in (arguments_schema(tool), output_schema(tool)):
        assert found["type"] == "object"
        _check(found)
        Draft202012Validator.check_schema(found)
    given = arguments_schema(tool)
    assert given["additionalProperties"] is False
    for name, node in given["properties"].items():
        assert name not in given["required"] or "default" not in node
        if node["type"] == "string" and "enum" not in node:
            assert node["maxLength"] > 0


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_length_that_is_told_is_the_one_that_is_enforced(door: Door, tool: Tool) -> None:
    for name, node in arguments_schema(tool)["properties"].items():
        if node["type"] == "string" and "enum" not in node:
            error = door.refused(tool.name, **{name: "x" * (node["maxLength"] + 1)})
            assert error["code"] == "bad_arguments"


@pytest.mark.parametrize(
    ("name", "argument"),
    [("remember_fact", "content"), ("record_turn", "content"), ("scratchpad_write", "value")],
)
def test_a_text_as_long_as_is_told_is_kept(door: Door, name: str, argument: str) -> None:
    [tool] = [tool for tool in TOOLS if tool.name == name]
    longest = arguments_schema(tool)["properties"][argument]["maxLength"]
    others = {"record_turn": {"session_id": "s", "role": "user"}, "scratchpad_write": {"key": "k"}}
    door.ask(name, **{**others.get(name, {}), argument: "a word " * (longest // 7)})


@pytest.mark.parametrize("limit", [5.0, 5, None])
def test_a_whole_number_may_have_a_point(door: Door, limit: float | None) -> None:
    door.ask("search_memory", query="tea", limit=limit)
    door.ask("remember_fact", content=f"Likes tea, {limit}", confidence=1)
    assert door.refused("search_memory", query="tea", limit=5.5)["code"] == "bad_arguments"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_what_it_is_for_and_what_each_argument_means(tool: Tool) -> None:
    assert 40 <= len(tool.description) <= 600
    for one in arguments_schema(tool)["properties"].values():
        assert len(one["description"]) >= 10


def test_every_name_is_there_once() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
