"""Backups: whole, checked, private, and made while others write."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import apsw
import pytest
from memtui import Memory, operating_system
from memtui.engine.errors import CorruptFileError
from memtui.engine.records import Options
from memtui.engine.store import backup

from state_hash import state_hash

OPTIONS = Options(background=False, embedder="off")


def back_up(memory: Memory, reason: str = "test") -> Path:
    with memory._core.connections.exclusive() as connection:
        assert memory.path is not None
        return backup.back_up(connection, memory.path, reason=reason)


def test_a_backup_equals_the_memory_and_is_one_private_file(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("Ada lives in Lisbon")
        copy = back_up(memory)
        with memory._core.connections.read() as connection:
            expected = state_hash(connection)
    assert copy.parent == place.parent / "backups"
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    with Memory.open(copy, options=OPTIONS) as memory, memory._core.connections.read() as connection:
        assert state_hash(connection) == expected
        assert memory.files.check(deep=True).ok


def test_a_backup_made_while_a_writer_writes_is_a_state_that_was(place: Path) -> None:
    stop, written = threading.Event(), threading.Event()
    with Memory.open(place, options=OPTIONS) as memory, Memory.open(place, options=OPTIONS) as other:

        def write() -> None:
            number = 0
            while not stop.is_set():
                other.record_turn("busy", "user", f"turn {number} " * 40)
                number += 1
                written.set()

        def once_more(number: int) -> Path:
            copy = back_up(memory, f"round{number}")
            written.clear()
            assert written.wait(60)
            return copy

        writer = threading.Thread(target=write)
        writer.start()
        try:
            copies = [once_more(number) for number in range(5)]
        finally:
            stop.set()
            writer.join()
    counts = []
    for copy in copies:
        with Memory.open(copy, options=OPTIONS) as memory:
            assert memory.files.check(deep=True).ok
            turns = (
                [row.content.split()[1] for row in memory.view.transcript("busy", limit=10_000)]
                if (memory.view.count_sessions())
                else []
            )
            # A prefix of what was said, without a gap.
            assert turns == [str(number) for number in range(len(turns))]
            counts.append(len(turns))
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_two_backups_in_one_second_both_stay(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        assert len({back_up(memory) for _ in range(3)}) == 3


def test_a_half_made_backup_left_by_a_crash_does_not_stop_the_next(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup.time, "strftime", lambda *_: "20260301T120000Z")
    with Memory.open(place, options=OPTIONS) as memory:
        folder = place.parent / "backups"
        folder.mkdir()
        (folder / "memory-20260301T120000Z-test.partial").write_bytes(b"half")
        copy = back_up(memory)
        assert copy.name == "memory-20260301T120000Z-2-test.db"
        assert (folder / "memory-20260301T120000Z-test.partial").read_bytes() == b"half"


def test_a_copy_that_fails_its_check_gets_no_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copy_and_damage(source: apsw.Connection, target: apsw.Connection) -> None:
        backup_of(source, target)
        target.execute("PRAGMA writable_schema = ON")
        target.execute("UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'memories'")

    backup_of = backup.copy_into
    monkeypatch.setattr(backup, "copy_into", copy_and_damage)
    with Memory.open(place, options=OPTIONS) as memory:
        with pytest.raises(CorruptFileError, match="check"):
            back_up(memory)
        assert list((place.parent / "backups").iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fsync"), reason="no fsync")
def test_a_backup_is_flushed_before_it_gets_its_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    rename = Path.rename
    monkeypatch.setattr(
        operating_system, "flush_path", lambda path: order.append(f"flush {path.suffix or 'folder'}")
    )
    monkeypatch.setattr(Path, "rename", lambda self, to: (order.append("rename"), rename(self, to))[1])
    with Memory.open(place, options=OPTIONS) as memory:
        order.clear()  # a new memory has its own
        back_up(memory)
    assert order == ["flush .partial", "rename", "flush folder"]
