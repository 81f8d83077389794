"""A backup in the place of a memory that cannot be used: beside open programs, killed in between, and what stays erased."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import CorruptFileError, InputError, NotFoundError, ReplacedFileError, StoreError
from memtui.engine.records import Options
from memtui.engine.store import file_replacement, tombstones

OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def backed_up(place: Path) -> Path:
    """A memory with one fact in its backup and one more after it."""
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("one")
        memory.backups.make()
        memory.remember("two")
    return place


def texts(path: Path) -> set[str]:
    with Memory.open(path, options=OPTIONS) as memory:
        assert memory.files.check(deep=True).ok
        return {one.content for one in memory.view.page()}


def drop_a_table(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys = OFF; DROP TABLE entities")
    connection.close()


def test_a_memory_that_is_gone_comes_back_from_its_backup(backed_up: Path) -> None:
    backed_up.unlink()
    rescue = Memory.rescue(backed_up)
    problem = rescue.find_problem()
    assert problem is not None and "There is no memory" in problem.message
    ((one, held),) = rescue.backups()
    assert held.counts["fact"] == 1
    done = rescue.restore("latest")
    assert (done.restored, done.aside) == (one.path, ())
    assert texts(backed_up) == {"one"}
    assert rescue.find_problem() is None


def test_the_backup_is_checked_before_anything_is_set_aside(backed_up: Path) -> None:
    ((one, _),) = Memory.rescue(backed_up).backups()
    content = one.path.read_bytes()
    one.path.write_bytes(content[: len(content) // 2])
    before = backed_up.read_bytes()
    with pytest.raises(Exception, match=r"backup .* is damaged"):
        Memory.rescue(backed_up).restore(one.path)
    with pytest.raises(NotFoundError):
        Memory.rescue(backed_up).restore("2")
    with pytest.raises(InputError, match="memory itself"):
        Memory.rescue(backed_up).restore(backed_up)
    assert backed_up.read_bytes() == before
    assert not file_replacement.places_aside(backed_up)


def test_an_open_memory_that_is_damaged_restores_itself(backed_up: Path) -> None:
    with Memory.open(backed_up, options=OPTIONS) as memory:
        drop_a_table(backed_up)
        done = memory.backups.restore("latest")
        assert done.before is None
        assert done.aside[0].name.startswith("memory.set-aside-")
        assert {one.content for one in memory.view.page()} == {"one"}
        memory.remember("three")
        with pytest.raises(InputError, match="only another restore") as caught:
            memory.undo(done.operation.op_id)
        assert f"it is in {done.aside[0].name}" in caught.value.hint
        assert memory.files.check(deep=True).ok


def test_a_program_that_has_the_file_open_notices(backed_up: Path) -> None:
    with Memory.open(backed_up, options=OPTIONS) as other:
        done = Memory.rescue(backed_up).restore("latest")
        with pytest.raises(ReplacedFileError):
            other.remember("into the file that was set aside")
        other.on_current_file(lambda: other.remember("three"))
    assert texts(backed_up) == {"one", "three"}
    assert texts(done.aside[0]) == {"one", "two"}


def test_what_was_erased_stays_erased_where_the_old_file_can_be_read(backed_up: Path) -> None:
    with Memory.open(backed_up, options=OPTIONS) as memory, memory._core.connections.write() as connection:
        connection.execute("INSERT INTO erased_keys(hash) VALUES (?)", (b"hash",))
        salts = tombstones.salts_of(connection)
    drop_a_table(backed_up)
    assert Memory.rescue(backed_up).restore("latest").kept_erased
    with Memory.open(backed_up, options=OPTIONS) as memory, memory._core.connections.read() as connection:
        assert connection.execute("SELECT hash FROM erased_keys").fetchall() == [(b"hash",)]
        assert tombstones.salts_of(connection) == salts
    backed_up.write_bytes(b"no database")
    assert not Memory.rescue(backed_up).restore("latest").kept_erased


STEPS = ("rename", "hardlink_to", "replace", "chmod", "unlink")


class KilledError(BaseException):
    pass


@pytest.mark.parametrize("step", range(12))
def test_a_restore_that_was_killed_is_finished_by_who_opens_the_memory_next(
    step: int, backed_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(backed_up, options=OPTIONS) as memory:
        memory.remember("three")
        log = (backed_up.with_name("memory.db-wal"), backed_up.read_bytes())
        content = log[0].read_bytes()
        copy = backed_up.with_name("kept")
        copy.write_bytes(content)
    # As after a crash: with a log that holds what was said last.
    copy.rename(log[0])
    backed_up.write_bytes(log[1])
    done = 0

    def counted(name: str) -> object:
        plain = getattr(Path, name)

        def call(path: Path, *given: object, **more: object) -> object:
            nonlocal done
            beside = path.parent == backed_up.parent and ".partial" not in path.name
            if beside and file_replacement.was_interrupted(backed_up):
                done += 1
                if done > step:
                    raise KilledError
            return plain(path, *given, **more)

        return call

    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(Path, name, counted(name))
        try:
            Memory.rescue(backed_up).restore("latest")
            killed = False
        except KilledError:
            killed = True
    assert file_replacement.was_interrupted(backed_up) == killed
    assert texts(backed_up) == {"one"}
    assert not file_replacement.was_interrupted(backed_up)
    aside, *logs = file_replacement.places_aside(backed_up)
    assert (aside.read_bytes(), logs[-1].read_bytes()) == (log[1], content)
    assert not [*backed_up.parent.glob("*.new"), *backed_up.parent.glob(".*.new")]


def failing(name: str, path: Path, patched: pytest.MonkeyPatch, *, again: bool) -> None:
    """The disk fails at the first such step of an exchange; at all of them where ``again``."""
    plain = getattr(Path, name)
    left = 1_000 if again else 1

    def call(one: Path, *given: object, **more: object) -> object:
        nonlocal left
        if left and one.parent == path.parent and file_replacement.was_interrupted(path):
            left -= 1
            raise OSError(5, "Input/output error")
        return plain(one, *given, **more)

    patched.setattr(Path, name, call)


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("name", ["rename", "replace", "chmod", "unlink"])
def test_a_restore_that_fails_half_way_leaves_all_as_it_was(
    name: str, linked: bool, backed_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = backed_up.with_name("memory.db-wal")
    log.write_bytes(b"")
    before = backed_up.read_bytes()
    with monkeypatch.context() as patched:
        if not linked:
            patched.setattr(file_replacement, "_name_twice", lambda path, aside: path.rename(aside))
        failing(name, backed_up, patched, again=False)
        with pytest.raises(StoreError, match="Input/output error"):
            Memory.rescue(backed_up).restore("latest")
    assert not file_replacement.was_interrupted(backed_up)
    assert not file_replacement.places_aside(backed_up)
    assert (backed_up.read_bytes(), log.exists()) == (before, True)
    assert not [*backed_up.parent.glob("*.new"), *backed_up.parent.glob(".*.new")]
    assert texts(backed_up) == {"one", "two"}


def test_a_restore_that_cannot_be_taken_back_is_told_and_finished_later(
    backed_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        failing("unlink", backed_up, patched, again=True)
        with pytest.raises(StoreError, match="could not be taken back") as caught:
            Memory.rescue(backed_up).restore("latest")
    assert "opens the memory next finishes" in caught.value.hint
    assert file_replacement.was_interrupted(backed_up)
    assert texts(backed_up) == {"one"}


def test_a_restore_of_an_open_memory_that_fails_is_told_in_words(
    backed_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(backed_up, options=OPTIONS) as memory:
        drop_a_table(backed_up)
        with monkeypatch.context() as patched:
            failing("replace", backed_up, patched, again=False)
            with pytest.raises(StoreError, match="Input/output error"):
                memory.backups.restore("latest")
        assert not file_replacement.was_interrupted(backed_up)
        assert memory.backups.restore("latest").aside


@pytest.mark.parametrize("content", [b"", b"{", b'{"new": "../other", "aside": "a"}', b"\xff"])
def test_a_damaged_plan_is_named_and_a_restore_goes_on(content: bytes, backed_up: Path) -> None:
    plan = backed_up.with_name("memory.db.exchange")
    plan.write_bytes(content)
    with pytest.raises(CorruptFileError, match=r"memory\.db\.exchange, the plan .* is damaged") as caught:
        Memory.open(backed_up, options=OPTIONS)
    assert "Move it away" in caught.value.hint
    rescue = Memory.rescue(backed_up)
    assert isinstance(rescue.find_problem(), CorruptFileError)
    aside = plan.rename(plan.with_name("moved away"))
    assert texts(backed_up) == {"one", "two"}
    aside.rename(plan)
    rescue.restore("latest")
    assert not plan.exists()
    assert texts(backed_up) == {"one"}


def test_an_erase_is_not_proven_while_a_file_that_was_set_aside_has_the_text(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        fact = memory.remember("The walnut allergy of Ada Lovelace is severe")
        memory.backups.make()
    drop_a_table(place)
    (aside, *_) = Memory.rescue(place).restore("latest").aside
    with Memory.open(place, options=OPTIONS) as memory:
        proof = memory.files.erase(memory.files.plan_erase([fact.id]))
        assert not proof.complete
        assert aside.name in " ".join(proof.problems)
