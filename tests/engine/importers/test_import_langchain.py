"""LangChain message histories: texts as langchain-community 0.4 writes them, in a JSON file and in SQLite."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from import_samples import read, reasons, words
from memtui import Memory
from memtui.engine.importers.detect import find_sources
from memtui.engine.records import Options

EMPTY: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}


def message(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    data = {"content": content, **EMPTY, "type": kind, "name": None, "id": None} | fields
    return {"type": kind, "data": data}


CALL = {"name": "look", "args": {"x": 1}, "id": "c1", "type": "tool_call"}
TALK = [
    message("system", "Be brief."),
    message("human", "Which pump fits the small pond?"),
    message("ai", "", tool_calls=[CALL], invalid_tool_calls=[], usage_metadata=None),
    message("tool", "three pumps", tool_call_id="c1", artifact=None, status="success"),
    message("ai", [{"type": "text", "text": "The 40 W one."}], tool_calls=[], usage_metadata=None),
    message("human", "Thanks, über-quick!", id="own-1"),
]
SAID = ["Which pump fits the small pond?", "The 40 W one.", "Thanks, über-quick!"]
TABLE = "id INTEGER NOT NULL, session_id TEXT, message TEXT, PRIMARY KEY (id)"


def in_file(path: Path, messages: list[Any]) -> Path:
    path.write_text(json.dumps(messages))
    return path


def in_sqlite(path: Path, rows: list[tuple[Any, Any]], name: str = "message_store") -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {name} ({TABLE})")
        connection.executemany(f"INSERT INTO {name} (session_id, message) VALUES (?, ?)", rows)
    return path


def history(folder: Path, kind: str) -> Path:
    if kind == "file":
        return in_file(folder / "chat.json", TALK)
    return in_sqlite(folder / "chat.db", [("s1", json.dumps(each)) for each in TALK])


@pytest.mark.parametrize(("kind", "session"), [("file", "langchain:chat"), ("sqlite", "langchain:s1")])
def test_what_was_said_becomes_turns_in_its_order(tmp_path: Path, kind: str, session: str) -> None:
    turns, skips = read(history(tmp_path, kind))
    assert words(turns) == SAID
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert [turn.trust for turn in turns] == ["user", "agent", "user"]
    assert {turn.session_id for turn in turns} == {session}
    assert {turn.event_time for turn in turns} == {None}
    assert reasons(skips) == ["hidden or system text", "no text in it", "tool call or output"]


@pytest.mark.parametrize("kind", ["file", "sqlite"])
def test_a_reimport_adds_nothing_and_a_longer_history_the_rest(tmp_path: Path, kind: str) -> None:
    path = history(tmp_path, kind)
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "m" / "memory.db", options=options) as memory:
        assert memory.files.import_paths([path], dry_run=True).imported == 3
        assert memory.files.import_paths([path]).imported == 3
        again = memory.files.import_paths([path])
        assert (again.imported, again.already_there, again.formats) == (0, 3, ("langchain",))
        more = message("human", SAID[0])
        if kind == "file":
            in_file(path, [*TALK, more])
        else:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(
                    "INSERT INTO message_store (session_id, message) VALUES ('s1', ?)", (json.dumps(more),)
                )
        report = memory.files.import_paths([path])
        assert (report.imported, report.already_there) == (1, 3)
        assert report.operation is not None
        memory.undo(report.operation.op_id)
        assert memory.stats().active == 3


def test_other_roles_are_names_of_speakers(tmp_path: Path) -> None:
    (turn,), _ = read(in_file(tmp_path / "x.json", [message("chat", "I agree.", role="Aunt Vera")]))
    assert (turn.role, turn.trust) == ("Aunt Vera", "tool")


def test_pretty_printed_and_single_messages_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(TALK, indent=2))
    assert words(read(path)[0]) == SAID
    path.write_text("\n".join(json.dumps(each) for each in TALK))
    assert words(read(path)[0]) == SAID


def test_broken_messages_are_passed_over(tmp_path: Path) -> None:
    odd: list[Any] = [
        {"type": "human"},
        {"type": "human", "data": "x"},
        {"type": 7, "data": {"content": "x"}},
        {"type": "ai", "data": {"content": 7}},
        {"type": "martian", "data": {"content": "x"}},
        [],
    ]
    expected = [
        "hidden or system text",
        "no role",
        "no text in it",
        "not valid JSON",
        "record of an unknown shape",
    ]
    path = tmp_path / "x.json"
    good = json.dumps(message("human", "good"))
    path.write_text(f"[{good}, {{broken}}, {', '.join(map(json.dumps, odd))}, {good}]")
    turns, skips = read(path)
    assert words(turns) == ["good", "good"]
    assert len({turn.source_key for turn in turns}) == 2
    assert reasons(skips) == expected
    rows = [
        ("s", good),
        ("s", "{broken"),
        *(("s", json.dumps(each)) for each in odd),
        ("s", None),
        (None, good),
    ]
    turns, skips = read(in_sqlite(tmp_path / "x.db", rows, name="kept"))
    assert words(turns) == ["good", "good"]
    assert reasons(skips) == [*expected, "row without a message, or too long"]


def test_objects_of_other_types_are_something_else(tmp_path: Path) -> None:
    path = in_file(tmp_path / "x.json", [{"type": "Feature", "data": {"content": "x"}}])
    in_file(tmp_path / "y.json", TALK)
    assert [found.source.path.name for found in find_sources([tmp_path]).sources] == ["y.json"]
    assert path.exists()
