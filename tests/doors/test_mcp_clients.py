"""Two real clients, each over every tool: the SDK's own, and that of the OpenAI Agents SDK; and half characters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from agents.mcp import MCPServerStdio, MCPServerStdioParams
from jsonschema import validate
from mcp_kit import connected, environment
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.tools.registry import TOOLS

QUIET = Options(background=False, embedder="off")
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    },
}  # fmt: skip


class Known(NamedTuple):
    """What is there to be asked about."""

    turn: str
    facts: tuple[str, str, str]


@pytest.fixture
def known(place: Path) -> Known:
    with Memory.open(place, options=QUIET) as memory:
        turn = memory.record_turn("talk", "user", "I live in Ghent.")
        with Memory.open(place, actor="agent:mcp", options=QUIET) as agent:
            facts = [
                agent.remember(text).id for text in ("Ada Lopez eats meat", "Ada Lopez is vegan", "Likes tea")
            ]
    return Known(turn.id, (facts[0], facts[1], facts[2]))


def _calls(known: Known) -> dict[str, dict[str, Any]]:
    old, new, other = known.facts
    fact = {"content": "Lives in Ghent", "source_ids": [known.turn], "confidence": 1}
    return {
        "search_memory": {"query": "Ada", "limit": 5.0},
        "explain_search": {"query": "Ada", "memory_id": new, "limit": 5},
        "memory_stats": {},
        "about_user": {"limit": 3.0},
        "over_time": {"limit": 3.0},
        "get_entity_info": {"name": "Ada Lopez"},
        "get_context": {"prompt": "Is Ada vegan?"},
        "remember_fact": {"content": "Runs on Sundays", "confidence": 1},
        "correct_fact": {"memory_id": other, "new_content": "Likes green tea"},
        "confirm_fact": {"memory_id": new},
        "forget_fact": {"memory_id": new},
        "record_turn": {"session_id": "mine", "role": "user", "content": "I like tea."},
        "is_session_consolidated": {"session_id": "talk"},
        "get_episodes_for_consolidation": {"session_id": "talk", "limit": 30.0},
        "save_facts_batch": {"session_id": "talk", "facts": [fact]},
        "detect_conflicts": {"new_fact_id": new, "new_fact_content": "x", "session_id": "talk"},
        "resolve_conflict": {"new_fact_id": new, "old_fact_id": old, "reason": "she said so"},
        "mark_session_consolidated": {"session_id": "talk"},
        "remember_observations": {"lessons": ["Ask before you move a meeting"]},
        "recall_observations": {"query": "meeting", "min_score": 0},
        "observe_step": {"step_name": "review", "output": "short"},
        "scratchpad_write": {"key": "plan", "value": "call the plumber"},
        "scratchpad_read": {"key": "plan"},
        "scratchpad_list": {},
        "scratchpad_search": {"query": "plumber"},
    }


async def test_the_clients_of_mcp_itself_use_every_tool(place: Path, known: Known) -> None:
    async with connected(place, "--tools", "consolidator") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {tool.name for tool in TOOLS} == set(_calls(known))
        for name, arguments in _calls(known).items():
            validate(arguments, listed[name].input_schema)
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result)
            assert result.structured_content == json.loads(result.content[0].text)  # type: ignore[union-attr]
            assert listed[name].output_schema
            validate(result.structured_content, listed[name].output_schema or {})


async def test_the_client_of_the_agents_sdk_uses_every_tool(place: Path, known: Known) -> None:
    parameters = MCPServerStdioParams(
        command=sys.executable, args=["-m", "memtui", "mcp", "--db", str(place), "--tools", "consolidator"],
        env=environment(place.parent),
    )  # fmt: skip
    async with MCPServerStdio(parameters, client_session_timeout_seconds=120) as server:
        assert {tool.name for tool in await server.list_tools()} == set(_calls(known))
        for name, arguments in _calls(known).items():
            result = await server.call_tool(name, arguments)
            sent = result.model_dump(by_alias=True)
            assert not sent["isError"], (name, result)
            assert sent["structuredContent"] == json.loads(sent["content"][0]["text"])


def test_half_a_character_is_answered_and_the_server_goes_on(place: Path) -> None:
    Memory.open(place, options=QUIET).close()
    half = "\ud800"
    asked = [
        ("tools/call", {"name": "search_memory", "arguments": {"query": f"tea {half}"}}),
        ("tools/call", {"name": "search_memory", "arguments": {"query": "tea", half: 1}}),
        ("tools/call", {"name": half, "arguments": {}}),
        ("tools/call", {"name": "remember_fact", "arguments": {"content": f"Likes {half} tea"}}),
        ("resources/read", {"uri": f"memory://{half}"}),
        ("resources/read", {"uri": half}),
        (half, {}),
        ("tools/call", {"name": "memory_stats", "arguments": {}}),
    ]
    lines: list[Any] = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked, 2)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "mcp", "--db", str(place)],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True, env=environment(place.parent), timeout=240,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert set(answers) == set(range(1, len(asked) + 2))
    assert answers[len(asked) + 1]["result"]["structuredContent"]
    with Memory.open(place, options=QUIET) as memory:
        assert memory.view.count("kind:fact") == 1
    for number, (method, _) in enumerate(asked, 2):
        if method != "tools/call":
            assert answers[number]["error"]["message"]
