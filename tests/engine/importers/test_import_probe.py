"""What known places hold, how much of it is in already, and how much of that is an estimate."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from import_samples import claude, conversation, jsonl, message
from memtui import Memory
from memtui.engine.importers import probe as probing
from memtui.engine.importers.known_places import DAY, known_sources
from memtui.engine.importers.probe import probe_sources
from memtui.engine.records import Options
from memtui.engine.records.exchange import SourceProbe

NOW = 1_800_000_000.0
OFF = Options(embedder="off", background=False)


def clock() -> float:
    return NOW


def session(home: Path, number: int, turns: int = 3, *, days_old: float = 1.0) -> Path:
    """A session file of Claude Code, named like its session."""
    name = f"00000000-0000-4000-9000-{number:012d}"
    records = [claude("user", f"turn {turn} of {number}", sessionId=name) for turn in range(turns)]
    path = jsonl(home / ".claude" / "projects" / "-home-ada" / f"{name}.jsonl", records)
    os.utime(path, (NOW - days_old * DAY,) * 2)
    return path


def probed(home: Path, memory: Memory | None = None, **environ: str) -> list[SourceProbe]:
    sources = known_sources(home, environ=environ, clock=clock)
    connections = memory._core.connections if memory else None
    return list(probe_sources(connections, sources, clock))


def test_sessions_are_new_then_in_then_grown(tmp_path: Path) -> None:
    paths = [session(tmp_path, number) for number in range(4)]
    jsonl(paths[0].with_suffix("") / "subagents" / "agent-a1.jsonl", [claude("user", "aside", agentId="a1")])
    (found,) = probed(tmp_path)
    assert (found.sessions, found.new_sessions, found.grown_sessions) == (4, 4, 0)
    assert (found.turns, found.new_turns, found.exact) == (13, 13, True)
    with Memory.open(":memory:", options=OFF) as memory:
        memory.files.import_paths(paths[:2])
        (found,) = probed(tmp_path, memory)
        assert (found.new_sessions, found.grown_sessions, found.new_turns) == (2, 0, 7)
        with paths[1].open("a") as file:
            file.write(json.dumps(claude("user", "one more", sessionId=paths[1].stem)) + "\n")
        (found,) = probed(tmp_path, memory)
        assert (found.new_sessions, found.grown_sessions, found.new_turns) == (2, 1, 8)
        memory.files.import_paths([tmp_path])
        (found,) = probed(tmp_path, memory)
        assert found.nothing_new
        assert memory.stats().by_kind == {"episode": 14}


def test_a_session_whose_end_is_output_of_tools_is_not_taken_for_grown(tmp_path: Path) -> None:
    path = session(tmp_path, 1)
    with path.open("a") as file:
        for _ in range(40):
            output = [{"type": "tool_result", "content": "x" * 5_000}]
            file.write(json.dumps(claude("user", output, sessionId=path.stem)) + "\n")
    with Memory.open(":memory:", options=OFF) as memory:
        memory.files.import_paths([path])
        assert probed(tmp_path, memory)[0].grown_sessions == 0


def test_what_is_swept_soon_and_holds_something_new_is_counted(tmp_path: Path) -> None:
    paths = [session(tmp_path, number, days_old=days) for number, days in enumerate((1, 25, 26, 29))]
    with Memory.open(":memory:", options=OFF) as memory:
        memory.files.import_paths(paths[:2])
        (found,) = probed(tmp_path, memory)
    assert (found.source.expiring, found.expiring_new) == (3, 2)


def test_of_much_only_a_part_is_read_and_the_rest_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "_MAX_BYTES", 100_000)
    for number in range(60):
        session(tmp_path, number, 20)
    (found,) = probed(tmp_path)
    assert not found.exact
    assert found.sessions == 60
    assert 1_000 <= found.turns <= 1_400


def test_exports_among_the_downloads_are_found_by_what_is_in_them(tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    talks: list[Any] = [conversation(f"c{number}", [message("user", "hello")] * 2) for number in range(3)]
    for name, member, content in (
        ("a.zip", "conversations.json", json.dumps(talks)),
        ("holiday.zip", "photo.jpg", "x"),
        ("odd.zip", "conversations.json", "[]"),
        ("claude.zip", "data/conversations.json", json.dumps([{
            "uuid": "u", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "hi"}]}])),
    ):  # fmt: skip
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(member, content)
        os.utime(folder / name, (NOW - DAY,) * 2)
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (folder / "conversations.json").write_text(json.dumps(talks[:1]))
    found = {each.source.name: each for each in probed(tmp_path)}
    assert set(found) == {"chatgpt", "chatgpt-2", "claude-ai"}
    assert {found[name].turns for name in ("chatgpt", "chatgpt-2")} == {6, 2}
    assert found["claude-ai"].sessions is None


def test_the_file_of_a_memory_server_is_found_where_it_was_set_up(tmp_path: Path) -> None:
    graph = jsonl(
        tmp_path / "kept.jsonl",
        [{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes trains"]}],
    )
    servers = {"mcpServers": {"memory": {"command": "npx", "env": {"MEMORY_FILE_PATH": str(graph)}}}}
    (tmp_path / ".claude.json").write_text(json.dumps({"projects": {"/x": servers}, "mcpServers": [1]}))
    (found,) = probed(tmp_path, MEMORY_FILE_PATH=str(graph))
    assert (found.source.name, found.turns) == ("mcp-memory", 1)
    graph.write_text('{"type": "entity"')
    assert probed(tmp_path)[0].turns == 0


def test_the_memory_itself_is_never_looked_at(tmp_path: Path) -> None:
    place = tmp_path / ".mem0" / "history.db"
    with Memory.open(place, options=OFF) as memory:
        assert probed(tmp_path, memory) == []
