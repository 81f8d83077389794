"""Many rows by one statement: the same as one by one, and one segment of the full-text index."""

from __future__ import annotations

from pathlib import Path

from memtui import Memory
from memtui.engine.records import NewMemory, Options
from memtui.engine.store import memories
from memtui.engine.store.sql import scalar

QUIET = Options(background=False, allow_unsafe_fs=True)


def sack(number: int) -> NewMemory:
    return NewMemory(
        kind="fact", content=f"Beans and barley, sack {number}", event_time=1_770_000_000, created_at=1_770_000_000,
        trust="user", source_key=f"sack {number}",
    )  # fmt: skip


def test_rows_of_one_statement_are_in_history_and_found_like_any_other(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", options=QUIET) as memory:
        with memory._core.operation("import", "Brought sacks") as op:
            first = memories.insert(op.connection, **sack(2))
            rids = memories.insert_all(op.connection, [sack(number) for number in range(1, 5)])
        assert first == 1
        assert [rid is None for rid in rids] == [False, True, False, False]
        assert [hit.memory.content[-6:] for hit in memory.search("sack 4").hits[:1]] == ["sack 4"]
        assert memory.files.check(deep=True).ok
        memory.undo()
        assert memory.view.count() == 0


def test_one_statement_writes_one_segment_of_the_index(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", options=QUIET) as memory:
        with memory._core.connections.write() as connection:
            memories.insert_all(connection, [sack(number) for number in range(40)])
        with memory._core.connections.read() as connection:
            assert scalar(connection, "SELECT count(DISTINCT segid) FROM memories_fts_idx") == 1
            assert scalar(connection, "SELECT count(*) FROM memories_fts('barley')") == 40
