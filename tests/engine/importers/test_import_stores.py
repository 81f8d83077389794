"""Stores of other memory programs: everything in them, with what was decided there, and nothing beside them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from import_samples import claude, jsonl, read
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers import databases
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.limits import LIMITS, ImportLimits
from memtui.engine.records import Options
from memtui.engine.records.exchange import KnownSource
from memtui.present.import_sources import source_summary
from other_memories import assert_comes_once_and_goes, rows

import foreign_stores
from foreign_stores import CLAUDE_MEM, ENGRAM, MCP_MEMORY_SERVICE_REAL, MEMPALACE, TALK, beside, store

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")
MAKERS = (
    *(foreign_stores.claude_mem, foreign_stores.engram, foreign_stores.mcp_memory_service),
    *(foreign_stores.mempalace, foreign_stores.mempalace_exact, foreign_stores.mempalace_graph),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as opened:
        yield opened


def shown(memory: Memory, columns: str, where: str = "1") -> list[tuple[Any, ...]]:
    return rows(memory, f"SELECT {columns} FROM memories WHERE {where} ORDER BY content")


def test_claude_mem_brings_prompts_observations_and_summaries(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.claude_mem(tmp_path / "store" / "claude-mem.db")
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("claude-mem",), {"turn": 2, "observation": 4})
    assert report.reasons == {
        "no text in it": 2,
        "kept twice: among the observations, too": 1,
        "output of a tool that claude-mem has not read": 1,
    }
    assert shown(
        memory, "content, session_id, source_role, trust, project, event_time", "kind = 'episode'"
    ) == [
        ("Old first", "claude-mem:other", "user", "user", "shop", 1772704800),
        ("Why is the heater off?", f"claude-code:{TALK}", "user", "user", "greenhouse", 1772618400),
    ]
    assert shown(memory, "content, category, project, session_id, trust, event_time", "kind = 'observation'") == [
        ("Prices are kept in cents.", "insight", "store", "claude-mem:other", "model", 1772705100),
        (
            "Request: Find out why the heater is off\n\nLearned: Units were mixed",
            "finding", "greenhouse", f"claude-code:{TALK}", "model", 1772622000,
        ),
        (
            "The heater reads Fahrenheit\n\nThe sensor is set wrong\n\nThe sensor reports Fahrenheit, the code expects Celsius."
            "\n\n- The sensor is a BME280\n- The code expects Celsius",
            "lesson", "greenhouse", f"claude-code:{TALK}", "model", 1772618700,
        ),
        ("Water on Fridays", "finding", "greenhouse", None, "model", 1772622060),
    ]  # fmt: skip
    ((tags, attributes),) = shown(memory, "tags, attributes", "content LIKE 'The heater%'")
    assert [word in tags for word in ("bugfix", "gotcha", "how-it-works")] == [True] * 3
    assert "heater.py, sensor.py" in attributes and "explorer" in attributes
    assert rows(memory, "SELECT title FROM sessions_consolidations WHERE title IS NOT NULL") == [
        ("Fix the heater",)
    ]


def test_a_prompt_that_claude_mem_and_a_transcript_have_is_one(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.claude_mem(tmp_path / "store" / "claude-mem.db")
    said = claude("user", "Why is the heater off?", sessionId=TALK, timestamp="2026-03-04T10:00:00.400Z")
    answer = claude("assistant", "It reads Fahrenheit.", sessionId=TALK, timestamp="2026-03-04T10:00:09Z")
    transcript = jsonl(tmp_path / "talk.jsonl", [said, answer])
    memory.files.import_paths([path])
    assert memory.files.import_paths([transcript]).kinds == {"turn": 1}
    assert memory.files.import_paths([transcript, path]).imported == 0
    memory.undo()
    memory.undo()
    both = memory.files.import_paths([transcript, path], dry_run=True)
    assert both.kinds == {"turn": 3, "observation": 4}


def test_the_first_versions_of_claude_mem_are_read(memory: Memory, tmp_path: Path) -> None:
    """Schema 4: other names of columns, one prompt a session, a text instead of title and facts."""
    old = store(
        tmp_path / "old.db",
        """
        CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER, applied_at TEXT);
        CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, project TEXT,
          user_prompt TEXT, started_at_epoch INTEGER);
        CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT, type TEXT,
          created_at_epoch INTEGER);
        INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'shop', 'Count the stock', 1760000000000);
        INSERT INTO observations VALUES (1, 'm1', 'shop', 'Stock is counted weekly.', 'discovery', 1760000001000);
        """,
    )
    assert memory.files.import_paths([old]).kinds == {"turn": 1, "observation": 1}
    assert shown(memory, "content, session_id") == [
        ("Count the stock", "claude-code:c1"),
        ("Stock is counted weekly.", "claude-code:c1"),
    ]


def test_engram_brings_what_was_deleted_and_replaced_as_it_is_there(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.engram(tmp_path / "store" / "engram.db")
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("engram",), {"turn": 1, "observation": 4})
    assert report.reasons == {"no text in it": 1, "relation of two observations that is no replacement": 2}
    assert shown(memory, "content, category, project, session_id, event_time, valid_until, ended_by") == [
        ("Read in Celsius, everywhere.", "insight", "greenhouse", "engram:s-1", 1772620200, None, None),
        (
            "Read in Fahrenheit\n\nThe sensor is read in Fahrenheit.",
            "insight", "greenhouse", "engram:s-1", 1772618460, 1772620500, "superseded",
        ),
        ("Tea\n\nDrinks green tea.", "finding", None, None, 1772618580, 1772620800, "forgotten"),
        ("The heater runs again.", "finding", "greenhouse", "engram:s-1", 1772622000, None, None),
        ("Why is the heater off?", None, "greenhouse", "engram:s-1", 1772618401, None, None),
    ]  # fmt: skip
    ((old,),) = shown(memory, "id", "content LIKE 'Read in F%'")
    ((attributes, tags),) = shown(memory, "attributes, tags", "content LIKE 'Read in C%'")
    assert old in attributes and "sensor/units" in attributes and "decision" in tags
    assert "personal" in shown(memory, "tags", "content LIKE 'Tea%'")[0][0]


def test_the_first_versions_of_engram_are_read(memory: Memory, tmp_path: Path) -> None:
    old = store(
        tmp_path / "old.db",
        """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT, directory TEXT, started_at TEXT, ended_at TEXT, summary TEXT);
        CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, type TEXT, title TEXT, content TEXT,
          tool_name TEXT, project TEXT, created_at TEXT);
        INSERT INTO sessions VALUES ('s', 'shop', '/shop', '2026-01-01 10:00:00', NULL, NULL);
        INSERT INTO observations VALUES (1, 's', 'decision', 'Cents', 'Prices are in cents.', NULL, 'shop', '2026-01-01 10:00');
        """,
    )
    assert memory.files.import_paths([old]).kinds == {"observation": 1}
    assert shown(memory, "content, event_time") == [("Cents\n\nPrices are in cents.", 1767261600)]


def test_mcp_memory_service_keeps_versions_and_deletions(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.mcp_memory_service(tmp_path / "store" / "sqlite_vec.db")
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("mcp-memory-service",), {"fact": 5})
    assert report.reasons == {"no text in it": 1, "link between two memories that is no replacement": 1}
    assert shown(memory, "content, trust, event_time, confidence, valid_until, ended_by") == [
        ("Ada lives in Lyon", "agent", 1772000000, 1.0, 1772300000, "superseded"),
        ("Ada lives in Paris", "agent", 1772300000, 1.0, 1772618400, "superseded"),
        ("Ada lives in Porto", "agent", 1772618400, 0.9, None, None),
        ("Ada owns a boat", "agent", 1772300000, 1.0, 1772500000, "forgotten"),
        ("In a circle", "agent", 1772359200, 1.0, int(path.stat().st_mtime), "superseded"),
    ]
    ids = dict(shown(memory, "content, id"))
    attributes = dict(shown(memory, "content, attributes"))
    assert ids["Ada lives in Lyon"] in attributes["Ada lives in Paris"]
    assert ids["Ada lives in Paris"] in attributes["Ada lives in Porto"]
    assert (
        "laptop" in attributes["Ada lives in Porto"] and "quality_score" in attributes["Ada lives in Porto"]
    )
    tags = dict(shown(memory, "content, tags"))
    assert "source:laptop" in tags["Ada lives in Porto"] and "untagged" not in tags["Ada owns a boat"]


def test_what_mcp_memory_service_wrote_here_comes_with_its_decisions(memory: Memory, tmp_path: Path) -> None:
    """Version 12.4: a memory that was replaced, one that was deleted, one without tags."""
    path = foreign_stores.real("mcp-memory-service")(tmp_path / "store" / "sqlite_vec.db")
    report = memory.files.import_paths([path])
    assert (report.kinds, report.reasons) == ({"fact": 4}, {})
    assert shown(memory, "content, ended_by, tags") == [
        ("Ada drinks green tea", None, '["note"]'),
        ("Ada lives in Lyon", "superseded", '["note","home"]'),
        ("Ada lives in Porto", None, '["note","home"]'),
        ("Ada owns a boat", "forgotten", '["note","things"]'),
    ]
    ((old,),) = shown(memory, "id", "content LIKE '%Lyon'")
    ((attributes,),) = shown(memory, "attributes", "content LIKE '%Porto'")
    assert old in attributes and "laptop" in attributes
    assert "superseded_by" not in shown(memory, "attributes", "content LIKE '%Lyon'")[0][0]


def test_a_belief_of_mcp_memory_service_is_a_models_word(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.real("mcp-memory-service")(tmp_path / "store" / "sqlite_vec.db")
    with closing(sqlite3.connect(path)) as program, program:
        for number, (status, sign) in enumerate((("active", "A"), ("superseded", "B"), ("candidate", "C"))):
            program.execute(
                "INSERT INTO beliefs SELECT ?, ?, ?, 0.75, ?, '2026-03-04', '2026-03-05', json_array(content_hash), "
                "'[]', '{}' FROM memories WHERE content LIKE '%Porto'",
                (number + 1, sign * 64, f"Ada likes rivers {sign}", status),
            )
    report = memory.files.import_paths([path])
    assert report.reasons == {"belief that is not held yet": 1}
    assert shown(memory, "content, trust, ended_by, confidence", "content LIKE '%rivers%'") == [
        ("Ada likes rivers A", "model", None, 0.75),
        ("Ada likes rivers B", "model", "superseded", 0.75),
    ]
    ((porto,),) = shown(memory, "id", "content LIKE '%Porto'")
    assert {one for (one,) in shown(memory, "source_ids", "content LIKE '%rivers%'")} == {f'["{porto}"]'}


def test_mcp_memory_service_without_versions_is_read(memory: Memory, tmp_path: Path) -> None:
    old = store(
        tmp_path / "old.db",
        """
        CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT, memory_type TEXT,
          metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT);
        INSERT INTO memories VALUES (1, 'ab', 'Ada lives in Porto', NULL, NULL, NULL, NULL, NULL, '2026-03-01T10:00:00Z', NULL);
        """,
    )
    assert memory.files.import_paths([old]).kinds == {"fact": 1}
    assert shown(memory, "content, event_time") == [("Ada lives in Porto", 1772359200)]


def test_a_palace_brings_its_drawers_whole_and_says_what_it_leaves_out(
    memory: Memory, tmp_path: Path
) -> None:
    """What MemPalace 3.11 wrote with Chroma: mined files, a conversation, drawers of an agent, one of them in chunks."""
    path = foreign_stores.mempalace(tmp_path / "store" / "chroma.sqlite3")
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("mempalace",), {"observation": 7})
    assert report.reasons == {"index of drawers": 1}
    found = {
        text: (project, source, trust)
        for text, project, source, trust in shown(memory, "content, project, source, trust")
    }
    assert set(found.values()) <= {
        (wing, "import:mempalace", "agent")
        for wing in ("greenhouse", "people", "convos", "proj", "wing_claude")
    }
    assert found["Ada drinks black tea in the morning."][0] == "people"
    readings = "\n".join(
        f"Reading {i}: the greenhouse was at {10 + i % 7} degrees, and the heater was {'on' if i % 2 else 'off'}."
        for i in range(24)
    )
    assert found[readings][0] == "greenhouse"
    ((tags, attributes),) = shown(memory, "tags, attributes", "content LIKE 'Ada chose SQLite%'")
    assert "decisions" in tags and "notes/choice.md" in attributes and "claude" in attributes


def test_a_palace_without_chroma_is_read_too(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.mempalace_exact(tmp_path / "store" / "sqlite_exact.sqlite3")
    report = memory.files.import_paths([path])
    assert (report.formats, report.kinds) == (("mempalace",), {"observation": 1})
    assert report.reasons == {"index of drawers": 1}
    assert shown(memory, "project, substr(content, 1, 12)") == [("proj", "# Greenhouse")]


def test_a_graph_of_mempalace_keeps_what_was_true_and_what_replaced_it(
    memory: Memory, tmp_path: Path
) -> None:
    path = foreign_stores.mempalace_graph(tmp_path / "store" / "knowledge_graph.sqlite3")
    assert memory.files.import_paths([path]).kinds == {"fact": 4}
    ghent = "Ada lives in Ghent"
    assert shown(memory, "content, event_time, valid_until, ended_by") == [
        ("Ada fears spiders", 1795773548, 1772323200, "forgotten"),
        (ghent, 1769904000, None, None),
        ("Ada lives in Porto", 1577836800, 1769904000, "superseded"),
        ("Ada works on greenhouse", 1767225600, None, None),
    ]
    ((old,),) = shown(memory, "id", "content LIKE '%Porto'")
    assert old in shown(memory, "attributes", f"content = '{ghent}'")[0][0]


def test_a_statement_that_ends_later_is_still_true(memory: Memory, tmp_path: Path) -> None:
    path = foreign_stores.mempalace_graph(tmp_path / "store" / "knowledge_graph.sqlite3")
    with closing(sqlite3.connect(path)) as program, program:
        program.execute("UPDATE triples SET valid_to = '2099-01-01' WHERE object = 'greenhouse'")
    memory.files.import_paths([path])
    assert shown(memory, "ended_by", "content LIKE '%greenhouse'") == [(None,)]


def test_a_store_of_vectors_of_another_program_is_refused_with_a_word(tmp_path: Path) -> None:
    path = foreign_stores.mempalace(tmp_path / "store" / "chroma.sqlite3")
    with closing(sqlite3.connect(path)) as program, program:
        program.execute("UPDATE collections SET name = 'documents of ' || id")
    with pytest.raises(InputError, match="is a Chroma store of an unknown program") as caught:
        find_sources([path])
    assert "MemPalace" in caught.value.hint


@pytest.mark.parametrize("make", MAKERS)
def test_a_store_comes_once_and_can_be_taken_back(
    memory: Memory, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    assert_comes_once_and_goes(memory, make(tmp_path / "store" / "a.db"))


@pytest.mark.parametrize("make", MAKERS)
def test_a_store_is_read_while_its_program_writes_it(
    memory: Memory, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    """Rows that are only in the write-ahead log count, and no byte of the store changes."""
    path = make(tmp_path / "store" / "a.db")
    whole = memory.files.import_paths([path], dry_run=True)
    other = tmp_path / "open" / "a.db"
    with closing(sqlite3.connect(store(other, "PRAGMA journal_mode = WAL; CREATE TABLE t (a);"))) as program:
        program.execute("PRAGMA wal_autocheckpoint = 0")
        with closing(sqlite3.connect(path)) as source:
            source.backup(program)
        before = beside(other)
        hashes = {one: hashlib.sha256(one.read_bytes()).digest() for one in other.parent.glob("a.db*")}
        assert len(hashes) == 3
        assert memory.files.import_paths([other]).kinds == whole.kinds
        assert beside(other) == before
        shared = other.with_name("a.db-shm")
        assert all(
            hashlib.sha256(one.read_bytes()).digest() == found
            for one, found in hashes.items()
            if one != shared
        )


def test_a_copy_that_its_program_disturbs_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is moved into the file between the copies of the two: half of each would be torn."""
    path = store(tmp_path / "a.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (a);")
    with closing(sqlite3.connect(path, isolation_level=None)) as program:
        program.execute("INSERT INTO t VALUES (1)")
        copy, times = databases.shutil.copyfile, []

        def disturbed(source: Path, target: Path) -> Path:
            times.append(source.name)
            if len(times) == 2:
                program.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                program.execute("INSERT INTO t VALUES (2)")
            return copy(source, target)

        monkeypatch.setattr(databases.shutil, "copyfile", disturbed)
        with databases.open_copy(path, LIMITS) as connection:
            assert connection.execute("SELECT a FROM t").fetchall() == [(1,), (2,)]
        assert times == ["a.db", "a.db-wal"] * 2


