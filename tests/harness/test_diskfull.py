"""No room on the disk, under every action that changes something: nothing is changed, the message says where, how much
is free and what to do, and the same program goes on as soon as there is room.

Must fail on: swallowing ENOSPC.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("limits of POSIX", allow_module_level=True)

from full_disk import FullDisk, no_longer_files, small_disk
from memtui import Memory, paths
from memtui.config.save import write_setting
from memtui.connect import files
from memtui.connect.files import Edit
from memtui.engine.errors import DiskFullError, MemtuiError
from memtui.engine.jobs import reembedding
from memtui.engine.records import EmbeddingOptions, Kind, Options, Profile
from memtui.engine.store import connections as store_connection
from memtui.engine.store import migration
from memtui.engine.store.migration import Migration
from memtui.ui.state import UiState
from msgspec.structs import replace

from endpoint import Endpoint, embed
from state_hash import all_rids, covered_rows

pytestmark = pytest.mark.diskfull

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
Action = Callable[[Memory, Path], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which every action has something to do."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        for number in range(12):
            memory.record_turn(
                "talk", "user", f"I live in Porto and my cat Miso is {number} years old. I prefer tea."
            )
        for text in (
            "Ada lives in Porto",
            "Ada Lovelace lives in Lisbon",
            "Grace keeps the lighthouse of Bergen",
        ):
            memory.remember(text)
        memory.actor = "agent:coach"
        memory.remember("Miso the cat sleeps a lot")
        memory.actor = "person"
        memory.forget(memory.remember("the ferry leaves at nine").id)
        memory.scratchpad.set("plan", "sail")
        lines = [
            {"session_id": "s", "role": "user", "content": f"turn {i} " * 40, "id": str(i)}
            for i in range(300)
        ]
        path.with_name("turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        memory.questions.expect("who keeps the lighthouse", fact(memory, "Grace").id)
    return path


def copy(whole: Path, place: Path) -> None:
    for source, target in ((whole, place), (whole.with_name("turns.jsonl"), place.with_name("turns.jsonl"))):
        target.write_bytes(source.read_bytes())
        target.chmod(0o600)


@pytest.fixture(autouse=True)
def in_one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine would make more of them out of an import, which is another matter (see below)."""
    monkeypatch.setattr("memtui.engine.importers.report.SECONDS_PER_TRANSACTION", 600.0)


@pytest.fixture
def disk(whole: Path, place: Path) -> Iterator[FullDisk]:
    copy(whole, place)
    with small_disk() as disk:
        yield disk


def fact(memory: Memory, word: str, kind: Kind = "fact", trash: bool = False) -> object:
    filter = f"kind:{kind} {word}" + (" is:trash" if trash else "")
    return memory.view.rows(all_rids(memory, filter))[0]


def state(memory: Memory) -> tuple[object, ...]:
    """All that a person would miss. An operation that has begun and changed nothing is not among it."""
    with memory._core.connections.read() as connection:
        return (
            memory.files.content_hash(),
            *covered_rows(connection),
            *connection.execute("SELECT * FROM changes"),
            *connection.execute("SELECT * FROM job_runs WHERE state = 'done'"),
            *connection.execute("SELECT key, value FROM memory_metadata WHERE key NOT IN ('backup_mark')"),
            *connection.execute("SELECT rid, last_accessed FROM memories"),
        )


def entity(memory: Memory, name: str) -> str:
    return memory.entities.get(name).entity.id


def an_import(memory: Memory, folder: Path) -> object:
    return memory.files.import_paths([folder / "turns.jsonl"])


def agent_search(memory: Memory, folder: Path) -> object:
    memory.actor = "agent:coach"
    try:
        return memory.search("lighthouse")
    finally:
        memory.actor = "person"


def agent_change_request(memory: Memory, folder: Path) -> object:
    memory.actor = "agent:coach"
    try:
        return memory.review.request_change("forget", fact(memory, "Grace").id)
    finally:
        memory.actor = "person"


def bulk(memory: Memory, folder: Path) -> object:
    return memory.change_all("tag", all_rids(memory, "kind:episode,fact"), add=["sea"])


