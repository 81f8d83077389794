"""What the tests of erasing share: a memory that carries a text in every place, and looking for it in bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
from memtui import Memory
from memtui.engine.records import Options

QUIET = Options(background=False, embedder="off")
FACT = "Ada Quetzalcoatlus keeps the zxqvelvet key under the third flowerpot"
TURN = "I told you already: the wvkrhubarb jam is for Mrs Zanzibarova, not for the fair."
CJK = "王小明对花生过敏，住在東京都港区 🦖🥜"
KEPT = "The greenhouse is watered on Tuesdays"


def open_memory(path: Path, **options: Any) -> Memory:
    return Memory.open(path, options=QUIET, **options)


def rows(path: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def found_in_bytes(folder: Path, pieces: Iterable[str | bytes]) -> list[tuple[str, str]]:
    """(piece, file) for each piece that stands in a file of the folder; the memory must be closed."""
    wanted = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    return [
        (repr(piece), file.name)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for piece in wanted
        if piece in file.read_bytes()
    ]


def old_backup(memory: Path, version: int, fact_id: str, text: str) -> Path:
    """A backup from before a migration, in an older format, that holds a fact; with a log beside it."""
    from memtui.engine.store import migration

    place = memory.parent / "backups" / f"{memory.stem}-20250101T000000Z-migration.db"
    place.parent.mkdir(exist_ok=True)
    connection = apsw.Connection(str(place))
    connection.execute("BEGIN")
    for step in migration.load_migrations()[:version]:
        connection.execute(step.sql)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {0x6D656D74}")
    connection.execute("INSERT INTO memory_metadata VALUES ('erase_salt', '00ff')")
    connection.execute(
        "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
        "VALUES (?, 'fact', ?, 'x', 'user', 1, 1)",
        (fact_id, text),
    )
    connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
    connection.execute("INSERT INTO facts_fts(facts_fts) VALUES ('rebuild')")
    connection.execute(
        "INSERT INTO ops(at, actor, kind, label) VALUES (1, 'person', 'remember', ?)",
        (f"Remembered “{text}”",),
    )
    connection.execute(
        "INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) "
        "VALUES (1, 'memories', 'update', 1, 1, json_object('content', ?), json_object('content', 'x'))",
        (text,),
    )
    connection.execute("COMMIT")
    connection.close()
    return place


def with_log(place: Path, sql: str) -> None:
    """Leave a write-ahead log with a commit beside a backup, as a program that was killed does."""
    aside = place.with_name("aside.db")
    aside.write_bytes(place.read_bytes())
    connection = sqlite3.connect(aside, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(sql)
    place.write_bytes(aside.read_bytes())
    place.with_name(place.name + "-wal").write_bytes(aside.with_name("aside.db-wal").read_bytes())
    connection.close()
    for end in ("", "-wal", "-shm"):
        aside.with_name("aside.db" + end).unlink(missing_ok=True)
