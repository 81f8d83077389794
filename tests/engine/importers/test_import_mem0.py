"""mem0: exports in all their shapes, the history of each memory, broken records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from import_samples import jsonl
from memtui import Memory
from memtui.engine.records import Options
from other_memories import assert_comes_once_and_goes, assert_whole, rows

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")


def kept(id: Any, memory: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": id, "memory": memory, "hash": "5f3a", "metadata": None, "created_at": "2026-02-03T10:00:00-08:00",
        "updated_at": None, "user_id": "ada",
    } | fields  # fmt: skip


MEMORIES: list[Any] = [
    kept("m1", "Prefers trains", categories=["travel", "daily life"]),
    kept("m2", "Lives in Porto", updated_at="2026-03-03T10:00:00Z", agent_id="helper"),
    kept(None, "no id"),
    kept("m3", ""),
    kept("m4", 7),
    "not a record",
    kept("m1", "Prefers trains"),
]
HISTORY = [
    ("h1", "m2", None, "Lives in Lyon", "ADD", "2026-01-01 10:00:00"),
    ("h2", "m1", None, "Prefers trains", "ADD", "2026-01-02 10:00:00"),
    ("h3", "m2", "Lives in Lyon", "Lives in Porto", "UPDATE", "2026-02-01 10:00:00"),
    ("h4", "m5", None, "Owns a boat", "ADD", "2026-02-02 10:00:00"),
    ("h5", "m5", "Owns a boat", None, "DELETE", "2026-02-03 10:00:00"),
    ("h6", None, None, "Whose?", "ADD", None),
    ("h7", "m6", None, None, "ADD", "2026-02-04"),
    ("h8", "m7", None, "Red", "ADD", "2026-01-01"),
    ("h9", "m7", "Red", "Blue", "UPDATE", "2026-01-02"),
    ("h10", "m7", "Blue", "Red", "UPDATE", "2026-01-03"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as opened:
        yield opened


def history(path: Path, changes: list[tuple[Any, ...]] = HISTORY) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, "
            "created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, NULL, 0, NULL, NULL)", changes)
    return path


@pytest.mark.parametrize("shape", ["results", "page", "array", "lines"])
def test_exports_of_every_shape_become_facts(memory: Memory, tmp_path: Path, shape: str) -> None:
    path = tmp_path / "export"
    match shape:
        case "results":
            path.write_text(json.dumps({"results": MEMORIES}, indent=2))
        case "page":
            path.write_text(json.dumps({"count": 7, "next": None, "previous": None, "results": MEMORIES}))
        case "array":
            path.write_text(json.dumps(MEMORIES))
        case _:
            jsonl(path, MEMORIES)
    report = memory.files.import_paths([path])
    assert report.formats == ("mem0",)
    assert (report.kinds, report.already_there) == ({"fact": 2}, 1)
    assert report.reasons["no text in it"] == 2
    assert report.reasons["no id"] == 1
    [(id,)] = rows(memory, "SELECT id FROM memories WHERE content = 'Prefers trains'")
    trains = memory.get(id)
    assert (trains.kind, trains.trust, trains.source, trains.protected) == (
        "fact",
        "model",
        "import:mem0",
        False,
    )
    assert (trains.event_time, trains.tags) == (1770141600, ("travel", "daily-life"))
    assert trains.attributes == {"user_id": "ada"}
    assert_whole(memory)


def test_a_list_without_owners_is_read(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    one = {
        "id": "1f2",
        "memory": "Name is Alex",
        "metadata": None,
        "categories": ["personal"],
        "created_at": "2025-07-01",
    }
    path.write_text(json.dumps([one]))
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("mem0",), {"fact": 1})


def test_an_export_comes_once_and_can_be_taken_back(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"results": MEMORIES}))
    assert_comes_once_and_goes(memory, path)


def test_the_history_brings_earlier_versions_as_trash(memory: Memory, tmp_path: Path) -> None:
    report = memory.files.import_paths([history(tmp_path / "history.db")])
    assert report.formats == ("mem0-history",)
    assert report.reasons == {"no id": 1, "no text in it": 1, "deletion": 1}
    assert rows(memory, "SELECT content, ended_by FROM memories ORDER BY rid") == [
        ("Prefers trains", None), ("Lives in Lyon", "superseded"), ("Lives in Porto", None), ("Owns a boat", "forgotten"),
        ("Red", "superseded"), ("Blue", "superseded"), ("Red", None),
    ]  # fmt: skip
    assert rows(
        memory,
        "SELECT n.content, o.content FROM memory_links l JOIN memories n ON n.id = l.from_id "
        "JOIN memories o ON o.id = l.to_id WHERE l.rel = 'supersedes' ORDER BY n.rid",
    ) == [("Lives in Porto", "Lives in Lyon"), ("Blue", "Red"), ("Red", "Blue")]
    assert rows(memory, "SELECT valid_until FROM memories WHERE content = 'Lives in Lyon'") == [(1769940000,)]


def test_a_history_comes_once_and_can_be_taken_back(memory: Memory, tmp_path: Path) -> None:
    assert_comes_once_and_goes(memory, history(tmp_path / "history.db"))


def test_an_export_and_the_history_agree_on_what_is_in_force(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"results": MEMORIES}))
    memory.files.import_paths([path])
    memory.files.import_paths([history(tmp_path / "history.db")])
    active = rows(memory, "SELECT content FROM memories WHERE valid_until IS NULL ORDER BY content")
    assert active == [("Lives in Porto",), ("Prefers trains",), ("Red",)]
    assert_whole(memory)


def test_a_history_that_grew_brings_only_what_is_new(memory: Memory, tmp_path: Path) -> None:
    memory.files.import_paths([history(tmp_path / "history.db", HISTORY[:8])])
    assert memory.files.import_paths([history(tmp_path / "grown.db")]).imported == 2


def test_a_history_that_mem0_wrote_itself_comes_in_whole(memory: Memory) -> None:
    """The file is made by tests/data/make_mem0_history.py."""
    path = Path(__file__).parents[2] / "data" / "mem0_history.db"
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("mem0-history",), {"turn": 2, "fact": 4})
    assert report.reasons == {"deletion": 1}
    found = rows(memory, "SELECT content, ended_by FROM memories WHERE kind = 'fact' ORDER BY content")
    assert found == [
        ("Lives in Lyon", "superseded"),
        ("Lives in Porto", None),
        ("Owns a boat", "forgotten"),
        ("Prefers trains to planes", None),
    ]
    said = rows(
        memory,
        "SELECT session_id, source_role, content, trust FROM memories WHERE kind = 'episode' ORDER BY rid",
    )
    assert said == [
        ("mem0:user_id=ada", "user", "I moved from Lyon to Porto.", "user"),
        ("mem0:user_id=ada", "assistant", "Noted, Porto it is.", "agent"),
    ]
    assert memory.files.import_paths([path]).imported == 0


PLUGIN = """---
id: m8
created_at: 2026-07-01T10:00:00-07:00
type: preference
confidence: 0.9
branch:
files:
categories: hobby, travel
---
Loves hiking in the Alps

---
id: m9
created_at: 2026-07-02T10:00:00Z
type:
confidence:
branch: main
files: a.py, b.py
categories:
---
The parser has two passes.
It writes its result to out.json.

---
id: m10
created_at:
type:
confidence:
branch:
files:
categories:
---
"""


def test_the_markdown_that_a_plugin_exports_is_a_fact_for_each_of_its_blocks(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "mem0-export-app-2026-10-01.md"
    file.write_text(PLUGIN)
    report = memory.files.import_paths([file])
    assert report.formats == ("mem0-markdown",)
    assert (report.kinds, report.reasons) == ({"fact": 2}, {"no text in it": 1})
    [(id,)] = rows(memory, "SELECT id FROM memories WHERE content = 'Loves hiking in the Alps'")
    hiking = memory.get(id)
    assert (hiking.tags, hiking.trust, hiking.event_time) == (("hobby", "travel"), "model", 1782925200)
    texts = [text for (text,) in rows(memory, "SELECT content FROM memories")]
    assert "The parser has two passes.\nIt writes its result to out.json." in texts
    assert memory.files.import_paths([file]).already_there == 2