def restored(memory: Memory, folder: Path) -> object:
    backups = memory.backups.all()
    return memory.backups.restore(backups[-1].path)


def profile(memory: Memory, folder: Path) -> object:
    return memory.questions.save_profile(Profile(name="mine", keyword=2.0))


def job(name: str) -> Action:
    def run(memory: Memory, folder: Path) -> object:
        run = memory.jobs.run_now(name)
        if run.state == "failed":
            raise DiskFullError(run.error or "", "the run says it")
        return run

    return run


ACTIONS: dict[str, Action] = {
    "record_turn": lambda m, _: m.record_turn("talk", "user", "one more turn " * 50),
    "remember": lambda m, _: m.remember("Grace sails to Bergen"),
    "correct": lambda m, _: m.correct(fact(m, "Grace").id, "Grace left the lighthouse"),
    "confirm": lambda m, _: m.confirm(fact(m, "Miso").id),
    "forget": lambda m, _: m.forget(fact(m, "Grace").id),
    "restore": lambda m, _: m.restore(fact(m, "ferry", trash=True).id),
    "tag": lambda m, _: m.tag(fact(m, "Grace").id, add=["sea"]),
    "bulk tag": bulk,
    "merge": lambda m, _: m.review.merge(fact(m, "Porto").id, [fact(m, "Lisbon").id]),
    "undo": lambda m, _: m.undo(),
    "observe": lambda m, _: m.observations.remember_one("tests are slow", "lesson"),
    "scratchpad": lambda m, _: m.scratchpad.set("plan", "row " * 500),
    "scratchpad delete": lambda m, _: m.scratchpad.delete("plan"),
    "pin": lambda m, _: m.questions.pin("who sails"),
    "questions": lambda m, _: m.questions.run(),
    "profile": profile,
    "rename entity": lambda m, _: m.entities.rename(entity(m, "Miso"), "Misoshiru"),
    "merge entities": lambda m, _: m.entities.merge(entity(m, "Porto"), entity(m, "Lisbon")),
    "unlink": lambda m, _: m.entities.unlink(fact(m, "Grace").id, entity(m, "Bergen")),
    "agent's search": agent_search,
    "agent's wish": agent_change_request,
    "import": an_import,
    "consolidate": lambda m, _: asyncio.run(m.consolidate("talk")),
    "skip session": lambda m, _: m.sessions.skip("talk"),
    "backup": lambda m, _: m.backups.make(),
    "restore backup": restored,
    "take from a backup": lambda m, _: m.backups.restore_memories(m.backups.all()[-1].path),
    "decide": lambda m, _: m.review.decide(m.review.entity_cards()[0], "both"),
    "describe entity": lambda m, _: m.entities.describe(entity(m, "Porto"), "a harbour"),
    "export": lambda m, folder: m.files.export(folder / "out.jsonl", force=True),
    "vault": lambda m, folder: m.files.export(folder / "vault", format="markdown"),
    "repair": lambda m, _: m.files.check(repair=True),
    "decay job": job("decay"),
    "backup job": job("backup"),
    "switch a job off": lambda m, _: m.jobs.enable("decay", False),
}  # fmt: skip
# What they leave is no change of what is remembered.
REPEATABLE = {"questions", "backup", "export", "vault", "repair", "restore backup", "backup job", "decay job"}
# These need something of their own before they can be tried.
BEFORE: dict[str, Action] = {
    "restore backup": lambda m, _: m.backups.make(),
    "take from a backup": lambda m, _: (m.backups.make(), m.forget(fact(m, "sleeps").id)),
    "repair": lambda m, _: _damage(m),
}


def _damage(memory: Memory) -> None:
    with memory._core.connections.write() as connection:
        connection.execute("DELETE FROM memory_links")
        connection.execute("UPDATE entities SET mention_count = 99")


