"""A word is planted in every column that can hold one, then erased: it is nowhere in the home folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest
from erase_kit import KEPT, open_memory, rows
from memtui import Memory, log
from memtui.engine.erase.columns import SCHEMA
from memtui.engine.erase.eraser import EXPORTS
from memtui.engine.store import metadata

pytestmark = pytest.mark.usefixtures("near")

_INDEXES = ("memories_fts", "facts_fts", "observations_fts", "memories_cjk", "vec_memories", "sqlite_")
# A row of each table, with what it needs; ``{n}`` is a number that no other row has.
_ROWS = {
    "memory_metadata": "INSERT INTO memory_metadata(key, value) VALUES ('note{n}', 'x')",
    "memories": "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
    "VALUES ('fact_{n:012}', 'fact', 'Something that stays {n}', '{n}', 'user', 1, 1)",
    "entities": "INSERT INTO entities(id, canonical_name, type, created_at, pinned) "
    "VALUES ('ent_{n:012}', 'Name{n}', 'person', 1, 1)",
    "entity_aliases": "INSERT INTO entity_aliases(key, entity_id, alias) SELECT 'other{n}', max(eid), 'Other{n}' FROM entities",
    "entity_decisions": "INSERT INTO entity_decisions(decision, key, at) VALUES ('not_entity', 'none{n}', 1)",
    "sessions_consolidations": "INSERT INTO sessions_consolidations(session_id, "
    "first_seen_at, last_seen_at) VALUES ('s{n}', 1, 1)",
    "scratchpad": "INSERT INTO scratchpad(key, value, updated_at) VALUES ('pad{n}', 'x', 1)",
    "proposals": "INSERT INTO proposals(id, kind, payload, created_at) VALUES ('card_{n}', 'conflict', '{{}}', 1)",
    "saved_queries": "INSERT INTO saved_queries(name, query, created_at) VALUES ('ask{n}', 'what', 1)",
    "question_results": "INSERT INTO question_results(query_id, at, passed, places) "
    "SELECT max(query_id), 1, 1, '[]' FROM saved_queries",
    "profiles": "INSERT INTO profiles(name, settings) VALUES ('way{n}', '{{}}')",
    "recalls": "INSERT INTO recalls(at, agent, query, memory_ids) VALUES (1, 'a', 'what', '[]')",
    "job_runs": "INSERT INTO job_runs(job, period, state, started_at) VALUES ('decay', 'manual:{n}', 'failed', 1)",
    "ops": "INSERT INTO ops(at, actor, kind, label) VALUES (1, 'person', 'x', 'Did something')",
    "decided": "INSERT INTO decided(thing, aspect, seen, device, at, actor) "
    "VALUES ('fact_{n:012}', 'tag:t{n}', '{{}}', 'laptop-1', 1, 'person')",
    "sync_versions": "INSERT INTO sync_versions(thing, aspect, seen, device, at, actor) "
    "VALUES ('question:q{n}', 'value', '{{}}', 'laptop-1', 1, 'person')",
    "sync_merged": "INSERT INTO sync_merged(thing) VALUES ('question:q{n}')",
    "agent_usage": "INSERT INTO agent_usage(agent, scope, hour, writes, bytes, calls) VALUES ('a', {n}, 1, 1, 1, 1)",
    "changes": "INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) "
    "SELECT max(op_id), 'scratchpad', 'update', 900{n}, 900{n}, '{{}}', '{{}}' FROM ops",
}  # fmt: skip


def schema(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """(table, column) of all that can hold text or bytes, but for the indexes."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table.startswith(_INDEXES) or table.endswith("_vocab"):
            continue
        for _, column, type, *_ in connection.execute(f"PRAGMA table_info({table})"):
            if type in ("TEXT", "BLOB", "ANY", ""):
                yield str(table), str(column)


def test_every_column_has_a_class(memory: Memory, home: Path) -> None:
    with apsw.Connection(str(home)) as connection:
        found = sorted(schema(connection))
    known = sorted(
        (table, column) for table, columns in SCHEMA.items() for kind in columns for column in kind
    )
    assert found == known, "say in erase/columns.py what the column holds; erase goes by it"
    assert rows(home, "SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'") == []


