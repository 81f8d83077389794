"""Gemini CLI: sessions of lines, those of earlier versions, an agent's within another, and what was taken back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from import_samples import ignored, read
from memtui import Memory
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.formats import gemini_cli as format
from memtui.engine.importers.known_places import known_sources
from memtui.engine.records import Options
from other_memories import assert_comes_once_and_goes, rows

from foreign_stores import GEMINI, gemini_cli

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")


def test_what_was_said_comes_in_without_what_the_program_added_or_the_person_took_back(
    tmp_path: Path,
) -> None:
    turns, skips = read(gemini_cli(tmp_path / "tmp"))
    assert [
        (one.session_id, one.role, one.content, one.trust, one.session_title)
        for one in sorted(turns, key=lambda one: one.event_time or 0)
    ] == [
        ("gemini-cli:g-0", "user", "Hello there", "user", None),
        ("gemini-cli:g-0", "assistant", "Hello Ada.", "agent", None),
        ("gemini-cli:g-1", "user", "Why is @heater.py off?", "user", "The heater"),
        ("gemini-cli:g-2", "user", "Look for sensors", "agent", None),
        ("gemini-cli:g-1", "assistant", "It reads Fahrenheit.", "agent", "The heater"),
    ]
    assert {(one.project, one.folder) for one in turns} == {("greenhouse", "/home/ada/greenhouse")}
    assert Counter(one.reason for one in skips) == {
        "added by the program": 4, "tool call or output": 1, "taken back in the program": 2,
    }  # fmt: skip
    assert ignored(find_sources([tmp_path / "tmp"]))["in no known format"] == 2  # logs.json, .project_root


def test_a_session_comes_once_and_grows(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        folder = gemini_cli(tmp_path / "tmp")
        assert_comes_once_and_goes(memory, folder)
        session = next(folder.glob("*/chats/session-*.jsonl"))
        more = {"id": "more", "timestamp": "2026-03-04T10:01:00Z", "type": "user", "content": "And the pump?"}
        session.write_text(session.read_text() + json.dumps(more) + "\n" + '{"id": "half')
        report = memory.files.import_paths([folder])
        assert (report.kinds, report.reasons["not valid JSON"]) == ({"turn": 1}, 1)
        assert rows(memory, "SELECT count(*) FROM memories") == [(6,)]


def test_its_sessions_are_known(tmp_path: Path) -> None:
    gemini_cli(tmp_path / ".gemini" / "tmp")
    found = known_sources(tmp_path, environ={})
    assert [(one.name, one.files, one.live) for one in found] == [("gemini-cli", 3, True)]
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        assert [(one.sessions, one.turns, one.exact) for one in memory.files.probe(found)] == [
            (None, 5, True)
        ]


def test_a_long_session_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format, "_MOST_WAITING", 10)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in GEMINI))
    turns, _ = read(path)
    assert "Kelvin it is." in [one.content for one in turns]
    assert turns[0].project is None


def test_a_whole_rewind_takes_everything_back(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [*GEMINI, {"$rewindTo": "gone"}]))
    assert read(path)[0] == []