@pytest.mark.parametrize(
    ("schema", "label", "name"),
    [
        (
            CLAUDE_MEM + "INSERT INTO schema_versions (version, applied_at) VALUES (50, '')",
            "claude-mem (schema 50;",
            "claude-mem",
        ),
        (ENGRAM + "PRAGMA user_version = 9", "engram (schema 9;", "engram"),
        (
            MCP_MEMORY_SERVICE_REAL + "INSERT INTO migration_registry VALUES (20, '', '', '', '')",
            "mcp-memory-service (schema 20;",
            "mcp-memory-service",
        ),
        (
            MEMPALACE + "INSERT INTO migrations VALUES ('sysdb', 11, '', '', '')",
            "MemPalace (schema 11;",
            "mempalace",
        ),
    ],
)
def test_a_store_of_a_newer_program_is_refused_unless_its_format_is_named(
    memory: Memory, tmp_path: Path, schema: str, label: str, name: str
) -> None:
    path = store(tmp_path / "store" / "newer.db", schema)
    with pytest.raises(InputError, match="written by a newer") as caught:
        memory.files.import_paths([path])
    assert label in caught.value.message and f"--format {name}" in caught.value.hint
    assert find_sources([path], name).sources[0].format == name
    known = KnownSource(name=name, format=name, label=name, path=path, files=1, newest=NOW, oldest=NOW)
    (probed,) = memory.files.probe([known])
    assert label in probed.problem and source_summary(known, probed, NOW) == probed.problem
    (path.parent / "note.md").write_text("# A note\n\nOf something.\n")
    found = find_sources([path.parent])
    assert [one.reason for one in found.left_out] == ["written by a newer version of its program"]


