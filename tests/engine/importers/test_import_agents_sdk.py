"""Sessions of the OpenAI Agents SDK: written by the SDK where it is installed, and by hand what it would not write."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zipfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest
from import_samples import read, reasons, words
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.limits import ImportLimits
from memtui.engine.importers.stream import SourceOpener
from memtui.engine.records import Options, Skip

TALK: list[Any] = [
    {"role": "user", "content": "Which pump fits the small pond?"},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "three pumps"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "The 40 W one.", "annotations": []}],
    },
    {"role": "user", "content": [{"type": "input_text", "text": "And in winter?"}]},
]


def table(path: Path, rows: list[tuple[Any, ...]], name: str = "agent_messages") -> Path:
    """A file with the SDK's table and (session, message_data) rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            f'CREATE TABLE "{name}" (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, '
            "message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
        )
        connection.executemany(
            f'INSERT INTO "{name}" (session_id, message_data, created_at) '
            "VALUES (?, ?, '2026-03-04 10:15:30')",
            rows,
        )
    return path


def said(text: str, role: str = "user") -> str:
    return json.dumps({"role": role, "content": text})


def written_by_the_sdk(path: Path, **names: str) -> Path:
    sdk = pytest.importorskip("agents")

    async def write() -> None:
        for session_id in ("ponds", "trees"):
            session = sdk.SQLiteSession(session_id, path, **names)
            await session.add_items(TALK)
            session.close()

    asyncio.run(write())
    return path


@pytest.mark.parametrize("names", [{}, {"sessions_table": "who", "messages_table": "what_was_said"}])
def test_what_the_sdk_wrote_becomes_turns(tmp_path: Path, names: dict[str, str]) -> None:
    turns, skips = read(written_by_the_sdk(tmp_path / "conversations.db", **names))
    assert words(turns) == ["Which pump fits the small pond?", "The 40 W one.", "And in winter?"] * 2
    assert [turn.role for turn in turns[:3]] == ["user", "assistant", "user"]
    assert [turn.trust for turn in turns[:3]] == ["user", "agent", "user"]
    assert {turn.session_id for turn in turns} == {"openai-agents:ponds", "openai-agents:trees"}
    assert all(turn.event_time and turn.event_time > 1_700_000_000 for turn in turns)
    assert reasons(skips) == ["tool call or output"]
    assert len({turn.source_key for turn in turns}) == 6


def test_a_reimport_adds_nothing_and_the_file_keeps_its_bytes(tmp_path: Path) -> None:
    path = table(tmp_path / "in.db", [("a", json.dumps(item)) for item in TALK])
    before = sha256(path.read_bytes()).hexdigest()
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "home" / "memory.db", options=options) as memory:
        assert memory.files.import_paths([path], dry_run=True).imported == 3
        report = memory.files.import_paths([path])
        assert (report.imported, report.formats) == (3, ("openai-agents",))
        assert report.operation is not None
        assert report.operation.label == "Imported 3 turns from OpenAI Agents SDK"
        again = memory.files.import_paths([path])
        assert (again.imported, again.already_there, again.operation) == (0, 3, None)
        memory.undo(report.operation.op_id)
        assert memory.stats().active == 0
    assert sha256(path.read_bytes()).hexdigest() == before
    assert list(tmp_path.glob("in.db-*")) == []


def test_a_file_in_use_is_read_with_its_log_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        table(path, [("a", said("written down"))])
        writer.execute("SELECT * FROM agent_messages").fetchall()
        with writer:
            writer.execute(
                "INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)",
                ("a", said("still in the log")),
            )
        log = path.with_name("live.db-wal")
        before = path.read_bytes(), log.read_bytes()
        turns, _ = read(path)
        assert words(turns) == ["written down", "still in the log"]
        assert (path.read_bytes(), log.read_bytes()) == before


def test_broken_rows_are_passed_over_with_their_reasons(tmp_path: Path) -> None:
    path = table(
        tmp_path / "x.db",
        [
            ("a", said("good")),
            ("a", "{broken"),
            ("a", "[]"),
            ("a", b"\xff\xfe\x00"),
            ("a", '{"content": "who?"}'),
            ("a", said("Be brief.", "system")),
            ("a", said("  ")),
            ("a", json.dumps({"__enc__": 1, "v": 1, "kid": "k", "payload": "gAAAA"})),
            ("a", said("x" * 2000)),
            (b"\xff", said("odd session")),
            ("a", said("good again")),
        ],
    )
    turns, skips = read(path, limits=ImportLimits(line=1000))
    assert words(turns) == ["good", "odd session", "good again"]
    assert len(skips) == 8
    assert reasons(skips) == [
        "encrypted by the program that wrote it",
        "hidden or system text",
        "no role",
        "no text in it",
        "not text in UTF-8",
        "not valid JSON",
        "record of an unknown shape",
        "row without a message, or too long",
    ]


