"""A memory is damaged in sixteen ways: each time the way back leads to the backup, and what was there is kept as it is.

Must fail on: backing up the live file before every restore, which a damaged one does not survive.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.cli import run
from memtui.engine.backups import rescue as restore_rescue
from memtui.engine.records import Options

pytestmark = pytest.mark.rescue

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
Damage = Callable[[Path, random.Random], None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a memory, its log and a backup; and what the backup holds."""
    folder = tmp_path_factory.mktemp("whole")
    path = folder / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        for number in range(150):
            memory.record_turn(f"s{number % 3}", "user", f"Ada told turn {number} of the harbour. " * 8)
        fact = memory.remember("Ada is allergic to walnuts")
        memory.remember("Grace keeps the lighthouse")
        memory.models.index_pending()
        memory.backups.make()
        content = memory.files.content_hash()
        memory.forget(fact.id)
        for number in range(20):
            memory.record_turn("late", "user", f"Said after the backup, number {number}")
        copied = folder.with_name("copied")
        shutil.copytree(folder, copied)  # with the log, as after a crash
    return copied, content


def page(path: Path, number: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(number * 4096)
        file.write(content)


def noise(dice: random.Random, length: int) -> bytes:
    return dice.randbytes(length)


def pages_of(path: Path) -> int:
    return path.stat().st_size // 4096


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def settled(path: Path) -> Path:
    """Without its log, so that the damage is not hidden by it."""
    connection = apsw.Connection(str(path))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    return path


def tree(path: Path, of: str) -> int:
    connection = apsw.Connection(str(path))
    try:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (of,)).fetchone()
    finally:
        connection.close()
    return int(root) - 1


def header_magic(path: Path, dice: random.Random) -> None:
    page(settled(path), 0, noise(dice, 16))


def header_fields(path: Path, dice: random.Random) -> None:
    settled(path)
    with path.open("r+b") as file:
        file.seek(dice.choice((16, 18, 20, 21, 28, 44, 56, 68)))
        file.write(noise(dice, 4))


def whole_header(path: Path, dice: random.Random) -> None:
    page(settled(path), 0, noise(dice, 100))


def one_page(path: Path, dice: random.Random) -> None:
    settled(path)
    page(path, dice.randrange(1, pages_of(path)), noise(dice, 4096))