@pytest.mark.parametrize(
    ("tables", "program"),
    [
        ("CREATE TABLE sdk_sessions (a); CREATE TABLE observations (body TEXT);", "claude-mem"),
        (
            "CREATE TABLE sessions (a); CREATE TABLE observations (b); CREATE TABLE user_prompts (c);",
            "engram",
        ),
        (
            "CREATE TABLE memories (a); CREATE TABLE metadata (b); CREATE TABLE memory_graph (c);",
            "mcp-memory-service",
        ),
        ("CREATE TABLE entities (id, label); CREATE TABLE triples (id, a, b);", "MemPalace"),
    ],
)
def test_a_store_whose_columns_are_others_is_refused_by_name(
    tmp_path: Path, tables: str, program: str
) -> None:
    with pytest.raises(InputError, match=f"is a store of {program} in an unknown version") as caught:
        find_sources([store(tmp_path / "other.db", tables)])
    assert "Update" in caught.value.hint


@pytest.mark.parametrize("make", MAKERS)
def test_a_damaged_store_gives_what_can_be_read_or_is_refused(
    memory: Memory, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path / "store" / "a.db")
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(InputError, match=r"cannot be imported|Nothing could be imported|no format"):
        memory.files.import_paths([path])
    path.write_bytes(raw[:4096] + bytes(len(raw) - 4096))
    with pytest.raises(InputError):
        memory.files.import_paths([path])


