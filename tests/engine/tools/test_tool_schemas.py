"""The schemas of all tools are fit for OpenAI's strict mode, and their texts are of use to a model."""

from __future__ import annotations

from typing import Any

import pytest
from memtui.engine.tools.base import Tool, schema
from memtui.engine.tools.registry import TOOLS

# What strict mode knows.
KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "description", "enum", "items", "anyOf", "minimum",
    "maximum", "minItems", "maxItems", "pattern",
}  # fmt: skip


def _check(node: dict[str, Any]) -> None:
    assert set(node) <= KEYWORDS
    assert "type" in node or "anyOf" in node
    if node.get("type") == "object":
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
        for one in node["properties"].values():
            _check(one)
    if "items" in node:
        _check(node["items"])
    for one in node.get("anyOf", ()):
        _check(one)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_fit_for_strict_mode(tool: Tool) -> None:
    found = schema(tool)
    assert found["type"] == "object"
    _check(found)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_what_it_is_for_and_what_each_argument_means(tool: Tool) -> None:
    assert 40 <= len(tool.description) <= 600
    for one in schema(tool)["properties"].values():
        assert len(one["description"]) >= 10


def test_every_name_is_there_once() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
