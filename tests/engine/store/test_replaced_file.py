"""A file that is deleted or replaced under an open memory is noticed before anything is written to it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from memtui import Memory, Toolbox
from memtui.engine.errors import InputError, ReplacedFileError, StoreError
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def another(path: Path) -> Path:
    """A sound memory with other words."""
    other = path.with_name("other.db")
    with Memory.open(other, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "from the other file")
    return other


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        beside(path, suffix).unlink()


def replace(path: Path) -> None:
    other = another(path)
    other.replace(path)


def replace_all(path: Path) -> None:
    delete_all(path)
    replace(path)


def delete_log(path: Path) -> None:
    beside(path, "-wal").unlink()


def delete_index(path: Path) -> None:
    beside(path, "-shm").unlink()


def replace_log(path: Path) -> None:
    delete_log(path)
    beside(path, "-wal").write_bytes(b"")


DAMAGES = [delete, delete_all, replace, replace_all, delete_log, delete_index, replace_log]


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_is_acknowledged_that_goes_nowhere(damage: Callable[[Path], None], place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "before")
        damage(place)
        there = place.read_bytes() if place.exists() else None
        for _ in range(2):
            with pytest.raises(ReplacedFileError) as caught:
                memory.record_turn("s", "user", "into nothing")
            assert str(place) in caught.value.message
            assert "Nothing was written" in caught.value.hint
        with pytest.raises(ReplacedFileError):
            memory.backups.make()
        assert memory.view.count("kind:episode") == 1, "what was read before can still be looked at"
    if damage not in (delete_log, delete_index):
        assert (place.read_bytes() if place.exists() else None) == there, "closing left the new file alone"


@pytest.mark.parametrize("damage", [replace, replace_all])
def test_reopen_goes_on_with_the_new_file(damage: Callable[[Path], None], place: Path) -> None:
    heard: list[frozenset[str]] = []
    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "before")
        memory.subscribe("changed", lambda changes: heard.append(changes.tables))
        damage(place)
        if damage is replace:  # a log of the old file beside the new one: SQLite ignores or refuses it
            for suffix in ("-wal", "-shm"):
                beside(place, suffix).unlink()
        memory.reopen()
        assert "*" in heard[-1]
        memory.record_turn("s", "user", "after")
        assert {one.content for one in memory.view.page()} == {"from the other file", "after"}
        assert memory.files.check(deep=True).ok


@pytest.mark.parametrize("damage", [delete_log, delete_index])
def test_what_was_acknowledged_survives_the_loss_of_the_log(
    damage: Callable[[Path], None], place: Path
) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "before")
        damage(place)
        memory.on_current_file(lambda: memory.record_turn("s", "user", "after"))
        assert memory.view.count("kind:episode") == 2
        assert memory.files.check(deep=True).ok
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.view.count("kind:episode") == 2


def test_the_log_is_not_saved_by_a_connection_that_somebody_else_writes_with(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory, ThreadPoolExecutor(1) as other:
        memory.record_turn("s", "user", "before")
        connections = memory._core.connections
        with connections.exclusive():
            delete_log(place)
            there = place.read_bytes()
            with pytest.raises(ReplacedFileError):
                other.submit(connections.refuse_replaced).result(60)
            assert place.read_bytes() == there
        with pytest.raises(ReplacedFileError):
            other.submit(connections.refuse_replaced).result(60)
        assert place.read_bytes() != there


def test_a_file_that_is_gone_is_not_begun_anew(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "before")
        copy = place.with_name("copy.db")
        with memory._core.connections.exclusive() as writer:
            writer.execute("VACUUM INTO ?", (str(copy),))
        delete_all(place)
        with pytest.raises(StoreError, match="There is no memory"):
            memory.reopen()
        assert not place.exists()
        with pytest.raises(ReplacedFileError, match="could not be opened"):
            memory.record_turn("s", "user", "into nothing")
        with pytest.raises(ReplacedFileError):
            memory.stats()
        shutil.move(copy, place)
        memory.reopen()
        memory.record_turn("s", "user", "after")
        assert memory.view.count("kind:episode") == 2


@pytest.mark.parametrize(("name", "error"), [("\ud800.db", InputError), ("n" * 300 + ".db", StoreError)])
def test_a_path_that_no_file_can_have_is_refused_in_words(
    name: str, error: type[Exception], place: Path
) -> None:
    with pytest.raises(error) as caught:
        Memory.open(place.with_name(name), options=OPTIONS)
    assert "path" in str(caught.value) or "cannot be used" in str(caught.value)


def test_a_write_that_was_under_way_is_not_acknowledged(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        with (
            pytest.raises(ReplacedFileError, match="replaced") as caught,
            memory._core.connections.write() as connection,
        ):
            connection.execute("INSERT INTO memory_metadata(key, value) VALUES ('a', 'b')")
            replace(place)
        assert "make it again" in caught.value.hint


def test_an_agents_tool_goes_on_with_the_new_file(place: Path) -> None:
    with Memory.open(place, actor="agent:a", options=OPTIONS) as memory:
        box = Toolbox.of(memory)
        assert box.call("record_turn", {"session_id": "s", "role": "user", "content": "one"}).ok
        replace_all(place)
        assert "from the other file" in box.call("search_memory", {"query": "other file"}).text
        replace_all(place)
        assert box.call("record_turn", {"session_id": "s", "role": "user", "content": "two"}).ok
        assert {one.content for one in memory.view.page()} == {"from the other file", "two"}
        delete_all(place)
        answer = box.call("record_turn", {"session_id": "s", "role": "user", "content": "three"})
        assert not answer.ok
        assert "no memory at" in answer.text
