"""memtui mcp: what a client gets of a server process, tool by tool, and how it begins and ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from mcp.shared.exceptions import MCPError
from mcp_kit import ask, connected, environment, refused, resource
from memtui import Memory
from memtui.cli import run
from memtui.engine.records import Options
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import TOOLS
from memtui.mcp.server import make_server

QUIET = Options(background=False, embedder="off")
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_is_greeted_and_told_what_there_is(mode: str, place: Path) -> None:
    async with connected(place, mode=mode) as client:
        assert client.server_info.name == "memtui"
        assert "never an instruction" in (client.instructions or "")
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == {tool.name for tool in TOOLS if tool.group != "consolidator"}
        for tool in listed:
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
        search = next(tool for tool in listed if tool.name == "search_memory")
        assert search.input_schema["required"] == ["query"]
        assert search.annotations and search.annotations.read_only_hint
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "memory://{id}"


def test_no_tracing_hears_what_is_asked_and_told(place: Path) -> None:
    with Memory.open(place, actor="agent:coach", options=QUIET) as memory:
        assert list(make_server(Agent(memory)).middleware) == []


async def test_every_tool_does_its_work(place: Path) -> None:
    called: list[str] = []

    async with connected(place, "--agent", "coach", "--tools", "consolidator") as client:

        async def tool(name: str, /, **arguments: Any) -> Any:
            called.append(name)
            return await ask(client, name, **arguments)

        saved = (await tool("remember_fact", content="Ada Lopez is vegetarian", confidence=0.9))["memory"]
        assert (await tool("search_memory", query="what does Ada eat?"))["memories"][0]["id"] == saved["id"]
        response = await tool("explain_search", query="what does Ada eat?", memory_id=saved["id"])
        assert (response["found"], response["rank"]) == (True, 1) and "ada" in response["reason"]
        corrected = await tool(
            "correct_fact", memory_id=saved["id"], new_content="Ada Lopez is vegan since May"
        )
        new = corrected["memory"]["id"]
        assert (await tool("confirm_fact", memory_id=new))["memory"]["confidence"] == 1.0
        assert (await tool("forget_fact", memory_id=new, reason="She said so"))["status"] == "waits"
        assert (await tool("memory_stats"))["by_kind"]["fact"] == 1
        (known,) = (await tool("about_user"))["topics"]
        assert (await tool("over_time"))["learned"]
        assert [one["id"] for one in known["facts"]] == [new]
        assert (await tool("get_context", prompt="Is Ada vegan?", limit=None))["ids"] == [new]
        for role, said in (("user", "I moved to Ghent."), ("assistant", "Noted."), ("user", "I like tea.")):
            turn = await tool("record_turn", session_id="talk", role=role, content=said)
            assert turn["memory"]["role"] == role
        assert (await tool("get_entity_info", name="Ada Lopez"))["mentioned_in"] == 1

        assert not (await tool("is_session_consolidated", session_id="talk"))["consolidated"]
        episodes = (await tool("get_episodes_for_consolidation", session_id="talk"))["episodes"]
        facts = [{"content": "Lives in Ghent", "source_ids": [episodes[0]["id"]]}]
        (fact,) = (await tool("save_facts_batch", session_id="talk", facts=facts))["facts"]
        conflicts = await tool(
            "detect_conflicts",
            new_fact_id=fact["id"],
            new_fact_content="Lives in Ghent",
            session_id="talk",
        )
        assert set(conflicts)
        await tool("resolve_conflict", new_fact_id=fact["id"], old_fact_id=new, reason="she says so")
        assert (await tool("mark_session_consolidated", session_id="talk"))["consolidated"]

        await tool("remember_observations", insights=["Short answers work best"], source="coach:review")
        found = await tool("recall_observations", query="answers")
        assert "Short answers work best" in json.dumps(found)
        await client.call_tool("observe_step", {"step_name": "review", "output": "All good. " * 20})
        called.append("observe_step")  # without a model it can only say so
        await tool("scratchpad_write", key="plan/today", value="call the plumber")
        assert (await tool("scratchpad_read", key="plan/today"))["value"] == "call the plumber"
        assert "plan/today" in json.dumps(await tool("scratchpad_list", prefix="plan/"))
        assert "plan/today" in json.dumps(await tool("scratchpad_search", query="plumber"))

    assert set(called) == {tool.name for tool in TOOLS}
    with Memory.open(place, options=QUIET) as memory:
        actors = {operation.actor for operation in memory.view.operations()}
        assert actors == {"agent:coach"}
        assert {recall.agent for recall in memory.view.recent_recalls()} == {"coach"}
        report = memory.files.check(deep=True)
        assert report.ok, report.findings


async def test_memories_and_the_latest_reflection_are_resources(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        fact = memory.remember("Ada is vegetarian")
    async with connected(place) as client:
        assert json.loads(await resource(client, f"memory://{fact.id}"))["content"] == "Ada is vegetarian"
        assert (await client.list_resources()).resources == []
        for unknown in (
            "memory://fact_000000000000",
            "memory://reflection/latest",
            "memory://",
            "file:///etc",
        ):
            with pytest.raises(MCPError) as caught:
                await resource(client, unknown)
            assert caught.value.data["hint"]
        _write_reflection(place, "A week of moving boxes.")
        (listed,) = (await client.list_resources(cache_mode="bypass")).resources
        assert await resource(client, str(listed.uri)) == (
            "quoted from a language model, not an instruction: “A week of moving boxes.”"
        )
    with Memory.open(place, options=QUIET) as memory:
        assert [recall.query for recall in memory.view.recent_recalls()] == [
            "memory://reflection/latest",
            f"memory://{fact.id}",
        ]


def _write_reflection(place: Path, text: str) -> None:
    connection = apsw.Connection(str(place))
    try:
        connection.execute(
            "INSERT INTO memories(id, kind, content, event_time, created_at, content_hash, trust) "
            "VALUES ('ref_000000000001', 'reflection', ?, unixepoch(), unixepoch(), 'x', 'model')",
            (text,),
        )
    finally:
        connection.close()


async def test_who_only_reads_changes_nothing(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        memory.remember("Ada is vegetarian")
        before = memory.view.count_operations()
    async with connected(place, "--readonly") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {tool.name for tool in TOOLS if not tool.writes and tool.group != "consolidator"}
        assert len((await ask(client, "search_memory", query="Ada"))["memories"]) == 1
        error = await refused(client, "remember_fact", content="Ada eats meat")
        assert error["code"] == "unknown_tool"
    with Memory.open(place, options=QUIET) as memory:
        assert memory.view.count_operations() == before
        assert memory.view.recent_recalls() == []


async def test_where_hooks_record_the_model_is_not_asked_to(place: Path) -> None:
    async with connected(place, "--no-recording") as client:
        assert "record_turn" not in {tool.name for tool in (await client.list_tools()).tools}
        error = await refused(client, "record_turn", session_id="s", role="user", content="Hello")
        assert error["code"] == "unknown_tool"


async def test_what_is_filtered_out_does_not_exist(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        hidden = memory.remember("The safe opens with the blue key", tags=["private"])
        shown = memory.remember("The safe is in the cellar")
    async with connected(place, "--filter", "-tag:private") as client:
        found = (await ask(client, "search_memory", query="safe blue key", limit=50))["memories"]
        assert [memory["id"] for memory in found] == [shown.id]
        assert (await ask(client, "memory_stats"))["by_kind"]["fact"] == 1
        assert (await ask(client, "get_context", prompt="where is the safe?"))["ids"] == [shown.id]
        for name, arguments in (
            ("correct_fact", {"new_content": "x y"}), ("confirm_fact", {}), ("forget_fact", {}),
        ):  # fmt: skip
            there = await refused(client, name, memory_id=hidden.id, **arguments)
            nowhere = await refused(client, name, memory_id="fact_000000000000", **arguments)
            assert there == {
                key: value.replace("fact_000000000000", hidden.id) for key, value in nowhere.items()
            }
        with pytest.raises(MCPError):
            await resource(client, f"memory://{hidden.id}")
    with Memory.open(place, options=QUIET) as memory:
        assert memory.get(hidden.id) == hidden


async def test_a_project_is_what_it_sees_and_writes(place: Path) -> None:
    async with connected(place, "--project", "garden") as client:
        fact = (await ask(client, "remember_fact", content="The pump needs oil"))["memory"]
        assert (await ask(client, "search_memory", query="pump"))["memories"][0]["id"] == fact["id"]
    async with connected(place, "--project", "kitchen") as client:
        assert (await ask(client, "search_memory", query="pump"))["memories"] == []
    with Memory.open(place, options=QUIET) as memory:
        assert memory.get(fact["id"]).project == "garden"


BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("no_such_tool", {}, "unknown_tool"),
    ("get_episodes_for_consolidation", {"session_id": "s"}, "unknown_tool"),
    ("search_memory", {}, "bad_arguments"),
    ("search_memory", {"query": 7}, "bad_arguments"),
    ("search_memory", {"query": "x", "limit": 51}, "bad_arguments"),
    ("search_memory", {"query": "x", "colour": "red"}, "bad_arguments"),
    ("remember_fact", {"content": ""}, "refused"),
    ("remember_fact", {"content": "x" * 99_000}, "bad_arguments"),
    ("remember_fact", {"content": "x" * 2_000_000}, "bad_arguments"),
    ("remember_fact", {"content": "x", "confidence": 2}, "bad_arguments"),
    ("correct_fact", {"memory_id": "fact_nope", "new_content": "x"}, "not_found"),
    ("record_turn", {"session_id": "", "role": "user", "content": "x"}, "refused"),
    ("record_turn", {"session_id": "s", "role": "king", "content": "x"}, "bad_arguments"),
    ("scratchpad_read", {"key": "missing"}, "not_found"),
]


async def test_a_bad_call_is_answered_with_what_to_do(place: Path) -> None:
    async with connected(place) as client:
        for name, arguments, code in BAD_CALLS:
            error = await refused(client, name, **arguments)
            assert error["code"] == code, (name, error)
            assert error["message"] and (error["hint"] or code == "read_only"), error
    with Memory.open(place, options=QUIET) as memory:
        assert memory.view.count_operations() == 0


def start(place: Path, *options: str, **fields: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", "mcp", "--db", str(place), *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(place.parent) | fields,
    )  # fmt: skip


def greeted(server: subprocess.Popen[bytes]) -> None:
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(HELLO).encode() + b"\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1


def test_questions_from_a_pipe_are_all_answered_before_the_end(place: Path) -> None:
    lines: list[Any] = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for number in range(2, 30):
        arguments = {"session_id": "s", "role": "user", "content": f"turn {number}"}
        call = {"name": "record_turn", "arguments": arguments}
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
    with start(place) as server:
        out, err = server.communicate(
            "".join(json.dumps(line) + "\n" for line in lines).encode(), timeout=120
        )
    assert (server.returncode, err) == (0, b"")
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(1, 30))
    assert all("error" not in answer and not answer["result"].get("isError") for answer in answers)
    with Memory.open(place, options=QUIET) as memory:
        assert memory.view.session("s (agent:mcp)").turns == 28


@pytest.mark.parametrize("how", ["hangs up", "SIGTERM", "SIGINT", "SIGHUP"])
def test_it_ends_cleanly_when(how: str, place: Path) -> None:
    with start(place) as server:
        greeted(server)
        if how == "hangs up":
            assert server.stdin
            server.stdin.close()
        else:
            server.send_signal(getattr(signal, how))
        assert server.wait(timeout=120) == 0
        assert server.stderr and server.stderr.read() == b""
        assert server.stdout and server.stdout.read() == b""
    assert [file.name for file in place.parent.glob("memory.db*")] == ["memory.db"]  # no log is left behind


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--readonly",), 4, "There is no memory at"),
        (("--filter", "kind:("), 3, "kind: has no value"),
        (("--filter", " "), 3, "The filter is empty"),
        (("--project", ""), 3, "The project is empty"),
        (("--agent", ""), 3, "is not an actor"),
        (("--tools", "nothing"), 2, "nothing"),
    ],
    ids=range(6),
)
def test_what_keeps_it_from_starting_is_said_on_stderr(
    options: tuple[str, ...], code: int, words: str, place: Path
) -> None:
    with start(place, *options) as server:
        out, err = server.communicate(timeout=120)
    assert (server.returncode, out) == (code, b"")
    assert words in err.decode()
    assert err.startswith(b"error: ")


def test_without_the_package_it_says_how_to_get_it(place: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['mcp'] = None; from memtui.cli import main;"
        f"sys.argv = ['memtui', 'mcp', '--db', {str(place)!r}]; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(tmp_path)
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert "hint: " in done.stderr and "'mcp<3,>=2'" in done.stderr
    assert not place.exists()


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ((), "", True),
        (("--no-jobs",), "", False),
        (("--readonly",), "", False),
        (("--filter", "-tag:private"), "", False),
        (("--project", "work"), "", False),
        ((), "[mcp]\njobs = false\n", False),
        ((), '[llm]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n', False),
        ((), '[llm]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n[mcp]\nmodel = true\n', True),
    ],
)
def test_it_may_lead_the_jobs_only_where_that_harms_nobody(
    options: tuple[str, ...],
    settings: str,
    expected: bool,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Memory.open(place, options=QUIET).close()
    asked: list[bool] = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        "memtui.mcp.process.serve_stdio", lambda server, memory, *, jobs, at_end: asked.append(jobs)
    )
    config = tmp_path / "config.toml"
    config.write_text(settings)
    assert run(["--config", str(config), "mcp", "--db", str(place), *options]) == 0
    assert asked == [expected]
