"""Backups as a job, and restoring one into the live file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.backups import backups as backups_module
from memtui.engine.backups.backups import Backups
from memtui.engine.errors import (
    CorruptFileError,
    DiskFullError,
    ForeignFileError,
    InputError,
    NewerFileError,
    NotFoundError,
)
from memtui.engine.records import Options
from memtui.engine.store import backup as backup_module
from memtui.engine.store import migration
from night import make_scheduler

from clock import Clock
from state_hash import state_hash

START = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
OPTIONS = Options(background=False, embedder="off")
HOUR = 3_600


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        yield memory


@pytest.fixture
def backups(memory: Memory, clock: Clock) -> Backups:
    return Backups(memory._core.connections, clock)


def hash_of(memory: Memory) -> str:
    with memory._core.connections.read() as connection:
        return state_hash(connection)


def test_a_backup_is_made_every_half_hour_but_only_if_something_changed(
    memory: Memory, clock: Clock, backups: Backups
) -> None:
    scheduler = make_scheduler(memory, clock)
    counts = []
    for hour in range(6):
        if hour in (0, 3):
            memory.remember(f"fact of hour {hour}")
        for _ in range(4):
            scheduler.run_due()
            clock.now += HOUR / 4
        counts.append(len([run for run in scheduler.runs() if run.job == "backup"]))
    assert counts == [1, 1, 1, 2, 2, 2]
    assert [backup.reason for backup in backups.all()] == ["scheduled", "scheduled"]


def test_recalls_and_jobs_alone_are_not_worth_a_backup_of_facts(
    memory: Memory, clock: Clock, backups: Backups
) -> None:
    memory.remember("one")
    backups.make()
    assert not backups.changed_since_latest()
    make_scheduler(memory, clock).run_now("decay")
    assert not backups.changed_since_latest()
    memory.forget(memory.remember("two").id)
    assert backups.changed_since_latest()


def test_a_night_run_is_backed_up_before_but_not_twice_in_ten_minutes(
    memory: Memory, clock: Clock, backups: Backups
) -> None:
    scheduler = make_scheduler(memory, clock)
    scheduler.run_due()
    memory.remember("one")
    clock.now += 16.5 * HOUR  # all night jobs at once
    scheduler.run_due()
    assert [backup.reason for backup in backups.all()] == ["maintenance", "scheduled"]
    memory.remember("two")
    clock.now += 500
    assert backups.ensure("import") == backups.all()[0]
    clock.now += 500
    assert backups.ensure("import") == backups.all()[0]
    assert [backup.reason for backup in backups.all()] == ["import", "maintenance", "scheduled"]


def test_restore_brings_back_what_was_and_keeps_what_is(
    memory: Memory, clock: Clock, backups: Backups
) -> None:
    memory.remember("kept")
    made = backups.make()
    before = hash_of(memory)
    memory.remember("added after the backup")
    after = hash_of(memory)
    with Memory.open(memory.path or "", options=OPTIONS) as other:
        version = other.data_version()
        clock.now += 60
        done = backups.restore(made.path.name)
        assert other.data_version() != version
        assert [row.content for row in other.view.page()] == ["kept"]
        assert hash_of(other) == before
    assert hash_of(memory) == before
    assert memory.files.check(deep=True).ok
    assert done.before.reason == "restore"
    backups.restore(done.before.path)
    assert hash_of(memory) == after


def test_the_latest_can_be_named_and_an_unknown_one_is_refused(memory: Memory, backups: Backups) -> None:
    with pytest.raises(NotFoundError):
        backups.restore("latest")
    memory.remember("one")
    made = backups.make()
    assert backups.find("latest") == made.path
    with pytest.raises(NotFoundError):
        backups.restore("memory-20200101T000000Z-manual.db")
    with pytest.raises(InputError, match="memory itself"):
        backups.restore(memory.path or "")


@pytest.mark.parametrize("fault", ["damaged", "foreign", "newer", "empty"])
def test_a_backup_that_cannot_be_used_leaves_the_live_file_as_it_is(
    fault: str, memory: Memory, backups: Backups
) -> None:
    for number in range(50):
        memory.remember(f"fact {number} " * 20)
    bad = backups.make().path
    if fault == "damaged":
        content = bytearray(bad.read_bytes())
        content[4096 * 3 : 4096 * 6] = b"\xa5" * (4096 * 3)
        bad.write_bytes(content)
    elif fault == "empty":
        bad.write_bytes(b"")
    else:
        connection = apsw.Connection(str(bad))
        connection.execute("PRAGMA user_version = 999" if fault == "newer" else "PRAGMA application_id = 1")
        connection.close()
    before = hash_of(memory)
    expected = {"damaged": CorruptFileError, "newer": NewerFileError}.get(fault, ForeignFileError)
    with pytest.raises(expected):
        backups.restore(bad)
    assert hash_of(memory) == before
    assert memory.files.check(deep=True).ok
    assert len(backups.all()) == 1


def test_when_the_backup_before_a_restore_fails_nothing_is_restored(
    memory: Memory, backups: Backups, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("one")
    made = backups.make()
    memory.remember("two")
    before = hash_of(memory)

    def fail(*given: object, **more: object) -> Path:
        raise DiskFullError("no space, say")

    monkeypatch.setattr(backup_module, "back_up", fail)
    with pytest.raises(DiskFullError, match="no space"):
        backups.restore(made.path)
    assert hash_of(memory) == before
    memory.remember("the writer is free again")


def test_an_older_backup_is_brought_up_to_date_on_its_way(
    memory: Memory, backups: Backups, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("from an older format")
    made = backups.make()
    memory.remember("added after the backup")
    real = migration.current_version()
    connection = apsw.Connection(str(made.path))
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    content = made.path.read_bytes()
    seen = []

    def apply_pending(connection: apsw.Connection) -> int:
        seen.append(connection.pragma("user_version"))
        connection.execute(f"PRAGMA user_version = {real}")
        return real

    with monkeypatch.context() as patched:
        patched.setattr(migration, "apply_pending", apply_pending)
        backups.restore(made.path)
    assert seen == [0]
    assert [row.content for row in memory.view.page()] == ["from an older format"]
    assert memory.files.check(deep=True).ok
    assert made.path.read_bytes() == content


def test_backups_are_thinned_out_only_after_a_good_one(
    memory: Memory, clock: Clock, backups: Backups, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = make_scheduler(memory, clock)
    for number in range(4):
        memory.remember(f"fact {number}")
        backups.make()
        clock.now += 300
    clock.now += 30 * HOUR
    memory.remember("a fact more")
    good = backup_module.problem_of
    monkeypatch.setattr(backup_module, "problem_of", lambda path, **_: "pages are lost")
    run = scheduler.run_now("backup")
    assert run.state == "failed"
    assert "pages are lost" in (run.error or "")
    assert len(backups.all()) == 4
    monkeypatch.setattr(backup_module, "problem_of", good)
    assert scheduler.run_now("backup").report.counts["deleted"] == 3  # type: ignore[union-attr]
    assert len(backups.all()) == 2


def test_a_copy_is_not_started_over_by_writers(memory: Memory, clock: Clock, backups: Backups) -> None:
    for number in range(300):
        memory.record_turn("s", "user", f"turn {number} " * 60)
    with Memory.open(memory.path or "", options=OPTIONS) as other:
        real = apsw.Connection.backup
        steps = pages = 0
        with memory._core.connections.read() as source:
            backups_module.change_mark(source)
            target = apsw.Connection(":memory:")
            with real(target, "main", source, "main") as copying:
                while not copying.done:
                    copying.step(20)
                    other.record_turn("s", "user", f"written meanwhile {steps}")
                    steps += 1
                    pages = max(pages, copying.page_count)
        assert steps <= pages / 20 + 2
        assert target.execute("SELECT count(*) FROM memories").fetchone() == (300,)


def test_a_memory_without_a_file_has_no_backups() -> None:
    with Memory.open(":memory:", options=OPTIONS) as memory:
        backups = Backups(memory._core.connections, lambda: START)
        assert backups.all() == []
        assert backups.ensure("night") is None
        with pytest.raises(InputError):
            backups.make()