def test_a_view_under_the_name_of_a_table_is_not_read(memory: Memory, tmp_path: Path) -> None:
    """It could compute without end, or call what a table cannot."""
    hostile = store(
        tmp_path / "a.db",
        CLAUDE_MEM.replace("CREATE TABLE user_prompts (", "CREATE TABLE said (").replace(
            "CREATE TRIGGER user_prompts_ai AFTER INSERT ON user_prompts",
            "CREATE TRIGGER x AFTER INSERT ON said",
        )
        + "CREATE VIEW user_prompts AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT n AS id, n AS session_db_id, 'c' AS content_session_id, 'x' AS prompt_text, n AS created_at_epoch FROM r;"
        "INSERT INTO observations (memory_session_id, project, type, text, created_at, created_at_epoch) "
        "VALUES ('m', 'p', 'change', 'Kept', '', 1772705160000);",
    )
    assert memory.files.import_paths([hostile]).kinds == {"observation": 1}


def test_a_query_that_computes_without_end_is_interrupted(tmp_path: Path) -> None:
    """Ids that should be unique and are not make a join of everything with everything."""
    path = store(
        tmp_path / "a.db",
        CLAUDE_MEM.replace(
            "id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id", "id INTEGER, content_session_id"
        )
        + "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) INSERT INTO sdk_sessions "
        "(id, content_session_id, project, started_at, started_at_epoch) SELECT 1, n, 'p', '', 0 FROM r;"
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) INSERT INTO user_prompts "
        "(session_db_id, content_session_id, prompt_number, prompt_text, created_at, created_at_epoch) "
        "SELECT 1, n, 1, '', '', 0 FROM r;",
    )
    _, skips = read(path, limits=ImportLimits(steps=2_000_000, steps_per_byte=0))
    assert any("interrupted" in one.place for one in skips)
