"""Every connection, writer or reader, has the settings that durability rests on."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.errors import ReadOnlyError, StoreError
from memtui.engine.records import Options
from memtui.engine.store import connection as store_connection
from memtui.engine.store import connections, file, history
from memtui.engine.store.connection import connect

OPTIONS = Options(background=False, embedder="off")
EXPECTED = {
    "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "recursive_triggers": 1, "trusted_schema": 0,
    "cell_size_check": 1, "secure_delete": 2, "mmap_size": 0, "journal_size_limit": 64 * 1024 * 1024,
    "application_id": APPLICATION_ID,
}  # fmt: skip


def settings(connection: apsw.Connection) -> dict[str, object]:
    return {name: connection.pragma(name) for name in EXPECTED}


@pytest.mark.parametrize(("readonly", "opened"), [(True, 1), (False, 2)])
def test_a_memory_is_read_through_the_connection_that_probed_it(
    place: Path, monkeypatch: pytest.MonkeyPatch, readonly: bool, opened: int
) -> None:
    Memory.open(place, options=OPTIONS).close()
    made: list[Path] = []

    def counted(path: Path, *, write: bool, immutable: bool = False) -> apsw.Connection:
        made.append(path)
        return connect(path, write=write, immutable=immutable)

    for module in (file, connections):
        monkeypatch.setattr(module, "connect", counted)
    with Memory.open(place, readonly=readonly, options=OPTIONS) as memory:
        assert memory.view.count() == 0
        assert memory.view.page() == []
    assert len(made) == opened


def test_the_writer_and_every_reader_have_the_settings(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        with memory._core.connections.write() as writer:
            assert settings(writer) == EXPECTED
            assert writer.pragma("query_only") == 0
            assert writer.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        with memory._core.connections.read() as one, memory._core.connections.read() as two:
            assert one is not two
            for reader in (one, two):
                assert settings(reader) == EXPECTED
                assert reader.pragma("query_only") == 1
                assert reader.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1


def test_a_readonly_memory_has_no_writer(place: Path) -> None:
    Memory.open(place, options=OPTIONS).close()
    with Memory.open(place, readonly=True, options=OPTIONS) as memory:
        with memory._core.connections.read() as reader:
            assert settings(reader) == EXPECTED
            with pytest.raises(apsw.ReadOnlyError):
                reader.execute("DELETE FROM memories")
        with pytest.raises(ReadOnlyError), memory._core.connections.write():
            pass


def test_a_setting_that_sqlite_does_not_accept_is_an_error(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory.open(place, options=OPTIONS).close()
    monkeypatch.setattr(store_connection, "_PRAGMAS", (("synchronous", "FULL", 3),))
    with pytest.raises(StoreError, match="synchronous"):
        connect(place, write=True)


def test_extensions_cannot_be_loaded_by_a_statement(place: Path) -> None:
    with (
        Memory.open(place, options=OPTIONS) as memory,
        memory._core.connections.write() as writer,
        pytest.raises(apsw.SQLError, match="not authorized"),
    ):
        writer.execute("SELECT load_extension('/tmp/evil.so')")


def test_the_schema_cannot_be_rewritten_by_a_statement(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory, memory._core.connections.write() as writer:
        with pytest.raises(apsw.SQLError):
            writer.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
        with pytest.raises(apsw.SQLError):
            writer.execute("DELETE FROM memories_fts_data")


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_the_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = tmp_path / "new" / "deeper" / "memory.db"
        with Memory.open(path, options=OPTIONS) as memory:
            memory.remember("Ada lives in Lisbon")
            modes = {part.name: stat.S_IMODE(part.stat().st_mode) for part in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_failed_transaction_leaves_nothing_and_the_writer_usable(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        with pytest.raises(RuntimeError), memory._core.connections.write() as writer:
            writer.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES ('a', 'b', 1)")
            raise RuntimeError("in the middle")
        with memory._core.connections.read() as reader:
            assert reader.execute("SELECT count(*) FROM scratchpad").get == 0
        memory.remember("still working")


def test_a_closed_memory_says_so_and_closes_twice(place: Path) -> None:
    memory = Memory.open(place, options=OPTIONS)
    memory.close()
    memory.close()
    for call in (memory.stats, lambda: memory.remember("x"), memory.view.count, memory.data_version):
        with pytest.raises(StoreError, match="closed"):
            call()


def test_closing_leaves_no_connection_open(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def left() -> list[apsw.Connection]:
        return [one for one in apsw.connections() if Path(one.filename or "") == place]

    memory = Memory.open(place, options=OPTIONS)
    with memory._core.connections.read():  # somebody is still reading
        memory.close()
    assert left() == []
    with Memory.open(place, readonly=True, options=OPTIONS) as memory:
        memory.data_version()
    assert left() == []

    def upgrade(*_: object) -> None:
        raise StoreError("no room")

    monkeypatch.setattr("memtui.engine.store.migration.upgrade_schema", upgrade)
    with pytest.raises(StoreError, match="no room") as caught:
        Memory.open(place, options=OPTIONS)
    assert left() == [], caught  # whose traceback has every frame on the way


def test_an_operation_that_a_closed_memory_left_open_is_ended_by_the_next_one(place: Path) -> None:
    memory = Memory.open(place, options=OPTIONS)
    op_id = history.begin_long(memory._core.connections, lambda: 1.0, "person", "set", "Set much")
    with history.continue_long(memory._core.connections, op_id) as writer:
        writer.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES ('a', 'b', 1)")
    memory.close()
    with Memory.open(place, options=OPTIONS) as again:
        assert again.view.operation(op_id).state == "done"


def test_a_reader_sees_one_state_for_as_long_as_it_reads(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory, memory._core.connections.read() as reader:
        before = reader.execute("SELECT count(*) FROM memories").get
        memory.remember("Ada lives in Lisbon")
        assert reader.execute("SELECT count(*) FROM memories").get == before == 0


def test_a_version_is_told_at_once_while_a_write_runs(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        before = memory.data_version()
        told: list[int] = []
        asking = threading.Thread(target=lambda: told.append(memory.data_version()))
        with memory._core.connections.write():
            asking.start()
            asking.join(60)
            in_time = told.copy()
        asking.join()
    assert in_time == [before]


def test_a_new_memory_is_in_its_folder_after_a_power_cut(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[Path, bool]] = []
    monkeypatch.setattr(
        "memtui.operating_system.flush_path", lambda path: flushed.append((path, place.exists()))
    )
    Memory.open(place, options=OPTIONS).close()
    assert flushed == [(place.parent, True)]


def test_a_closed_memory_leaves_one_file(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("Ada lives in Lisbon")
        memory.view.count()
    assert [path.name for path in place.parent.iterdir()] == ["memory.db"]


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (apsw.FullError("full"), "DiskFullError", "No space left"),
        (apsw.IOError("disk I/O error"), "DiskFullError", "free"),
        (apsw.CorruptError("malformed"), "CorruptFileError", "damaged"),
        (apsw.NotADBError("not a db"), "ForeignFileError", "not a memory"),
        (apsw.ReadOnlyError("read only"), "ReadOnlyError", "cannot be written"),
        (apsw.BusyError("locked"), "StoreError", "in use"),
        (apsw.CantOpenError("unable"), "StoreError", "cannot be opened"),
        (apsw.SQLError("no such table: x"), "StoreError", "no such table"),
    ],
)
def test_every_sqlite_error_gets_a_cause_and_a_next_step(
    error: apsw.Error, kind: str, said: str, place: Path
) -> None:
    translated = store_connection.translate_error(error, place)
    assert type(translated).__name__ == kind
    assert said in translated.message and translated.hint
    assert translated.exit_code == 4