def test_a_table_of_any_name_is_read(tmp_path: Path) -> None:
    path = table(tmp_path / "x.db", [("a", said("hi"))], name="what they 'said'")
    assert words(read(path)[0]) == ["hi"]


def test_two_files_with_the_same_session_names_do_not_hide_each_other(tmp_path: Path) -> None:
    one = table(tmp_path / "one.db", [("default", said("In the first."))])
    two = table(tmp_path / "two.db", [("default", said("In the second."))])
    assert read(one)[0][0].source_key != read(two)[0][0].source_key


def test_views_and_generated_columns_are_no_messages(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    columns = "1 AS id, 'a' AS session_id, zeroblob(900000000) AS message_data, '' AS created_at"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE VIEW agent_messages AS SELECT {columns}")
        connection.execute(
            "CREATE TABLE other (id INTEGER PRIMARY KEY, session_id TEXT, created_at TEXT, "
            "message_data TEXT AS (hex(zeroblob(400000000))))"
        )
    with pytest.raises(InputError, match="in no format"):
        find_sources([path])


def test_a_damaged_file_gives_what_can_be_read(tmp_path: Path) -> None:
    path = table(tmp_path / "x.db", [("a", said(f"line {number} " + "x" * 500)) for number in range(200)])
    raw = bytearray(path.read_bytes())
    raw[40_000:44_096] = b"\xff" * 4096
    path.write_bytes(raw)
    turns, skips = read(path)
    assert 0 < len(turns) < 200
    assert any("cannot be read" in skip.reason for skip in skips)
    path.write_bytes(raw[:3000])
    with pytest.raises(InputError):
        find_sources([path])


def test_a_database_inside_an_archive_is_named_as_what_it_is(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(table(tmp_path / "x.db", [("a", said("hi"))]), "x.db")
    with pytest.raises(InputError, match="database in an archive"):
        find_sources([tmp_path / "x.zip"])


def test_a_journal_of_a_killed_writer_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    path = table(tmp_path / "x.db", [("a", said("kept"))])
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM agent_messages")
    writer.executemany(
        "INSERT INTO agent_messages (session_id, message_data) VALUES ('a', ?)",
        [(said(f"never committed {number} " + "x" * 3000),) for number in range(50)],
    )
    writer.cache_flush()
    journal = path.with_name("x.db-journal")
    dead = tmp_path / "dead"
    dead.mkdir()
    for each in (path, journal):
        (dead / each.name).write_bytes(each.read_bytes())
    writer.execute("ROLLBACK")
    writer.close()
    assert words(read(dead / "x.db")[0]) == ["kept"]


def test_a_row_that_is_no_utf8_stops_neither_its_table_nor_the_others(tmp_path: Path) -> None:
    path = table(tmp_path / "s.db", [("a", said("first")), ("b", said("second")), ("c", said("third"))])
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "UPDATE agent_messages SET session_id = CAST(x'ff62' AS TEXT) WHERE session_id = 'b'"
        )
        connection.execute(
            "UPDATE agent_messages SET created_at = CAST(x'ff' AS TEXT) WHERE session_id = 'c'"
        )
    turns, _ = read(path)
    assert words(turns) == ["first", "second", "third"]
    assert turns[1].session_id == "openai-agents:\ufffdb"


def test_a_row_that_cannot_be_read_is_passed_over_with_its_place(tmp_path: Path) -> None:
    path = table(tmp_path / "s.db", [("a", "x")])
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES ('one'), (CAST(x'ff' AS TEXT)), ('three')")
    found = find_sources([path]).sources[0].source
    with SourceOpener() as opener, opener.open(found) as stream:
        rows = list(stream.rows("SELECT a FROM t"))
    assert [rows[0], rows[2]] == [("one",), ("three",)]
    assert rows[1] == Skip(reason="not text in UTF-8", place=f"{path}:2")
