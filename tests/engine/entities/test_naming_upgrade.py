"""A file from before every name had a row of its own becomes one without anybody's decision."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import migration

OPTIONS = Options(background=False, embedder="off")
BEFORE = 4


@pytest.fixture
def old(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of format 4: one entity of three names, one merged into it, one memory of three in the Trash."""
    connection = apsw.Connection(str(place))
    steps = [step for step in migration.load_migrations() if step.version <= BEFORE]
    assert len(steps) == BEFORE
    connection.pragma("application_id", _application_id())
    for step in steps:
        connection.execute(step.sql)
    connection.pragma("user_version", BEFORE)
    for rid, ended in ((1, None), (2, None), (3, 50)):
        connection.execute(
            "INSERT INTO memories(rid, id, kind, content, content_hash, trust, event_time, created_at, valid_until, ended_by) "
            "VALUES (?, ?, 'fact', 'Then Ada came', 'x', 'user', ?, 1, ?, ?)",
            (rid, f"fact_{rid:012x}", rid * 100, ended, ended and "forgotten"),
        )
        connection.execute("DELETE FROM index_queue")
    for eid, name, into in ((1, "Ada", None), (2, "Ada Lovelace", 1), (3, "Bob", None)):
        connection.execute(
            "INSERT INTO entities(eid, id, canonical_name, type, merged_into, created_at, mention_count) "
            "VALUES (?, ?, ?, 'person', ?, 1, 7)",
            (eid, f"ent_{eid:012x}", name, into),
        )
        connection.execute(
            "INSERT INTO entity_aliases(key, entity_id, alias) VALUES (?, ?, ?)", (name.casefold(), eid, name)
        )
    for alias in ("@ada", "Ada L."):
        connection.execute(
            "INSERT INTO entity_aliases(key, entity_id, alias) VALUES (?, 1, ?)", (alias.casefold(), alias)
        )
    connection.execute("INSERT INTO memory_entities(rid, eid) VALUES (1, 1), (1, 2), (2, 2), (3, 1), (3, 3)")
    connection.close()
    return place


def _application_id() -> int:
    with Memory.open(":memory:", options=OPTIONS) as memory, memory._core.connections.read() as connection:
        return int(connection.pragma("application_id"))


def test_names_get_rows_counts_and_times_and_history_says_nothing(old: Path) -> None:
    with Memory.open(old, options=OPTIONS) as memory:
        found = memory.entities.get("Ada").entity
        assert (found.mention_count, found.first_seen, found.last_seen) == (2, 100, 200)
        assert set(found.aliases) == {"Ada Lovelace", "@ada", "Ada L."}
        assert memory.entities.get("@ADA").entity == memory.entities.get("ent_000000000002").entity == found
        assert memory.entities.get("Bob").total == 0
        assert memory.history.next_undo() is None and memory.view.count_operations() == 0
        findings = memory.files.check().findings
        assert not [finding for finding in findings if finding.check in ("entities", "schema", "history")]
        memory.entities.split("Ada", "Ada L.")
        memory.undo()
        assert memory.entities.get("Ada").entity == found