def plant(connection: apsw.Connection) -> dict[str, tuple[str, str]]:
    """Plant a word in each column, each in a row of its own; returns the words and where they are."""
    planted: dict[str, tuple[str, str]] = {}
    numbers = count(1)
    for table, columns in SCHEMA.items():
        for column in columns.text_columns:
            if (table, column) == (
                "memories",
                "content",
            ):  # offered: another memory is the person's to choose
                continue
            number = next(numbers)
            word = f"zxq{number:03}velvet"
            for needed in {"entity_aliases": ("entities",), "question_results": ("saved_queries",)}.get(
                table, ()
            ):
                connection.execute(_ROWS[needed].format(n=number))
            connection.execute(_ROWS[table].format(n=number))
            ((_, key, *_),) = [info for info in connection.execute(f"PRAGMA table_info({table})") if info[5]]
            rowid = (
                connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()
                if table != "memory_metadata"
                else None
            )
            where, value = (key, rowid[0]) if rowid else (key, f"note{number}")
            (old,) = connection.execute(
                f"SELECT {column} FROM {table} WHERE {where} = ?", (value,)
            ).fetchone()  # type: ignore[misc]
            new = f"about {word}s, in short"
            if column in columns.json:
                stored = json.loads(str(old))
                deep = (
                    {"value": new} if table == "changes" else {"text": {"why": [new]}}
                )  # images of rows are flat
                new = json.dumps([*stored, new] if isinstance(stored, list) else {**stored, **deep})
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where} = ?", (new, value))
            planted[word] = (table, column)
    return planted


def still_there(connection: apsw.Connection, words: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (word, table, column)
        for table, column in schema(connection)
        for (value,) in connection.execute(
            f"SELECT CAST({column} AS BLOB) FROM {table} WHERE {column} IS NOT NULL"
        )
        for word in words
        if word.encode() in value
    ]


_SEARCH = """
import pathlib, sys
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if file.is_file():
        data = file.read_bytes().lower()
        print(file.name, *(word for word in sys.argv[2:] if word.encode() in data))
"""


def in_files(folder: Path, words: dict[str, Any]) -> dict[str, list[str]]:
    """The words in each file of a folder, looked for by another process: this one has the memory open."""
    told = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(folder), *words], capture_output=True, check=True, text=True
    )
    return {name: found for name, *found in map(str.split, told.stdout.splitlines())}


def test_a_word_in_every_column_is_erased_from_the_whole_home_folder(home: Path) -> None:
    with open_memory(home) as memory:
        memory.remember(KEPT)
        with apsw.Connection(str(home)) as connection:
            words = plant(connection)
            assert {word for word, *_ in still_there(connection, words)} == set(words)
        fact = memory.remember(f"It was about {' and '.join(words)}")
        memory.backups.make("manual")
        with memory._core.connections.write() as connection:
            metadata.set_value(
                connection,
                metadata.FOLLOWED_NOT_READ,
                json.dumps([metadata.name_of(f"/x/{word}") for word in words]),
            )
        assert len({word for found in in_files(home.parent, words).values() for word in found}) == len(words)
        plan = memory.files.plan_erase([fact.id])
        proof = memory.files.erase(plan)
        assert (proof.complete, proof.problems) == (True, ())
        with apsw.Connection(str(home)) as connection:
            assert still_there(connection, words) == []
        files = in_files(home.parent, words)
        assert any(name.endswith("-wal") for name in files)
        assert any(name.endswith("-shm") for name in files)
        assert {name: found for name, found in files.items() if found} == {}
        assert rows(home, "SELECT value FROM memory_metadata WHERE key = ?", metadata.FOLLOWED_NOT_READ) == [
            ("[]",)
        ]
        assert memory.view.count() == 1 + sum(table == "memories" for table, _ in words.values())
    assert not any(in_files(home.parent, words).values())


def test_no_log_holds_the_word_and_an_export_is_named_as_out_of_reach(home: Path) -> None:
    folder, word = home.parent, "zxqvelvet"
    log_file = log.start(folder / "logs")
    assert log_file is not None
    try:
        with open_memory(home) as memory:
            memory.remember(KEPT)
            fact = memory.remember(f"The key is under the {word}")
            export = folder / "export.jsonl"
            memory.files.export(export)
            broken = folder / "broken.jsonl"
            lines = export.read_text().splitlines()
            one = next(json.loads(line) for line in lines if word in line and '"fact"' in line)
            bad = one | {"id": f"the-{word}"}  # refused, and quoted
            broken.write_text("\n".join([lines[0], json.dumps(one), json.dumps(bad)]) + "\n")
            report = memory.files.import_paths([broken])
            assert report.imported == 0
            assert any(word in skip.place for skip in report.skips), "the person is told in full"
            broken.unlink()
            plan = memory.files.plan_erase([fact.id])
            assert EXPORTS in plan.notes
            assert memory.files.erase(plan).complete
    finally:
        log.stop()
    found = {name for name, words in in_files(folder, {word: None}).items() if words}
    assert found == {"export.jsonl"}
    assert "left out of an import" in log_file.read_text()