@pytest.mark.parametrize("name", ACTIONS)
def test_without_room_an_action_changes_nothing_says_so_and_works_later(
    name: str, disk: FullDisk, place: Path, whole: Path
) -> None:
    act = ACTIONS[name]
    rehearsed = written(disk, whole, place.with_name("rehearsal"), act, BEFORE.get(name))
    with Memory.open(place, options=OPTIONS) as memory:
        if name in BEFORE:
            BEFORE[name](memory, place.parent)
        before, names = state(memory), listing(place.parent)
        for after in sorted({0, rehearsed // 3, rehearsed * 2 // 3}):
            with disk.full(after):
                error = refused(act, memory, place.parent)
                assert disk.refused or after == 0
                assert memory.view.count("lighthouse") == 1, "reading goes on"
                assert state(memory) == before, (name, after)
            says_where_and_what_next(error, place)
            assert listing(place.parent) == names, "nothing half-made is left"
            assert memory.files.check().ok == (name != "repair")
        act(memory, place.parent)
        assert memory.files.check(deep=True).ok
        if name not in REPEATABLE:
            assert state(memory) != before
        memory.record_turn("later", "user", "and the next one works too")


def written(disk: FullDisk, whole: Path, folder: Path, act: Action, first: Action | None) -> int:
    """How many bytes SQLite writes for the action, tried on a copy."""
    folder.mkdir()
    copy(whole, folder / "memory.db")
    with Memory.open(folder / "memory.db", options=OPTIONS) as memory:
        if first is not None:
            first(memory, folder)
        disk.left = 1 << 40
        act(memory, folder)
        used = (1 << 40) - disk.left
        disk.left = None
    return used


def refused(act: Action, memory: Memory, folder: Path) -> MemtuiError:
    with pytest.raises(DiskFullError) as caught:
        act(memory, folder)
    return caught.value


def says_where_and_what_next(error: MemtuiError, place: Path) -> None:
    assert str(place.parent) in error.message, error.message
    assert "MB free" in error.message, error.message
    assert error.hint.endswith(("again.", "says it")), error.hint


def listing(folder: Path) -> set[str]:
    """The files there; locks and SQLite's own come and go, and a whole backup may stay."""
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(("memory.db-", "memory.db."))
        and not (path.parent.name == "backups" and path.suffix == ".db") and "rehearsal" not in path.parts
    }  # fmt: skip


def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else takes thousands of rows takes several transactions here."""
    monkeypatch.setattr("memtui.engine.memory._ROWS_AT_ONCE", 5)
    monkeypatch.setattr("memtui.engine.memory._ROWS_PER_TRANSACTION", 3)
    monkeypatch.setattr("memtui.engine.store.undo._ROWS_PER_TRANSACTION", 4)
    monkeypatch.setattr("memtui.engine.importers.ingest._TURNS_PER_BATCH", 60)


@pytest.mark.parametrize("name", ["bulk tag", "import"])
def test_what_takes_several_transactions_is_ended_and_taken_back_when_there_is_room(
    name: str, disk: FullDisk, place: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_small_steps(monkeypatch)
    act = ACTIONS[name]
    first: Action = lambda m, _: m.backups.make()  # noqa: E731 - else the import would make one
    rehearsed = written(disk, whole, place.with_name("rehearsal"), act, first)
    with Memory.open(place, options=OPTIONS) as memory:
        first(memory, place.parent)
        start = memory.files.content_hash()
        for after in (rehearsed // 2, rehearsed * 4 // 5):
            with disk.full(after):
                says_where_and_what_next(refused(act, memory, place.parent), place)
                half = memory.files.content_hash()
            undone = memory.undo()
            assert half == start or undone is not None
            with memory._core.connections.read() as connection:
                assert connection.execute("SELECT count(*) FROM ops WHERE state = 'running'").get == 0
            while memory.files.content_hash() != start:
                assert memory.undo() is not None
            assert memory.files.check(deep=True).ok
        act(memory, place.parent)
        assert memory.files.content_hash() != start
        with disk.full(40_000), pytest.raises(DiskFullError):
            memory.undo()
        memory.undo()
        assert memory.files.content_hash() == start
        assert not list(place.parent.glob("memory.db.run-*")), "no lock of an ended operation is left"


def test_an_erase_that_runs_out_of_room_is_finished_later(disk: FullDisk, place: Path, whole: Path) -> None:
    """What is erased is gone at once; the file is made small again, and the backups are rewritten, as far as there is room."""

    def erase(memory: Memory, folder: Path) -> object:
        return memory.files.erase(memory.files.plan_erase([fact(memory, "Grace").id]))

    rehearsed = written(disk, whole, place.with_name("rehearsal"), erase, lambda m, _: m.backups.make())
    with Memory.open(place, options=OPTIONS) as memory:
        memory.backups.make()
        before = state(memory)
        for after in (0, rehearsed // 20):
            with disk.full(after):
                says_where_and_what_next(refused(erase, memory, place.parent), place)
                assert state(memory) == before or memory.files.unfinished_erase() is not None
            if memory.files.unfinished_erase() is not None:
                break
        for after in (0, rehearsed // 3, rehearsed // 2):
            if memory.files.unfinished_erase() is not None:
                with disk.full(after), suppress(DiskFullError):
                    memory.files.resume_erase()
        proof = memory.files.resume_erase() or erase(memory, place.parent)
        assert proof.complete, proof
        assert memory.files.unfinished_erase() is None and memory.files.check(deep=True).ok
    for file in place.parent.rglob("*"):
        assert (
            not file.is_file()
            or "rehearsal" in file.parts
            or b"lighthouse of Bergen" not in file.read_bytes()
        )


def test_vectors_are_made_as_far_as_there_is_room_and_then_the_rest(disk: FullDisk, place: Path) -> None:
    with Memory.open(place, options=Options(background=False, allow_unsafe_fs=True)) as memory:
        before = memory.files.content_hash()
        for after in (0, 20_000):
            with disk.full(after), pytest.raises(DiskFullError):
                memory.models.index_pending()
            assert memory.files.content_hash() == before
            assert memory.files.check(deep=True).ok
        assert memory.models.index_pending() > 0
        assert memory.stats().unembedded == 0


def test_another_model_takes_over_when_there_is_room_and_the_old_one_serves_before(
    disk: FullDisk, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 4)
    plain = Options(background=False, allow_unsafe_fs=True)
    with Memory.open(place, options=plain) as memory:
        memory.models.index_pending()
    with Endpoint(embed).in_thread() as endpoint:
        where = EmbeddingOptions(
            base_url=endpoint.url, model="tiny", key_env="MEMTUI_TEST_NO_KEY", dimensions=32
        )
        with Memory.open(place, options=replace(plain, embedder="endpoint", endpoint=where)) as memory:
            before = memory.files.content_hash()
            refusals, room = 0, 0
            while True:
                try:
                    with disk.full(room):
                        done = memory.models.reembedding.run()
                except DiskFullError as error:
                    says_where_and_what_next(error, place)
                else:
                    break
                assert memory.files.content_hash() == before
                assert memory.files.check(deep=True).ok
                assert not [note for note in memory.search("lighthouse").notes if "without vectors" in note]
                refusals, room = refusals + 1, room + 150_000
            assert done.switched and refusals > 2
            assert memory.stats().vectors_wanted == "" and memory.stats().unembedded == 0
            assert memory.files.check(deep=True).ok


def test_a_memory_is_upgraded_when_there_is_room_and_left_alone_before(
    disk: FullDisk, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migration.load_migrations()
    more = Migration(
        known[-1].version + 1, "moods", "CREATE TABLE moods (x); INSERT INTO moods VALUES (zeroblob(99999))"
    )
    with Memory.open(place, options=OPTIONS) as memory:
        before = memory.files.content_hash()
    monkeypatch.setattr(migration, "load_migrations", lambda: (*known, more))
    for after in (0, 100_000, place.stat().st_size + 50_000):
        with disk.full(after), pytest.raises(DiskFullError) as caught:
            Memory.open(place, options=OPTIONS)
        says_where_and_what_next(caught.value, place)
        assert listing(place.parent) == {"memory.db", "turns.jsonl"}
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.files.content_hash() == before


def test_a_new_memory_is_whole_or_not_there(tmp_path: Path) -> None:
    where = tmp_path / "new" / "memory.db"
    with small_disk() as disk:
        for after in (0, 60_000):
            with disk.full(after), pytest.raises(DiskFullError) as caught:
                Memory.open(where, options=OPTIONS)
            says_where_and_what_next(caught.value, where)
            assert listing(tmp_path) == set()
        with Memory.open(where, options=OPTIONS) as memory:
            assert memory.files.check(deep=True).ok


@pytest.mark.parametrize("name", ["remember", "import", "backup", "restore backup", "export", "repair"])
def test_a_quota_is_no_other_matter(name: str, whole: Path, place: Path) -> None:
    """It arrives as an I/O error, in the middle of a file."""
    copy(whole, place)
    act = ACTIONS[name]
    with Memory.open(place, options=OPTIONS) as memory:
        if name in BEFORE:
            BEFORE[name](memory, place.parent)
        before, names = state(memory), listing(place.parent)
        for limit in (0, 3_000):
            with no_longer_files(limit):
                error = refused(act, memory, place.parent)
                assert state(memory) == before
            says_where_and_what_next(error, place)
            assert listing(place.parent) == names
        act(memory, place.parent)
        assert memory.files.check(deep=True).ok


def test_settings_and_state_keep_what_they_were(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    write_setting(file, "general.theme", "memtui-light")
    before = file.read_text()
    other = tmp_path / "agent.json"
    other.write_text("{}")
    state_file = tmp_path / "state"
    kept = UiState(state_file)
    kept.save()
    edit = Edit(path=other, before="{}", after='{"a": 1}')
    with no_longer_files(0):
        with pytest.raises(DiskFullError) as caught:
            files.write_edit(edit)
        says_where_and_what_next(caught.value, other)
        with pytest.raises(DiskFullError) as caught:
            write_setting(file, "general.theme", "memtui-dark")
        kept.note_checked(tmp_path / "memory.db", 1.0, 0)  # not worth a complaint
    says_where_and_what_next(caught.value, file)
    assert file.read_text() == before
    assert UiState(state_file).last_check(tmp_path / "memory.db") is None
    assert {path.name for path in tmp_path.iterdir()} == {"config.toml", "agent.json", "state"}
    write_setting(file, "general.theme", "memtui-dark")
    assert files.write_edit(edit) is not None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_every_way_of_saying_no_room_is_understood(number: int, tmp_path: Path) -> None:
    error = paths.disk_full_error(OSError(number, os.strerror(number)), tmp_path / "x")
    assert error is not None and str(tmp_path) in error.message
    assert paths.disk_full_error(OSError(errno.EACCES, "no"), tmp_path) is None


def test_the_harness_catches_swallowing_a_full_disk(
    disk: FullDisk, place: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that is given up in silence looks like one that was done."""
    real = store_connection.Connections.write

    def swallowing(self: store_connection.Connections) -> object:
        from contextlib import contextmanager

        @contextmanager
        def quiet() -> Iterator[object]:
            try:
                with real(self) as connection:
                    yield connection
            except DiskFullError:
                pass

        return quiet()

    monkeypatch.setattr(store_connection.Connections, "write", swallowing)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_without_room_an_action_changes_nothing_says_so_and_works_later("tag", disk, place, whole)


_ON_A_FULL_DISK = """
import resource, sys
from memtui.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["search tea", "stats", "--readonly search tea"])
def test_a_command_that_reads_says_what_the_disk_lacks(command: str, tmp_path: Path) -> None:
    """Nobody has the file open: even reading needs the log's index, which cannot be made."""
    where = tmp_path / "memory.db"
    with Memory.open(where, options=OPTIONS) as memory:
        memory.remember("Ada likes tea")
    done = subprocess.run(
        [sys.executable, "-c", _ON_A_FULL_DISK, "--db", str(where), *command.split()],
        capture_output=True, text=True, timeout=300, env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 4, done
    assert "MB free" in done.stderr and "hint:" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and "unexpected" not in done.stderr
    with Memory.open(where, options=OPTIONS) as memory:
        assert memory.view.count("tea") == 1 and memory.files.check(deep=True).ok


def test_an_import_without_room_for_its_links_is_said_to_be_saved(
    disk: FullDisk, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from memtui.cli.import_ import _index_with_progress
    from memtui.cli.progress import ProgressMeter

    with Memory.open(place, options=OPTIONS) as memory:
        memory.files.import_paths(place.with_name("turns.jsonl"))
        with disk.full():
            _index_with_progress(memory, ProgressMeter())
        assert "The import is saved." in capsys.readouterr().err
        assert memory.view.count("kind:episode") >= 300
