"""Power cuts: whatever a cut leaves opens as a state that was, and holds every acknowledged write.

One run of the program is recorded (power.py); then the power is cut at hundreds of points of the record,
a different part of the unsynced writes lost each time. Must fail on: synchronous=NORMAL.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import apsw
import power
import pytest
from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Options
from memtui.engine.store import connection as store_connection
from memtui.engine.store import migration

from state_hash import state_hash

pytestmark = [
    pytest.mark.powerloss,
    pytest.mark.skipif(sys.platform != "linux", reason="the recorder needs SQLite's unix VFS and /proc"),
]

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


class Recorded(NamedTuple):
    """A run: the disk, the state after each operation, and when each was acknowledged.

    ``acknowledged[i]`` is the number of events on the disk when operation ``i`` returned.
    """

    disk: power.Disk
    states: list[str]
    acknowledged: list[int]


def record_a_life(folder: Path, operations: int, dice: random.Random) -> Recorded:
    """Create a memory and use every verb on it, across a restart and checkpoints."""
    path = folder / "memory.db"
    states: list[str] = []
    acknowledged: list[int] = []
    with power.recording(folder) as disk:
        memory = Memory.open(path, options=OPTIONS)

        def acknowledge() -> None:
            acknowledged.append(len(disk.events))
            with memory._core.connections.read() as connection:
                states.append(state_hash(connection))

        acknowledge()
        for number in range(operations):
            change_something(memory, number, dice)
            acknowledge()
            if number % 20 == 19:
                memory.models.index_pending()
            if number == operations // 2:
                memory.close()
                memory = Memory.open(path, options=OPTIONS)
            if number % 30 == 29:
                with memory._core.connections.exclusive() as connection:
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        memory.close()
    return Recorded(disk, states, acknowledged)


def change_something(memory: Memory, number: int, dice: random.Random) -> None:
    """One operation, chosen at random among those that are possible now."""
    facts = memory.view.page("kind:fact")
    verb = dice.choice(("record", "record", "remember", "correct", "forget", "tag", "bulk", "undo", "redo"))
    if verb == "remember" or not facts:
        memory.remember(f"fact {number}")
    elif verb == "record":
        memory.record_turn(
            f"session {number % 5}", "user", f"turn {number} " + "words " * dice.randint(1, 900)
        )
    elif verb == "correct":
        memory.correct(dice.choice(facts).id, f"corrected {number}")
    elif verb == "forget":
        memory.forget(dice.choice(facts).id)
    elif verb == "tag":
        memory.tag(facts[0].id, add=(f"tag{number}",))
    elif verb == "bulk":
        memory.change_all("tag", [fact.rid for fact in facts], add=(f"bulk{number}",))
    elif verb == "undo":
        memory.undo()
    else:
        memory.redo()


def problems_after_cuts(recorded: Recorded, cuts: int, folder: Path, dice: random.Random) -> list[str]:
    """Cut the power ``cuts`` times; returns what was wrong with what was left."""
    found = []
    for cut in range(cuts):
        at = dice.randint(1, len(recorded.disk.events))
        place = folder / str(cut)
        lay_out(recorded.disk.after_cut(at, dice), recorded.disk.folder, place)
        done = sum(1 for moment in recorded.acknowledged if moment <= at)
        problem = _problem(place / "memory.db", recorded.states, done)
        shutil.rmtree(place)
        if problem:
            found.append(f"cut {cut} before event {at}, {done} acknowledged: {problem}")
    return found


def _problem(path: Path, states: list[str], done: int) -> str:
    if not path.exists():
        return "the memory is gone" if done else ""
    try:
        with Memory.open(path, options=OPTIONS) as memory:
            with memory._core.connections.read() as connection:
                state = state_hash(connection)
            if state not in states[max(0, done - 1) : done + 1]:
                was = [number for number, known in enumerate(states) if known == state]
                return f"it holds state {was or 'never seen'}"
            report = memory.files.check(deep=True)
            memory.record_turn("afterwards", "user", "it can be written")
            return "" if report.ok else str(report.findings)
    except MemtuiError as error:
        return f"{type(error).__name__}: {error}"


def lay_out(files: dict[str, bytes], origin: Path, place: Path) -> None:
    place.mkdir(mode=0o700)
    for name, content in files.items():
        path = place / Path(name).relative_to(origin)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    live, cut = tmp_path / "live", tmp_path / "cut"
    live.mkdir(mode=0o700)
    cut.mkdir(mode=0o700)
    return live, cut


def test_a_power_cut_leaves_a_state_that_holds_every_acknowledged_write(
    folders: tuple[Path, Path], sized: Callable[[int], int]
) -> None:
    dice = random.Random(1)
    recorded = record_a_life(folders[0], max(60, sized(200)), dice)
    assert problems_after_cuts(recorded, sized(1_000), folders[1], dice) == []


def test_the_harness_catches_commits_that_are_not_synced(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    normal = tuple(
        ("synchronous", "NORMAL", 1) if name == "synchronous" else (name, value, expected)
        for name, value, expected in store_connection._PRAGMAS
    )
    monkeypatch.setattr(store_connection, "_PRAGMAS", normal)
    dice = random.Random(2)
    recorded = record_a_life(folders[0], 40, dice)
    assert problems_after_cuts(recorded, 40, folders[1], dice)


NOW = migration.current_version()
NEXT = NOW + 1


def _next_format() -> tuple[migration.Migration, ...]:
    return (
        *migration.load_migrations(),
        migration.Migration(
            NEXT,
            "test",
            """
            CREATE TABLE moods (rid INTEGER PRIMARY KEY REFERENCES memories(rid), mood TEXT NOT NULL) STRICT;
            INSERT INTO moods SELECT rid, 'calm: ' || content FROM memories;
            ALTER TABLE recalls ADD COLUMN mood TEXT;
            """,
        ),
    )


def test_a_power_cut_during_a_migration_leaves_the_old_or_the_new_format(
    folders: tuple[Path, Path], sized: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, cut = folders
    path = live / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        for number in range(60):
            memory.record_turn(f"session {number % 5}", "user", f"turn {number} " + "words " * 200)
        with memory._core.connections.read() as connection:
            before = state_hash(connection)
    steps = _next_format()
    with monkeypatch.context() as patch, power.recording(live) as disk:
        patch.setattr(migration, "load_migrations", lambda: steps)
        began = len(disk.events)
        Memory.open(path, options=OPTIONS).close()
        ended = len(disk.events)
        # A cut later than the end: everything that was promised must be there.
        disk.events += [power.FolderSync()] * 5

    versions = set()
    dice = random.Random(3)
    for number in range(sized(300)):
        at = dice.randint(began, ended + 5) if number else ended + 5
        place = cut / str(number)
        lay_out(disk.after_cut(at, dice), live, place)
        connection = apsw.Connection(str(place / "memory.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        version = connection.pragma("user_version")
        versions.add(version)
        assert version in ((NEXT,) if at > ended else (NOW, NEXT))
        assert connection.pragma("quick_check") == "ok"
        assert state_hash(connection) == before
        assert (
            connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'moods'").get == version - NOW
        )
        connection.close()
        for backup in place.glob("backups/*.db"):
            kept = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READWRITE)
            assert kept.pragma("integrity_check") == "ok"
            assert state_hash(kept) == before
            kept.close()
        with monkeypatch.context() as patch:
            patch.setattr(migration, "load_migrations", lambda: steps)
            with (
                Memory.open(place / "memory.db", options=OPTIONS) as memory,
                memory._core.connections.read() as reader,
            ):
                assert reader.pragma("user_version") == NEXT
                assert state_hash(reader) == before
        shutil.rmtree(place)
    assert versions == {NOW, NEXT}