def many_pages(path: Path, dice: random.Random) -> None:
    settled(path)
    for _ in range(max(2, pages_of(path) // 3)):
        page(path, dice.randrange(pages_of(path)), noise(dice, 4096))


def truncated(path: Path, dice: random.Random) -> None:
    settled(path)
    with path.open("r+b") as file:
        file.truncate(dice.randrange(1, path.stat().st_size))


def emptied(path: Path, dice: random.Random) -> None:
    path.write_bytes(b"")


def zeroed(path: Path, dice: random.Random) -> None:
    settled(path)
    path.write_bytes(bytes(path.stat().st_size))


def zeroed_pages(path: Path, dice: random.Random) -> None:
    settled(path)
    for _ in range(5):
        page(path, dice.randrange(1, pages_of(path)), bytes(4096))


def log_garbage(path: Path, dice: random.Random) -> None:
    log = log_of(path)
    with log.open("r+b") as file:
        file.seek(dice.randrange(0, log.stat().st_size // 2))
        file.write(noise(dice, log.stat().st_size // 2))


def log_of_another(path: Path, dice: random.Random) -> None:
    other = path.with_name(f"other{dice.random()}.db")
    with Memory.open(other, options=OPTIONS) as memory:
        for number in range(30):
            memory.record_turn("s", "user", f"Another memory, turn {number}")
        shutil.copy(log_of(other), log_of(path))
    other.unlink()


def schema(path: Path, dice: random.Random) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA writable_schema = ON")
    name = dice.choice(("memories", "ops", "memory_metadata", "entities", "changes"))
    connection.execute(
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE ' || name || '(a' WHERE name = ?", (name,)
    )
    connection.close()


def dropped_table(path: Path, dice: random.Random) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(f"DROP TABLE {dice.choice(('ops', 'changes', 'memory_metadata', 'entities'))}")
    connection.close()


def freelist(path: Path, dice: random.Random) -> None:
    settled(path)
    with path.open("r+b") as file:
        file.seek(32)
        file.write(dice.randrange(1, 2**31).to_bytes(4, "big") + dice.randrange(1, 2**31).to_bytes(4, "big"))


def index_page(path: Path, dice: random.Random) -> None:
    settled(path)
    connection = apsw.Connection(str(path))
    names = [
        str(n)
        for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql > ''")
    ]
    connection.close()
    page(path, tree(path, dice.choice(sorted(names))), noise(dice, 4096))


def foreign(path: Path, dice: random.Random) -> None:
    path.unlink()
    log_of(path).unlink()
    if dice.random() < 0.5:
        path.write_text("Dear diary, this is no database at all.\n" * 50)
    else:
        connection = apsw.Connection(str(path))
        connection.execute("CREATE TABLE bookmarks(url); INSERT INTO bookmarks VALUES ('x')")
        connection.close()


def folder(path: Path, dice: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "a file in it").write_bytes(noise(dice, 10))


def missing(path: Path, dice: random.Random) -> None:
    path.unlink()
    if dice.random() < 0.5:
        log_of(path).unlink()


def forbidden(path: Path, dice: random.Random) -> None:
    path.chmod(dice.choice((0o000, 0o200, 0o400)))


DAMAGES: list[Damage] = [
    header_magic, header_fields, whole_header, one_page, many_pages, truncated, emptied, zeroed, zeroed_pages,
    log_garbage, log_of_another, schema, dropped_table, freelist, index_page, foreign, folder, missing, forbidden,
]  # fmt: skip


def bytes_of(path: Path) -> dict[str, bytes]:
    """The file and its log, by the end of their names; a folder by what is in it. The log's index is scratch space."""
    if path.is_dir():
        return {one.name: one.read_bytes() for one in path.iterdir()}
    there = {end: path.with_name(path.name + end) for end in ("", "-wal")}
    found = {end: place.read_bytes() for end, place in there.items() if place.exists()}
    return {
        end: content for end, content in found.items() if content or not end
    }  # whoever looks makes an empty log


def restore(
    damage: Damage, seed: int, home: tuple[Path, str], where: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept, content = home
    path = where / "memory.db"
    shutil.copytree(kept, where)
    damage(path, random.Random(f"{damage.__name__} {seed}"))
    mode = path.stat().st_mode if path.exists() else 0
    if damage is forbidden:
        path.chmod(0o600)
    before = bytes_of(path)
    if damage is forbidden:
        path.chmod(mode)
    capfd.readouterr()
    code = run(["--db", str(path), "restore", "1", "--yes"])
    out, err = capfd.readouterr()
    told = f"{damage.__name__} {seed}: {out}{err}"
    assert code == 0, told
    assert not re.search(r"backups?\b[^.\n]*(is damaged|failed its check)", out + err), told
    aside = [
        one
        for one in where.iterdir()
        if ".set-aside-" in one.name and not one.name.endswith(("-wal", "-shm"))
    ]
    with Memory.open(path, options=OPTIONS) as memory:
        assert memory.files.content_hash() == content, told
        report = memory.files.check(deep=True)
        assert report.ok, (told, report.findings)
        backups = {one.reason for one in memory.backups.all()}
        assert memory.view.operations(limit=1)[0].kind == "restore-backup"
    if aside:
        assert bytes_of(aside[0]) == before, told
        assert aside[0].stat().st_mode & 0o077 == 0
        assert "set aside" in out and aside[0].name in out
    elif damage is missing:
        assert [one.read_bytes() for one in where.glob("*.set-aside-*-wal")] == [*before.values()]
    else:
        assert "restore" in backups, told


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_way_back_works_whatever_the_file_is(
    damage: Damage,
    home: tuple[Path, str],
    tmp_path: Path,
    full: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for seed in range(9 if full else 1):
        restore(damage, seed, home, tmp_path / str(seed), capfd)


def test_the_harness_catches_a_restore_that_backs_up_first(
    home: tuple[Path, str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore_rescue.Rescue, "find_problem", lambda self: None)
    monkeypatch.setattr("memtui.engine.backups.backups.is_damage", lambda error: False)
    with pytest.raises(AssertionError):
        restore(zeroed, 0, home, tmp_path / "0", capfd)
    # Which page is hit goes by the seed, and not every page is read.
    with pytest.raises(AssertionError):
        for seed in range(1, 10):
            restore(one_page, seed, home, tmp_path / str(seed), capfd)
