"""Importing: what arrives, what is recognised, one operation, undo, dry run, cancelling."""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import apsw
import pytest
from import_samples import SESSION, claude, conversation, jsonl, message
from memtui import Memory
from memtui.engine.errors import DiskFullError, InputError, ReadOnlyError, StoreError
from memtui.engine.importers import ingest, lock
from memtui.engine.importers import report as importers_report
from memtui.engine.importers import turns as importers_turns
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.turns import TurnImporter
from memtui.engine.memories import turns, validation
from memtui.engine.memories.validation import MAX_EPISODE
from memtui.engine.records import ImportProgress, ImportReport, MemoryRecord, Options

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")
TABLES = (
    *("memories", "sessions_consolidations", "memory_links", "entities", "entity_aliases", "memory_entities"),
    *("embeddings", "index_queue", "erased_keys", "proposals", "scratchpad", "memory_metadata"),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as opened:
        yield opened


def rows(memory: Memory, sql: str) -> list[tuple[Any, ...]]:
    assert memory.path
    connection = apsw.Connection(str(memory.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def state(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is remembered, row by row, and what the full text finds; not when a backup was made."""
    found = {table: sorted(rows(memory, f"SELECT * FROM {table}")) for table in TABLES}
    found["memory_metadata"] = [row for row in found["memory_metadata"] if row[0] != "backup_mark"]
    found["text"] = rows(memory, "SELECT rowid FROM memories_fts('the OR hello OR words') ORDER BY rowid")
    return found


def contents(memory: Memory) -> list[str]:
    return [content for (content,) in rows(memory, "SELECT content FROM memories ORDER BY event_time, rid")]


def one(memory: Memory, words: str) -> MemoryRecord:
    ((id,),) = rows(memory, f"SELECT id FROM memories WHERE content = '{words}'")
    return memory.get(id)


def counts(report: ImportReport) -> tuple[int, int, int, int, int, dict[str, int]]:
    return (
        report.imported, report.already_there, report.skipped, report.sessions, report.redacted, report.reasons,
    )  # fmt: skip


def plain(path: Path, *texts: str, session: str = "s", **fields: Any) -> Path:
    return jsonl(path, [{"role": "user", "content": text, "session_id": session, **fields} for text in texts])


def test_turns_arrive_with_everything_the_source_knew(memory: Memory, tmp_path: Path) -> None:
    jsonl(
        tmp_path / "in" / "s.jsonl",
        [
            claude("user", "Hello the first", timestamp="2026-03-04T10:15:30.250Z"),
            claude("assistant", "Hello back", timestamp="2026-03-04T10:15:31Z"),
            {"type": "ai-title", "aiTitle": "Greetings", "sessionId": SESSION},
            claude("user", "Bye", timestamp="2026-03-04T10:20:00Z"),
        ],
    )
    report = memory.files.import_paths([tmp_path / "in"])
    assert counts(report) == (3, 0, 1, 1, 0, {"not a message": 1})
    assert report.formats == ("claude-code",)
    assert report.files == 1
    assert report.operation is not None
    assert report.operation.label == "Imported 3 turns from Claude Code"
    assert report.operation.actor == "person"
    assert report.operation.state == "done"
    first = one(memory, "Hello the first")
    assert first.kind == "episode"
    assert first.event_time == 1772619330
    assert first.created_at == NOW
    assert first.session_id == f"claude-code:{SESSION}"
    assert (first.source_role, first.trust, first.source) == ("user", "user", "import:claude-code")
    assert (first.project, first.decay_rate, first.confidence) == ("greenhouse", 0.0, 1.0)
    assert one(memory, "Hello back").trust == "agent"
    session = memory.view.session(f"claude-code:{SESSION}")
    assert (session.title, session.project, session.source) == (
        "Greetings",
        "greenhouse",
        "import:claude-code",
    )
    assert (session.first_seen_at, session.last_seen_at, session.turns) == (1772619330, 1772619600, 3)
    assert rows(memory, "SELECT rowid FROM memories_fts('hello')")


def test_a_reimport_adds_nothing_and_leaves_no_trace(memory: Memory, tmp_path: Path) -> None:
    jsonl(tmp_path / "in" / "s.jsonl", [claude("user", "Hello"), claude("assistant", "Hello back")])
    (tmp_path / "in" / "export").write_text(json.dumps([conversation("c", [message("user", "the plan")])]))
    plain(tmp_path / "in" / "plain", "words", "words", "more words")
    first = memory.files.import_paths([tmp_path / "in"])
    assert first.operation is not None
    assert (
        first.operation.label == "Imported 6 turns from ChatGPT, JSONL and Claude Code" or first.imported == 6
    )
    before = state(memory), rows(memory, "SELECT * FROM ops")
    again = memory.files.import_paths([tmp_path / "in"])
    assert (again.imported, again.already_there, again.operation) == (0, 6, None)
    assert (state(memory), rows(memory, "SELECT * FROM ops")) == before


def test_a_grown_file_adds_what_is_new(memory: Memory, tmp_path: Path) -> None:
    lines = [claude("user", f"words {number}") for number in range(5)]
    path = jsonl(tmp_path / "s.jsonl", lines[:3])
    memory.files.import_paths([path])
    jsonl(path, lines)
    report = memory.files.import_paths([path])
    assert (report.imported, report.already_there) == (2, 3)
    assert report.operation is not None
    assert report.operation.label == "Imported 2 turns from Claude Code"


def test_turns_in_the_trash_are_not_brought_back(memory: Memory, tmp_path: Path) -> None:
    path = plain(tmp_path / "x", "the words")
    memory.files.import_paths([path])
    memory.forget(one(memory, "the words").id)
    assert memory.files.import_paths([path]).already_there == 1
    assert one(memory, "the words").ended_by == "forgotten"


def test_erased_turns_do_not_come_back(memory: Memory, tmp_path: Path) -> None:
    path = plain(tmp_path / "x", "the erased", "the other")
    memory.files.import_paths([path])
    key = one(memory, "the erased").source_key
    assert key
    ((salt,),) = rows(memory, "SELECT value FROM memory_metadata WHERE key = 'erase_salt'")
    connection = apsw.Connection(str(memory.path))
    connection.execute("DELETE FROM memories WHERE content = 'the erased'")
    digest = blake2b(key.encode(), key=bytes.fromhex(salt), digest_size=32).digest()
    connection.execute("INSERT INTO erased_keys VALUES (?)", (digest,))
    connection.close()
    for dry_run in (True, False):
        report = memory.files.import_paths([path], dry_run=dry_run)
        assert counts(report)[:3] == (0, 1, 1)
        assert report.reasons == {"erased for good": 1}
    assert contents(memory) == ["the other"]


def test_undo_restores_the_exact_state_and_redo_the_import(memory: Memory, tmp_path: Path) -> None:
    memory.record_turn("old", "user", "the words before", 1_700_000_000)
    memory.remember("The person grows tomatoes")
    before = state(memory)
    plain(tmp_path / "in" / "a", *(f"words {number}" for number in range(700)), title="A title")
    jsonl(tmp_path / "in" / "b", [claude("user", "Hello"), claude("assistant", "Hello back")])
    report = memory.files.import_paths([tmp_path / "in"])
    after = state(memory)
    undone = memory.undo()
    assert undone is not None
    assert undone.operation.op_id == (report.operation and report.operation.op_id)
    assert undone.conflicts == ()
    assert state(memory) == before
    memory.redo()
    assert {table: found for table, found in state(memory).items() if table != "index_queue"} == {
        table: found for table, found in after.items() if table != "index_queue"
    }
    memory.undo()
    assert state(memory) == before
    assert memory.files.import_paths([tmp_path / "in"]).imported == 702
    assert memory.files.check(deep=True).ok


def difficult(folder: Path) -> Path:
    """Files with every reason to count: repeats within and across files and batches, secrets, long, bad."""
    text = "words " * 10
    many = [claude("user", f"{text}{number}") for number in range(1200)]
    jsonl(folder / "a.jsonl", [*many, b"broken", {"type": "progress", "sessionId": SESSION}, many[0]])
    jsonl(
        folder / "b.jsonl",
        [*(line | {"sessionId": "fork"} for line in many[600:]), claude("user", "the end")],
    )
    plain(folder / "c.jsonl", "x" * (MAX_EPISODE + 1), "x" * (MAX_EPISODE + 1), "fits", id="same")
    plain(folder / "d.jsonl", "my key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", "words", "words")
    plain(folder / "e.jsonl", "the first", "the second", id="same", session="other")
    return folder


def test_a_dry_run_counts_like_the_real_run_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    folder = difficult(tmp_path / "in")
    before = state(memory), rows(memory, "SELECT * FROM ops")
    dry = memory.files.import_paths([folder], dry_run=True)
    assert (state(memory), rows(memory, "SELECT * FROM ops")) == before
    real = memory.files.import_paths([folder])
    assert dry.dry_run
    assert dry.operation is None
    assert counts(dry) == counts(real)
    assert dry.warnings == real.warnings
    assert real.imported == 1200 + 1 + 1 + 3 + 1
    assert real.already_there == 1 + 600 + 1
    assert real.reasons == {"longer than 500,000 characters": 2, "not valid JSON": 1, "not a message": 1}
    assert real.redacted == 1
    assert counts(memory.files.import_paths([folder], dry_run=True)) == counts(
        memory.files.import_paths([folder])
    )


def test_an_over_long_message_is_skipped_and_named(memory: Memory, tmp_path: Path) -> None:
    report = memory.files.import_paths([plain(tmp_path / "x", "a" * 1_000_000, "short")])
    assert report.imported == 1
    assert report.reasons == {"longer than 500,000 characters": 1}
    assert any(str(tmp_path / "x") in warning for warning in report.warnings)


def test_secrets_are_kept_away_from_vectors(memory: Memory, tmp_path: Path) -> None:
    memory.files.import_paths([plain(tmp_path / "x", "token ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", "harmless")])
    assert rows(memory, "SELECT vector FROM index_queue ORDER BY rid") == [(0,), (1,)]
    assert "secrets" in one(memory, "token ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8").attributes


def test_turns_without_a_time_keep_their_order_at_the_files_time(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x",
        [{"role": "user", "content": "one"}, {"role": "user", "content": "two"},
         {"role": "user", "content": "three", "time": 5_000}, {"role": "user", "content": "four"}],
    )  # fmt: skip
    os.utime(path, (1000, 1000))
    memory.files.import_paths([path])
    assert [one(memory, words).event_time for words in ("one", "two", "three", "four")] == [
        1000,
        1000,
        5000,
        5000,
    ]
    assert contents(memory) == ["one", "two", "three", "four"]


def test_a_late_title_replaces_the_first_one_but_not_the_persons(memory: Memory, tmp_path: Path) -> None:
    lines = [claude("user", f"words {number}") for number in range(600)]
    lines.insert(1, {"type": "ai-title", "aiTitle": "At first", "sessionId": SESSION})
    lines.append({"type": "custom-title", "customTitle": "In the end", "sessionId": SESSION})
    path = jsonl(tmp_path / "s.jsonl", lines)
    memory.files.import_paths([path])
    name = f"claude-code:{SESSION}"
    assert memory.view.session(name).title == "In the end"
    connection = apsw.Connection(str(memory.path))
    connection.execute("UPDATE sessions_consolidations SET title = 'Mine'")
    connection.close()
    jsonl(path, [*lines, *(claude("user", f"more {number}") for number in range(600))])
    memory.files.import_paths([path])
    assert memory.view.session(name).title == "Mine"


def test_the_operation_names_every_format_and_counts_one_turn_as_one(memory: Memory, tmp_path: Path) -> None:
    one_turn = memory.files.import_paths([plain(tmp_path / "x", "alone")]).operation
    assert one_turn is not None
    assert one_turn.label == "Imported 1 turn from JSONL"
    folder = tmp_path / "in"
    for age, path in enumerate([plain(folder / "a", "b"), jsonl(folder / "b", [claude("user", "a")])]):
        os.utime(path, (age, age))
    (folder / "c").write_text(json.dumps([conversation("c", [message("user", "d")])]))
    several = memory.files.import_paths([folder]).operation
    assert several is not None
    assert several.label == "Imported 3 turns from JSONL, Claude Code and ChatGPT"


def test_progress_grows_to_the_whole(memory: Memory, tmp_path: Path) -> None:
    folder = difficult(tmp_path / "in")
    seen: list[ImportProgress] = []
    report = memory.files.import_paths([folder], progress=seen.append)
    assert len(seen) > 3
    assert [p.bytes_done for p in seen] == sorted(p.bytes_done for p in seen)
    last = seen[-1]
    assert last.bytes_done == last.bytes_total
    assert last.files_done == last.files == 5
    assert (last.imported, last.already_there, last.skipped) == counts(report)[:3]
    assert last.rate > 0


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_cancelled_import_keeps_what_it_has_as_one_operation(
    memory: Memory, tmp_path: Path, dry_run: bool
) -> None:
    path = plain(tmp_path / "x", *(f"words {number}" for number in range(2000)))
    before = state(memory)
    asked = iter([False, False, True])
    report = memory.files.import_paths([path], cancelled=lambda: next(asked), dry_run=dry_run)
    assert report.cancelled
    assert report.imported == 1000
    if not dry_run:
        assert report.operation is not None
        assert report.operation.label == "Imported 1,000 turns from JSONL (cancelled)"
        assert len(contents(memory)) == 1000
        memory.undo()
    assert state(memory) == before
    assert memory.files.import_paths([path]).imported == 2000


def test_cancelling_is_heard_while_there_is_nothing_but_skips(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "x", [{"type": "progress", "sessionId": SESSION}] * 20_000)
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) == 3

    report = memory.files.import_paths([path], cancelled=cancelled)
    assert report.cancelled
    assert report.skipped < 10_000


def test_a_full_disk_leaves_an_operation_that_can_be_undone(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(memory)
    path = plain(tmp_path / "x", *(f"words {number}" for number in range(2000)))
    store_some = TurnImporter.store_some

    def fails(self: TurnImporter, connection: apsw.Connection, new: Any) -> Any:
        if new[0].intake.content == "words 500":
            raise DiskFullError("No space left.")
        return store_some(self, connection, new)

    with monkeypatch.context() as patched:
        patched.setattr(TurnImporter, "store_some", fails)
        with pytest.raises(DiskFullError):
            memory.files.import_paths([path])
    operation = memory.history.next_undo()
    assert operation is not None
    assert operation.label == "Imported 500 turns from JSONL (interrupted)"
    assert operation.state == "done"
    memory.undo()
    assert state(memory) == before
    assert memory.files.import_paths([path]).imported == 2000


def test_a_transaction_ends_when_its_time_is_up(memory: Memory, tmp_path: Path) -> None:
    path = plain(tmp_path / "x", *(f"words {number}" for number in range(100)))
    sizes: list[int] = []
    store_some = TurnImporter.store_some

    def counted(self: TurnImporter, connection: apsw.Connection, new: Any) -> Any:
        taken, stored = store_some(self, connection, new)
        sizes.append(taken)
        return taken, stored

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(importers_report, "SECONDS_PER_TRANSACTION", 0.0)
        patched.setattr(TurnImporter, "store_some", counted)
        assert memory.files.import_paths([path]).imported == 100
    assert len(sizes) > 1


def test_a_turn_that_a_hook_records_between_looking_and_storing_is_there_once(
    memory: Memory, tmp_path: Path
) -> None:
    path = jsonl(tmp_path / "s.jsonl", [claude("user", "Plant beans."), claude("user", "And peas.")])
    store_some = TurnImporter.store_some

    def beaten(self: TurnImporter, connection: apsw.Connection, new: Any) -> Any:
        quicker = new[0]._replace(source="hook:claude-code", source_key=None)
        assert turns.store_turn(connection, quicker, now=int(time.time()))
        return store_some(self, connection, new)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TurnImporter, "store_some", beaten)
        report = memory.files.import_paths([path])
    assert (report.imported, report.already_there) == (1, 1)
    assert [turn.content for turn in memory.view.transcript(f"claude-code:{SESSION}")] == [
        "Plant beans.",
        "And peas.",
    ]


def test_a_second_import_at_the_same_time_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = plain(tmp_path / "x", "words")
    assert memory.path
    with Memory.open(memory.path, options=QUIET) as other, lock.only_import(other._core.connections):
        with pytest.raises(StoreError, match="Another import"):
            memory.files.import_paths([path])
        assert memory.files.import_paths([path], dry_run=True).imported == 1
    assert memory.files.import_paths([path]).imported == 1


def test_a_readonly_memory_allows_a_dry_run_only(memory: Memory, tmp_path: Path) -> None:
    path = plain(tmp_path / "x", "words")
    assert memory.path
    with Memory.open(memory.path, readonly=True, options=QUIET) as reader:
        assert reader.files.import_paths([path], dry_run=True).imported == 1
        with pytest.raises(ReadOnlyError):
            reader.files.import_paths([path])


def test_a_memory_without_a_file_can_be_filled(tmp_path: Path) -> None:
    with Memory.open(":memory:", options=QUIET) as memory:
        report = memory.files.import_paths([difficult(tmp_path / "in")])
        assert memory.stats().active == report.imported == 1206
        memory.undo()
        assert memory.stats().active == 0


def test_bad_input_leaves_no_trace(memory: Memory, tmp_path: Path) -> None:
    before = state(memory), rows(memory, "SELECT * FROM ops")
    for path, format in [
        (tmp_path / "missing", None),
        (tmp_path / "home", None),
        (plain(tmp_path / "x", "w"), "odd"),
    ]:
        with pytest.raises(InputError):
            memory.files.import_paths([path], format=format)
    assert (state(memory), rows(memory, "SELECT * FROM ops")) == before


def test_what_cannot_be_read_is_refused_and_the_others_come_in(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Dear diary,\n")
    named = [
        plain(tmp_path / "a", "one"),
        tmp_path / "b.txt",
        plain(tmp_path / "c", "two"),
        tmp_path / "missing",
    ]
    dry, done = memory.files.import_paths(named, dry_run=True), memory.files.import_paths(named)
    assert sorted(contents(memory)) == ["one", "two"]
    unknown, missing = (one.message for one in dry.refused)
    assert unknown.startswith(f"{tmp_path / 'b.txt'} is in no format")
    assert missing == f"There is no file or folder {tmp_path / 'missing'}."
    assert all(one.hint for one in done.refused)
    assert (done.refused, done.imported) == (dry.refused, dry.imported)


def test_when_all_that_was_named_is_refused_every_reason_is_told(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Dear diary,\n")
    (tmp_path / "empty").touch()
    with pytest.raises(InputError) as caught:
        memory.files.import_paths([tmp_path / "b.txt", tmp_path / "empty", "env:MEMTUI_NOT_SET"])
    assert [line.split()[0] for line in caught.value.message.splitlines()] == [
        "The", str(tmp_path / "b.txt"), str(tmp_path / "empty"),
    ]  # fmt: skip
    assert "MEMTUI_NOT_SET" in caught.value.message
    assert rows(memory, "SELECT * FROM ops") == []


def test_a_database_that_cannot_be_reached_does_not_stop_the_files(memory: Memory, tmp_path: Path) -> None:
    report = memory.files.import_paths(["env:MEMTUI_NOT_SET", plain(tmp_path / "a", "words")])
    assert contents(memory) == ["words"]
    assert ["MEMTUI_NOT_SET" in one.message for one in report.refused] == [True]


def test_what_an_archive_leaves_out_is_named(memory: Memory, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(plain(tmp_path / "a", "words"), "a.jsonl")
        for number in range(5):
            archive.writestr(f"files/{number}.html", "<p>")
        archive.writestr("inner.zip", b"PK\x05\x06\0\0")
    report = memory.files.import_paths([tmp_path / "x.zip"])
    assert report.warnings[:2] == (
        "5 files left out: in no known format (files/0.html, files/1.html, files/2.html and 2 more)",
        "1 file left out: packed file in an archive (inner.zip)",
    )
    assert [one.place for one in report.left_out] == [
        *(f"{tmp_path / 'x.zip'}: files/{number}.html" for number in range(5)),
        f"{tmp_path / 'x.zip'}: inner.zip",
    ]


def test_what_a_folder_leaves_out_is_named_from_there_on(memory: Memory, tmp_path: Path) -> None:
    plain(tmp_path / "in" / "a", "words")
    (tmp_path / "in" / "deep").mkdir()
    (tmp_path / "in" / "deep" / "page.html").write_text("<p>")
    with zipfile.ZipFile(tmp_path / "in" / "x.zip", "w") as archive:
        archive.writestr("y.html", "<p>")
    report = memory.files.import_paths([tmp_path / "in"])
    assert sorted(one.name for one in report.left_out) == ["deep/page.html", "x.zip: y.html"]


def test_a_file_that_vanishes_is_noted_and_the_others_are_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = plain(tmp_path / "in" / "a", "gone"), plain(tmp_path / "in" / "b", "words")

    def finds_then_deletes(*given: Any, **options: Any) -> Any:
        found = find_sources(*given, **options)
        first.unlink()
        return found

    monkeypatch.setattr(ingest, "find_sources", finds_then_deletes)
    report = memory.files.import_paths([tmp_path / "in"])
    assert contents(memory) == ["words"]
    assert any(str(first) in warning for warning in report.warnings)
    assert second.exists()


def test_a_file_name_that_is_not_utf8_names_a_session(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    path.write_text('{"role": "user", "content": "words"}')
    memory.files.import_paths([path])
    assert one(memory, "words").session_id == "jsonl:caf?"


def test_what_was_left_out_and_mended_is_told(memory: Memory, tmp_path: Path) -> None:
    jsonl(
        tmp_path / "in" / "a",
        [
            b'{"role": "user", "content": "caf\xe9"}',
            b"broken",
            {"role": "user", "content": "w", "time": "soon"},
        ],
    )
    (tmp_path / "in" / "b").write_text("just text")
    report = memory.files.import_paths([tmp_path / "in"])
    assert set(report.warnings) == {
        "1 file left out: in no known format (b)",
        "1 × invalid UTF-8 replaced",
        "1 × unusable time ignored",
        "2 × turn without a time: it has that of the turn before, or of its file",
        f"{tmp_path / 'in' / 'a'}:2: not valid JSON",
    }


def test_a_backup_is_made_before_an_import_changes_a_memory_that_holds_something(tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    source.write_text('{"session_id": "s", "role": "user", "content": "hello from Ghent"}\n')
    with Memory.open(tmp_path / "memory.db", options=QUIET) as memory:
        memory.files.import_paths([source], dry_run=True)
        memory.files.import_paths([source])
        memory.remember("Prefers trains")
        memory.files.import_paths([source])  # nothing new
        assert not (tmp_path / "backups").exists()
        source.write_text('{"session_id": "s", "role": "user", "content": "and from Utrecht"}\n')
        memory.files.import_paths([source])
        (backup,) = (tmp_path / "backups").glob("*.db")
    with Memory.open(backup, readonly=True) as kept:
        assert kept.stats().by_kind == {"episode": 1, "fact": 1}


def test_the_open_memory_is_never_opened_as_something_to_import(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(tmp_path / "home" / "s.jsonl", "words")
    memory.remember("A fact that is already here.")
    opened: list[str] = []
    real = Path.open

    def spy(path: Path, *args: Any, **options: Any) -> Any:
        opened.append(path.name)
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", spy)
    report = memory.files.import_paths([tmp_path / "home"])
    assert report.imported == 1
    assert "s.jsonl" in opened
    assert not [name for name in opened if name.startswith("memory.db") and not name.endswith(".import")]
    assert memory.path
    with pytest.raises(InputError, match="this memory"):
        memory.files.import_paths([memory.path])


def test_a_title_that_comes_late_replaces_only_the_one_that_this_import_gave(place: Path) -> None:
    def said(title: str) -> turns.NewTurn:
        return turns.NewTurn(
            session_id="talk", role="user", intake=validation.CheckedText("words", {}), event_time=1, trust="user",
            source="import:test", source_key=None, project=None, title=title,
        )  # fmt: skip

    with Memory.open(place, options=Options(background=False, embedder="off")) as memory:
        titles = importers_turns.AssignedTitles()
        for title in ("Untitled", "The ferry"):
            with memory._core.operation("import", "Brought in") as op:
                importers_turns._register_sessions(op.connection, [said(title)], titles)
            assert memory.view.sessions()[0].title == title
        with memory._core.operation("rename", "Renamed") as op:
            op.connection.execute("UPDATE sessions_consolidations SET title = 'My own'")
        with memory._core.operation("import", "Brought in") as op:
            importers_turns._register_sessions(op.connection, [said("The ferry to Hitra")], titles)
        assert memory.view.sessions()[0].title == "My own"
