"""Live session files: new lines come in once, half lines wait, files may come, go and be written anew."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from import_samples import SESSION, claude, jsonl
from memtui import Memory
from memtui.engine.importers import lock, watch
from memtui.engine.importers.live import LiveStream
from memtui.engine.importers.watch import FileFollower
from memtui.engine.records import Operation, Options

from foreign_stores import GEMINI, OPENCODE, store

OFF = Options(embedder="off", background=False)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", options=OFF) as memory:
        yield memory


def following_into(memory: Memory, *places: Path) -> FileFollower:
    return FileFollower(memory._core.connections, places, clock=lambda: 1_800_000_000.0, options=OFF)


def add(path: Path, *records: Any, end: str = "\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records)[:-1] + end)


def said(memory: Memory) -> list[str]:
    with memory._core.connections.read() as connection:
        return [text for (text,) in connection.execute("SELECT content FROM memories ORDER BY rid")]


def operations(memory: Memory) -> list[Operation]:
    return memory.view.operations(limit=100)


def test_what_is_added_comes_in_and_half_a_line_waits(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "in" / "s.jsonl", [claude("user", "one"), claude("assistant", "two")])
    with following_into(memory, tmp_path / "in") as follower:
        found = follower.import_new()
        assert found is not None and (found.turns, found.formats) == (2, ("claude-code",))
        assert follower.import_new() is None
        add(path, claude("user", "three"), claude("assistant", "four with an ä"), end="")
        found = follower.import_new()
        assert found is not None and found.turns == 1
        add(path, claude("user", "five"), end="")  # ends the line before it
        assert said(memory) == ["one", "two", "three"]
        with path.open("a") as file:
            file.write("\n")
        follower.import_new()
    assert said(memory)[:3] == ["one", "two", "three"]
    assert len(operations(memory)) == 1


def test_half_a_character_and_half_a_line_are_never_read(memory: Memory, tmp_path: Path) -> None:
    raw = (json.dumps(claude("user", "grüße 🌊"), ensure_ascii=False) + "\n").encode()
    path = tmp_path / "s.jsonl"
    first = (json.dumps(claude("user", "first")) + "\n").encode()
    with following_into(memory, path) as follower:
        path.write_bytes(first)
        follower.import_new()
        for cut in range(0, len(raw), 7):
            with path.open("ab") as file:
                file.write(raw[cut : cut + 7])
            follower.import_new()
    assert said(memory) == ["first", "grüße 🌊"]


def test_the_last_line_of_a_quiet_file_needs_no_end(memory: Memory, tmp_path: Path) -> None:
    plain = [{"role": "user", "content": text, "session": "s"} for text in ("one", "two", "last")]
    path, fresh, torn = (tmp_path / f"{name}.jsonl" for name in ("old", "fresh", "torn"))
    add(path, *plain, end="")
    os.utime(path, (time.time() - 90,) * 2)
    with following_into(memory, path) as follower:
        follower.import_new()
        assert said(memory) == ["one", "two", "last"]
        with path.open("a") as file:
            file.write("\n")
        assert follower.import_new() is None
        add(path, {"role": "user", "content": "after it", "session": "s"})
        follower.import_new()
        assert follower._tails[path].stream.record == 4
    assert said(memory)[2:] == ["last", "after it"]
    assert (
        memory.files.import_paths([path]).imported == 0
    )  # its records were counted as an import counts them
    add(fresh, {"role": "user", "content": "first", "session": "f"})
    add(fresh, {"role": "user", "content": "still written", "session": "f"}, end="")
    torn.write_text('{"role": "user", "content": "whole", "session": "t"}\n{"role": "user", "cont')
    os.utime(torn, (time.time() - 90,) * 2)
    with following_into(memory, fresh, torn) as follower:
        follower.import_new()
        assert set(said(memory)[4:]) == {"first", "whole"}
        os.utime(fresh, (time.time() - 90,) * 2)
    with following_into(memory, fresh, torn) as follower:  # the memory knows that it is to be looked at
        assert list(follower._left) == [fresh]
        follower.import_new()
        assert said(memory)[-1] == "still written" and not follower._left
        os.utime(torn, (time.time() - 80,) * 2)
        follower.import_new()
        with torn.open("a") as file:
            file.write('ent": "mended", "session": "t"}\n')
        follower.import_new()
        assert said(memory)[-1] == "mended"


def test_only_what_is_new_is_read(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", f"turn {number}") for number in range(200)])
    with following_into(memory, path) as follower:
        follower.import_new()
        read: list[bytes | Any] = []
        plain = LiveStream._next_line
        monkeypatch.setattr(LiveStream, "_next_line", lambda self: read.append(found := plain(self)) or found)
        add(path, claude("user", "the last"))
        follower.import_new()
        assert len(read) == 2  # the line, and that there is no more
    with following_into(memory, path) as follower:
        read.clear()
        assert follower.import_new() is None  # the memory knows that it has read all of it
        assert (
            read == [] or len(read) == 202
        )  # unless it was written within the slack of the file system's clock


@pytest.mark.parametrize("format", ["codex", "jsonl"])
def test_lines_without_ids_come_in_once_whatever_is_repeated(
    memory: Memory, tmp_path: Path, format: str
) -> None:
    def line(text: str) -> dict[str, Any]:
        if format == "jsonl":
            return {"role": "user", "content": text, "session_id": "s"}
        payload = {"type": "user_message", "message": text}
        return {"timestamp": "2026-03-04T10:15:30Z", "type": "event_msg", "payload": payload}

    head = {
        "timestamp": "2026-03-04T10:15:30Z",
        "type": "session_meta",
        "payload": {"id": SESSION, "cwd": "/x/pond"},
    }
    path = jsonl(tmp_path / "s.jsonl", [*([head] if format == "codex" else []), line("yes")])
    with following_into(memory, path) as follower:
        follower.import_new()
        for _ in range(3):
            add(path, line("yes"))
            follower.import_new()
    assert said(memory) == ["yes"] * 4
    memory.files.import_paths([path])
    assert said(memory) == ["yes"] * 4


def test_files_may_come_go_and_be_written_anew(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with following_into(memory, folder) as follower:
        assert follower.import_new() is None
        first = jsonl(folder / "deep" / "er" / "a.jsonl", [claude("user", "a")])
        follower.import_new()
        jsonl(folder / "b.jsonl", [claude("user", "b")])
        follower.import_new()
        first.unlink()
        assert follower.import_new() is None
        jsonl(first, [claude("user", "a again"), claude("user", "and more of it " * 20)])
        follower.import_new()
        short = jsonl(folder / "c.tmp", [claude("user", "b2")])
        short.replace(folder / "b.jsonl")
        follower.import_new()
        for path in (first, first.parent):
            path.unlink() if path.is_file() else path.rmdir()
        follower.import_new()
        jsonl(first, [claude("user", "back")])
        follower.import_new()
        (folder / "notes.txt").write_text("not a session")
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "loop").symlink_to(folder)
        assert follower.import_new() is None
        assert follower.files == 3
    assert said(memory) == ["a", "b", "a again", ("and more of it " * 20).strip(), "b2", "back"]


def test_a_file_that_is_no_session_yet_becomes_one(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("")
    with following_into(memory, path) as follower:
        assert follower.import_new() is None
        add(path, claude("user", "now"))
        follower.import_new()
    assert said(memory) == ["now"]


def test_a_database_is_read_again_when_it_changes(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "talks.db"
    talks = apsw.Connection(str(path))
    talks.execute("PRAGMA journal_mode = WAL").fetchall()
    talks.execute("CREATE TABLE message_store(id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)")
    with following_into(memory, path) as follower:
        for number in range(3):
            message = json.dumps({"type": "human", "data": {"content": f"turn {number}"}})
            talks.execute("INSERT INTO message_store(session_id, message) VALUES ('s', ?)", (message,))
            follower.import_new()
    talks.close()
    assert said(memory) == ["turn 0", "turn 1", "turn 2"]


def test_an_operation_grows_until_something_else_happens_or_it_is_undone(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "0")])
    with following_into(memory, path) as follower:
        for number in range(1, 4):
            follower.import_new()
            add(path, claude("user", f"{number}"))
        (first,) = operations(memory)
        assert (first.label, first.actor, first.state) == ("Followed Claude Code: 3 turns", "import", "done")
        memory.remember("I prefer tea")
        follower.import_new()
        second = operations(memory)[0]
        assert (second.op_id > first.op_id, second.label) == (True, "Followed Claude Code: 1 turn")
        memory.undo(second.op_id)
        add(path, claude("user", "4"))
        follower.import_new()
        assert operations(memory)[0].label == "Followed Claude Code: 1 turn"
        memory.undo(first.op_id)
        assert said(memory) == ["I prefer tea", "4"]
        monkeypatch.setattr(watch, "_LONGEST_OPERATION", 0)
        before = len(operations(memory))
        for number in range(2):
            add(path, claude("user", f"late {number}"))
            follower.import_new()
        assert len(operations(memory)) == before + 2


def test_what_was_undone_does_not_come_back_with_the_next_start(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "secret plan")])
    os.utime(path, (1, 1))
    with following_into(memory, tmp_path) as follower:
        found = follower.import_new()
        assert found is not None and found.operation is not None
        memory.undo(found.operation.op_id)
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memory_metadata SET value = value + 60 WHERE key LIKE 'followed:%'")
    with following_into(memory, tmp_path) as follower:
        assert follower.import_new() is None
        add(path, claude("user", "something else"))
        os.utime(path, (2e9, 2e9))
        follower.import_new()
    assert "something else" in said(memory)


def test_what_was_undone_does_not_come_back_when_its_file_is_read_from_the_beginning(
    memory: Memory, tmp_path: Path
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "secret plan"), claude("user", "another")])
    with following_into(memory, tmp_path) as follower:
        found = follower.import_new()
        assert found is not None and found.operation is not None
        memory.undo(found.operation.op_id)
    with following_into(memory, tmp_path) as follower:
        add(path, claude("user", "something else"))
        follower.import_new()
        assert said(memory) == ["something else"]
        path.write_text(path.read_text() + "\n")  # somebody writes it anew
        follower._tails.clear()
        follower.import_new()
    assert said(memory) == ["something else"]
    memory.files.import_paths([path])  # asked for, it comes
    assert set(said(memory)) == {"something else", "secret plan", "another"}


@pytest.mark.parametrize("restarted", [False, True])
def test_a_file_that_could_not_be_read_is_tried_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "one")])
    other = jsonl(tmp_path / "t.jsonl", [claude("user", "other")])
    with following_into(memory, tmp_path) as follower:
        follower.import_new()
        add(path, claude("user", "two"))
        with monkeypatch.context() as broken:
            opened = Path.open

            def too_many(self: Path, *given: Any, **named: Any) -> Any:
                if self == path:
                    raise OSError(24, "Too many open files")
                return opened(self, *given, **named)

            broken.setattr(Path, "open", too_many)
            assert follower.import_new() is None
            assert follower.import_new() is None
            add(other, claude("user", "more of the other"))
            assert follower.import_new() is not None  # and notes that everything else was read
        if not restarted:
            for _ in range(watch._LOOKS_PER_FULL_LOOK):
                follower.import_new()
            assert said(memory)[-1] == "two"
            return
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memory_metadata SET value = value + 60 WHERE key LIKE 'followed:%'")
    with following_into(memory, other) as follower:  # another place of its own
        add(other, claude("user", "still more"))
        follower.import_new()
    with following_into(memory, tmp_path) as follower:
        follower.import_new()
        assert said(memory)[-1] == "two"
        assert follower._left == {}


def test_while_another_import_runs_it_waits(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "one")])
    with following_into(memory, path) as follower:
        with lock.only_import(memory._core.connections):
            assert follower.import_new() is None
        follower.import_new()
    assert said(memory) == ["one"]


def test_a_write_that_fails_loses_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "one")])
    with following_into(memory, path) as follower:
        follower.import_new()
        add(path, claude("user", "two"))
        with monkeypatch.context() as broken:
            broken.setattr(watch.ImportRun, "import_batch", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                follower.import_new()
        follower.import_new()
    assert said(memory) == ["one", "two"]


def test_titles_that_come_late_are_taken(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "one")])
    with following_into(memory, path) as follower:
        follower.import_new()
        add(path, {"type": "ai-title", "aiTitle": "Ponds", "sessionId": SESSION}, claude("user", "two"))
        follower.import_new()
    assert memory.view.session(f"claude-code:{SESSION}").title == "Ponds"


def test_it_runs_until_it_is_stopped_and_tells_the_memory_whom_it_changed(
    memory: Memory, tmp_path: Path
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "one")])
    stopped, came = threading.Event(), threading.Event()
    heard: list[Any] = []
    memory.subscribe("changed", heard.append)
    thread = threading.Thread(target=memory.files.follow, args=([path], stopped, lambda _: came.set()))
    thread.start()
    assert came.wait(60)
    came.clear()
    add(path, claude("user", "two"))
    assert came.wait(60)
    stopped.set()
    thread.join(60)
    assert not thread.is_alive()
    assert said(memory) == ["one", "two"]
    assert len(heard) == 2


def test_two_who_follow_and_a_hook_bring_every_turn_once(memory: Memory, tmp_path: Path) -> None:
    import time

    from memtui.hook.events import DIALECTS
    from memtui.hook.quick import HookMemory

    path = tmp_path / "s.jsonl"
    path.touch()
    assert memory.path is not None
    stopped = threading.Event()
    with Memory.open(memory.path, options=OFF) as other:
        followers = [
            threading.Thread(target=one.files.follow, args=([path], stopped)) for one in (memory, other)
        ]
        for thread in followers:
            thread.start()
        texts = [f"turn number {number}" for number in range(12)]
        for number, text in enumerate(texts):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            if number % 3:
                add(path, claude("user", text, timestamp=now))
            if number % 2:
                hook = HookMemory(
                    memory.path, agent="claude-code", options=OFF, imported=DIALECTS["claude-code"].imported
                )
                hook.record_turn(
                    f"claude-code:{SESSION}", "user", text, source="hook:claude-code", project=None
                )
                hook.close()
            if not number % 3:
                add(path, claude("user", text, timestamp=now))
            time.sleep(0.15)
        for _ in range(600):
            if len(said(memory)) >= len(texts):
                break
            time.sleep(0.1)
        time.sleep(1.2)  # another look of both
        stopped.set()
        for thread in followers:
            thread.join(60)
    assert sorted(said(memory)) == sorted(texts)


def test_a_session_of_gemini_cli_is_followed_as_it_goes_on(memory: Memory, tmp_path: Path) -> None:
    """A message is written again with more fields; a tool call alone says nothing."""
    path = tmp_path / "tmp" / "greenhouse" / "chats" / "session-2026-03-04T10-00-g1.jsonl"
    jsonl(path, GEMINI[:3])
    with following_into(memory, tmp_path / "tmp") as follower:
        assert_came(follower, 1)
        add(path, *GEMINI[3:5])
        assert follower.import_new() is None
        add(path, GEMINI[5])
        assert_came(follower, 1)
        add(path, *GEMINI[6:8])
        assert follower.import_new() is None
    assert said(memory) == ["Why is @heater.py off?", "It reads Fahrenheit."]
    assert memory.files.import_paths([path]).kinds == {}


def assert_came(follower: FileFollower, turns: int) -> None:
    follower._next.clear()
    found = follower.import_new()
    assert found is not None and found.turns == turns


def test_opencode_is_followed_while_it_writes_and_an_answer_comes_when_it_is_whole(
    memory: Memory, tmp_path: Path
) -> None:
    path = store(tmp_path / "opencode.db", "PRAGMA journal_mode = WAL;" + OPENCODE)
    with closing(sqlite3.connect(path)) as program, following_into(memory, path) as follower:

        def write(sql: str, *values: Any) -> None:
            with program:
                program.execute(sql, values)

        now = int(time.time() * 1000)
        write(
            "INSERT INTO session (id, project_id, directory, title) VALUES ('s', 'p', '/x/greenhouse', 'Tea')"
        )
        part = "INSERT INTO part (id, message_id, session_id, data) VALUES (?, ?, 's', ?)"
        message = "INSERT INTO message VALUES (?, 's', ?, ?, ?)"
        write(message, "m1", now, now, json.dumps({"role": "user"}))
        write(part, "p1", "m1", json.dumps({"type": "text", "text": "Which tea?"}))
        assert_came(follower, 1)
        write(message, "m2", now + 1, now + 1, json.dumps({"role": "assistant", "time": {"created": now}}))
        write(part, "p2", "m2", json.dumps({"type": "text", "text": "Green"}))
        assert follower.import_new() is None
        write("UPDATE part SET data = ? WHERE id = 'p2'", json.dumps({"type": "text", "text": "Green tea."}))
        ended = {"role": "assistant", "time": {"created": now, "completed": now + 9}}
        write("UPDATE message SET data = ? WHERE id = 'm2'", json.dumps(ended))
        assert_came(follower, 1)
        write(message, "m3", now + 2, now + 2, json.dumps({"role": "user"}))
        write(part, "p3", "m3", json.dumps({"type": "text", "text": "Thanks, Ada."}))
        follower._next[path] = time.monotonic() + 60
        assert follower.import_new() is None and path in follower._left
        assert_came(follower, 1)
        # Broken off long ago: what there is of it.
        write(message, "m4", now + 3, now - 3_600_000, json.dumps({"role": "assistant"}))
        write(part, "p4", "m4", json.dumps({"type": "text", "text": "You are"}))
        assert_came(follower, 1)
    assert said(memory) == ["Which tea?", "Green tea.", "Thanks, Ada.", "You are"]
