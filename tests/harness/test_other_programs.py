"""Programs that know nothing of operations write the same file: they are recorded, indexed and undoable all the same."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Operation, Options
from test_kill9 import run_crew

from state_hash import state_hash

OPTIONS = Options(background=False, embedder="off")

pytestmark = pytest.mark.skipif(
    sqlite3.sqlite_version_info < (3, 38), reason="this Python's SQLite is too old to write a STRICT table"
)

INSERT = (
    "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) VALUES "
    "('fact_byhand00001', 'fact', 'The lighthouse keeper is called Bosse', 'x', 'user', 1700000000, 1700000000)"
)


def foreign(path: Path, *statements: str) -> None:
    """Run statements in a plain Python of its own, each committed by itself."""
    code = (
        "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)\n"
        "for s in sys.argv[2:]: c.execute(s)\nc.close()"
    )
    subprocess.run([sys.executable, "-c", code, str(path), *statements], check=True)


def state(memory: Memory) -> str:
    with memory._core.connections.read() as connection:
        return state_hash(connection)


def latest(memory: Memory) -> Operation:
    return memory.view.operations(limit=1)[0]


@pytest.fixture
def memory(place: Path) -> Memory:
    opened = Memory.open(place, options=OPTIONS)
    opened.remember("The ferry leaves at nine", tags=["travel"])
    opened.record_turn("harbour", "user", "When does the ferry leave?")
    yield opened
    opened.close()


def found(memory: Memory, word: str) -> list[str]:
    return [row.id for row in memory.view.page(word)]


def test_an_insert_is_recorded_found_and_undoable(memory: Memory, place: Path) -> None:
    before = state(memory)
    foreign(place, INSERT)
    operation = latest(memory)
    assert (operation.actor, operation.kind, operation.rows) == ("external", "external", 1)
    assert found(memory, "lighthouse") == ["fact_byhand00001"]
    [(recorded, change)] = memory.view.history_of("fact_byhand00001")
    assert recorded == operation and change.before is None
    memory.models.index_pending()
    assert memory.stats().unlinked == 0
    after = state(memory)
    memory.undo(operation.op_id)
    assert found(memory, "lighthouse") == []
    assert state(memory) == before
    memory.redo()
    assert state(memory) == after


def test_an_update_is_recorded_found_and_undoable(memory: Memory, place: Path) -> None:
    before = state(memory)
    (fact,) = found(memory, "kind:fact")
    foreign(place, f"UPDATE memories SET content = 'The tram leaves at ten', tags = '[]' WHERE id = '{fact}'")
    assert latest(memory).actor == "external"
    assert found(memory, "tram") == [fact] and found(memory, "kind:fact ferry") == []
    [_, (_, change)] = memory.view.history_of(fact)
    assert change.before == {"content": "The ferry leaves at nine", "tags": '["travel"]'}
    assert change.after == {"content": "The tram leaves at ten", "tags": "[]"}
    memory.undo(latest(memory).op_id)
    assert state(memory) == before
    assert found(memory, "kind:fact ferry") == [fact] and found(memory, "tram") == []


def test_a_delete_is_recorded_forgotten_by_search_and_undoable(memory: Memory, place: Path) -> None:
    memory.models.index_pending()
    before = state(memory)
    (fact,) = found(memory, "kind:fact")
    foreign(place, f"DELETE FROM memories WHERE id = '{fact}'")
    assert found(memory, "kind:fact ferry") == []
    assert memory.files.check(deep=True).ok, memory.files.check(deep=True).findings
    memory.undo(latest(memory).op_id)
    assert state(memory) == before
    assert found(memory, "kind:fact ferry") == [fact]
    assert memory.files.check(deep=True).ok


def test_what_is_written_together_is_one_operation(memory: Memory, place: Path) -> None:
    before, operations = state(memory), memory.view.count_operations()
    foreign(place, "BEGIN IMMEDIATE", INSERT, "UPDATE memories SET project = 'sea'", "COMMIT")
    assert memory.view.count_operations() == operations + 1
    assert latest(memory).rows == 4
    memory.undo(latest(memory).op_id)
    assert state(memory) == before


def test_a_later_edit_by_another_program_is_not_overwritten(memory: Memory, place: Path) -> None:
    (fact,) = found(memory, "kind:fact")
    memory.tag(fact, add=["work"])
    mine = latest(memory)
    foreign(place, f"UPDATE memories SET tags = '[\"theirs\"]' WHERE id = '{fact}'")
    with pytest.raises(Exception, match="changed since by “Changed by another program”"):
        memory.undo(mine.op_id)
    assert memory.get(fact).tags == ("theirs",)


def test_derived_rows_of_other_programs_pass_the_check(memory: Memory, place: Path) -> None:
    foreign(place, INSERT, "DELETE FROM memories WHERE kind = 'episode'")
    memory.models.index_pending()
    report = memory.files.check()
    assert [f for f in report.findings if f.check not in ("rows", "sessions")] == []


def test_another_process_is_noticed_and_ones_own_writes_are_not(memory: Memory, place: Path) -> None:
    first = memory.data_version()
    memory.remember("said by myself")
    assert memory.data_version() == first
    foreign(place, INSERT)
    second = memory.data_version()
    assert second != first
    assert memory.data_version() == second
    run_crew("create", path=str(place), processes=2)
    assert memory.data_version() != second


def test_a_readonly_memory_notices_other_processes_too(memory: Memory, place: Path) -> None:
    with Memory.open(place, readonly=True, options=OPTIONS) as watcher:
        first = watcher.data_version()
        assert watcher.data_version() == first
        foreign(place, INSERT)
        assert watcher.data_version() != first
        assert watcher.view.count("lighthouse") == 1


def test_two_memories_in_one_process_see_each_other(memory: Memory, place: Path) -> None:
    with Memory.open(place, actor="agent:x", options=OPTIONS) as other:
        first = memory.data_version()
        other.remember("the agent was here")
        assert memory.data_version() != first
        assert memory.view.count("agent") == 1
