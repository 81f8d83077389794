"""Files and places that are no good: refused with cause and next step, and left as they are, byte for byte.

Must fail on: creating a new memory where the old one cannot be read.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from memtui import Memory, paths
from memtui.engine.errors import (
    CorruptFileError,
    ForeignFileError,
    InputError,
    MemtuiError,
    NewerFileError,
    ReadOnlyError,
    StoreError,
    UnsafePlaceError,
)
from memtui.engine.records import Options
from memtui.engine.store import file as store_file

from state_hash import all_rids

pytestmark = pytest.mark.badfiles

ROOT = Path(__file__).parents[2]
OPTIONS = Options(background=False, embedder="off")
PAGE = 4096


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of some pages, closed (so there is no log beside it)."""
    path = tmp_path_factory.mktemp("good") / "memory.db"
    with Memory.open(path, options=OPTIONS) as memory:
        for number in range(120):
            memory.record_turn(
                f"session {number % 6}", "user", f"turn {number}: the ferry leaves at nine " * 8
            )
        memory.correct(memory.remember("Ada lives in Porto").id, "Ada lives in Lisbon")
    return path


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    shutil.copyfile(good, path)
    path.chmod(0o600)
    return path


def everything(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a folder with its mode and content (the shared memory file aside)."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


def refusal(path: Path | str, *, readonly: bool = False) -> MemtuiError:
    """The error on opening, which must be a good one."""
    with pytest.raises(MemtuiError) as caught:
        Memory.open(path, readonly=readonly, options=OPTIONS).close()
    error = caught.value
    assert error.exit_code == (3 if isinstance(error, InputError) else 4)
    assert error.message.endswith(".") and error.hint.endswith(".")
    assert "Error" not in error.message, "a message for people"
    return error


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def a_text_file(path: Path) -> None:
    write(path, b"Dear diary, today I met Grace at the harbour.\n" * 200)


def an_empty_file(path: Path) -> None:
    write(path, b"")


def a_zeroed_file(path: Path) -> None:
    write(path, bytes(40 * PAGE))


def a_truncated_header(path: Path) -> None:
    write(path, b"SQLite format 3\0" + bytes(20))


def another_programs_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs(title TEXT)")
    connection.execute("INSERT INTO songs VALUES ('La Mer')")
    connection.commit()
    connection.close()


def another_programs_memory(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE memories(id TEXT PRIMARY KEY, content TEXT)")
    connection.execute("CREATE VIRTUAL TABLE memories_fts USING fts5(content)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("readonly", [False, True], ids=["writing", "reading"])
@pytest.mark.parametrize(
    "make",
    [
        a_text_file,
        an_empty_file,
        a_zeroed_file,
        a_truncated_header,
        another_programs_database,
        another_programs_memory,
    ],
)
def test_what_is_not_a_memory_is_refused_untouched(
    make: Callable[[Path], None], readonly: bool, place: Path
) -> None:
    make(place)
    before = everything(place.parent)
    error = refusal(place, readonly=readonly)
    assert isinstance(error, ForeignFileError)
    assert str(place) in error.message
    assert everything(place.parent) == before


def test_another_programs_memory_is_offered_for_import(place: Path) -> None:
    another_programs_memory(place)
    assert "import" in refusal(place).hint


@pytest.mark.parametrize("kept", [1, 512, PAGE, 3 * PAGE, 0.5, 0.9])
def test_a_truncated_memory_is_never_mistaken_for_a_whole_one(kept: float, copy: Path) -> None:
    whole = copy.read_bytes()
    write(copy, whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
    refused_or_found(copy)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits_are_refused_or_found_by_the_check(seed: int, copy: Path) -> None:
    dice = random.Random(seed)
    content = bytearray(copy.read_bytes())
    for _ in range(24):
        content[dice.randrange(100 if seed % 3 else 0, len(content))] ^= 1 << dice.randrange(8)
    write(copy, bytes(content))
    refused_or_found(copy, found=False)


@pytest.mark.parametrize("page", [1, 2, 5, 9, 14])
def test_a_zeroed_page_is_refused_or_found_by_the_check(page: int, copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    write(copy, bytes(content))
    refused_or_found(copy)


def test_a_text_that_is_no_utf8_is_found_and_told(copy: Path) -> None:
    with Memory.open(copy, options=OPTIONS) as memory:
        with memory._core.connections.write() as connection:
            connection.execute("UPDATE memories SET content = CAST(x'41ee20' AS TEXT)")
        assert any("no UTF-8" in one.message for one in memory.files.check(deep=True).findings)
        with pytest.raises(CorruptFileError, match=r"A text in .* is damaged"):
            memory.view.rows(all_rids(memory, "kind:episode"))


def refused_or_found(path: Path, *, found: bool = True) -> None:
    """Opening and looking raise nothing but our own errors; what opens keeps its turns or fails its check."""
    before = path.read_bytes()
    try:
        with Memory.open(path, readonly=True, options=OPTIONS) as memory:
            report = memory.files.check(deep=True)
            if found:
                assert not report.ok
            memory.view.count()
            memory.view.rows(all_rids(memory, "kind:episode"))
    except StoreError as error:
        assert error.hint
    assert path.read_bytes() == before
    try:
        with Memory.open(path, options=OPTIONS) as memory:
            memory.files.check(deep=True)
    except StoreError as error:
        assert error.hint
    else:
        return
    assert path.read_bytes() == before, "a refused file was changed"


def test_a_newer_file_is_refused_for_writing_and_shown_for_reading(copy: Path) -> None:
    connection = apsw.Connection(str(copy))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = everything(copy.parent)
    error = refusal(copy)
    assert isinstance(error, NewerFileError)
    assert "--readonly" in error.hint
    assert everything(copy.parent) == before
    with Memory.open(copy, readonly=True, options=OPTIONS) as memory:
        assert memory.view.count("kind:episode") == 120
        with pytest.raises(ReadOnlyError):
            memory.remember("no")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "folder" in refusal(tmp_path).message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no fifos here")
def test_a_fifo_is_refused_without_waiting_for_it(place: Path) -> None:
    os.mkfifo(place, 0o600)
    started = time.monotonic()
    assert "not a regular file" in refusal(place).message
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("path", ["\0", "memory\0.db", "/tmp/a\0b/memory.db"])
def test_a_path_with_a_nul_is_refused(path: str) -> None:
    assert "NUL" in refusal(path).message


def test_a_file_where_a_folder_should_be_is_refused(tmp_path: Path) -> None:
    a_text_file(tmp_path / "notes")
    before = everything(tmp_path)
    refusal(tmp_path / "notes" / "memory.db")
    assert everything(tmp_path) == before


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    refusal(tmp_path / ("m" * 300))
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_memory_opens_that_memory(copy: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(copy)
    with Memory.open(link, options=OPTIONS) as memory:
        assert memory.view.count("kind:episode") == 120
        assert memory.path == copy
        memory.remember("said through the link")
    assert [path.name for path in link.parent.iterdir()] == ["link.db"], "the log belongs beside the file"


def test_a_dangling_link_creates_nothing_where_it_points(tmp_path: Path) -> None:
    link = tmp_path / "memory.db"
    link.symlink_to(tmp_path / "nowhere" / "memory.db")
    refusal(link)
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]
    assert link.is_symlink()


def test_reading_what_is_not_there_creates_nothing(tmp_path: Path) -> None:
    assert "no memory" in refusal(tmp_path / "memory.db", readonly=True).message
    assert list(tmp_path.iterdir()) == []


def with_a_log(good: Path, path: Path) -> None:
    """A memory whose last turns are only in its log, as a killed program leaves it."""
    shutil.copyfile(good, path)
    path.chmod(0o600)
    code = (
        "import os, sys; from memtui import Memory; from memtui.engine.records import Options\n"
        "m = Memory.open(sys.argv[1], options=Options(background=False, embedder='off', allow_unsafe_fs=True))\n"
        "m.record_turn('late', 'user', 'only in the log'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=ROOT)


def test_a_log_left_by_a_killed_program_is_read(good: Path, place: Path) -> None:
    with_a_log(good, place)
    assert place.with_name("memory.db-wal").stat().st_size
    with Memory.open(place, readonly=True, options=OPTIONS) as memory:
        assert memory.view.count("only") == 1
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.view.count("only") == 1


def test_a_file_that_is_refused_keeps_its_log(good: Path, place: Path) -> None:
    with_a_log(good, place)
    connection = apsw.Connection(str(place))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = everything(place.parent)
    assert isinstance(refusal(place), NewerFileError)
    assert everything(place.parent) == before


def test_a_log_of_another_file_never_changes_this_one(good: Path, place: Path, tmp_path: Path) -> None:
    """A restored copy beside the log of the file it replaced: refused, or opened as a sound state."""
    other = tmp_path / "other" / "memory.db"
    other.parent.mkdir()
    with Memory.open(other, options=OPTIONS) as memory:
        for number in range(300):
            memory.record_turn("other", "user", f"another life {number} " * 20)
    with_a_log(other, place)
    shutil.copyfile(good, place)
    log = place.with_name("memory.db-wal")
    os.utime(log, (time.time() - 3_600, time.time() - 3_600))
    before = everything(place.parent)
    try:
        with Memory.open(place, options=OPTIONS) as memory:
            report = memory.files.check(deep=True)
            assert report.ok, report.findings
    except CorruptFileError as error:
        assert "log" in error.message
        assert everything(place.parent) == before


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_files_that_may_not_be_read_or_written_are_named(good: Path, tmp_path: Path) -> None:
    """As a user without rights: root may do anything, so a child gives its rights up."""
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("running as root, and setpriv is not here to become somebody else")
    shown = tmp_path / "shown"
    shutil.copytree(good.parent, shown / "readonly")
    shutil.copytree(good.parent, shown / "secret")
    (shown / "locked").mkdir()
    for path, mode in (
        (shown / "readonly/memory.db", 0o444), (shown / "readonly", 0o555), (shown / "secret/memory.db", 0o000),
        (shown / "secret", 0o755), (shown / "locked", 0o000), (shown, 0o755),
    ):  # fmt: skip
        path.chmod(mode)
    try:
        for parent in [shown, *shown.parents]:
            if parent.stat().st_uid == os.getuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o055)
        before = {path.name: path.stat().st_mtime_ns for path in shown.rglob("memory.db")}
        code = """
import sys
from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Options
for path, readonly in (("readonly", False), ("readonly", True), ("secret", False), ("locked", False)):
    try:
        with Memory.open(f"{sys.argv[1]}/{path}/memory.db", readonly=readonly,
                         options=Options(background=False, embedder="off")) as memory:
            print("opened", memory.view.count("kind:episode"))
    except MemtuiError as error:
        print(type(error).__name__, error.exit_code, bool(error.message and error.hint))
"""
        nobody = (
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
            if os.getuid() == 0
            else []
        )
        done = subprocess.run(
            [*nobody, sys.executable, "-c", code, str(shown)],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        if "Permission denied" in done.stderr and "memtui" not in done.stdout:
            pytest.skip("the other user may not read this project")
        assert done.stdout.splitlines() == [
            "ReadOnlyError 4 True", "opened 120", "StoreError 4 True", "StoreError 4 True",
        ], done.stderr  # fmt: skip
        assert {path.name: path.stat().st_mtime_ns for path in shown.rglob("memory.db")} == before
    finally:
        for path in (shown / "locked", shown / "readonly", shown / "secret"):
            path.chmod(0o700)


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p", "cifs"])
def test_a_network_place_is_refused_and_can_be_insisted_on(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "filesystem_of", lambda path: kind)
    error = refusal(tmp_path / "memory.db")
    assert isinstance(error, UnsafePlaceError)
    assert kind in error.message
    assert "--allow-unsafe-fs" in error.hint
    assert list(tmp_path.iterdir()) == []
    Memory.open(tmp_path / "memory.db", options=Options(background=False, allow_unsafe_fs=True)).close()


def test_a_cloud_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "Dropbox" / "notes"
    folder.mkdir(parents=True)
    assert "Dropbox" in refusal(folder / "memory.db").message
    assert list(folder.iterdir()) == []


def test_the_harness_catches_creating_when_unreadable(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create_when_unreadable(path: Path, *, readonly: bool) -> None:
        path.unlink()
        store_file._create_file(path)

    monkeypatch.setattr(store_file, "_refuse_unusable", create_when_unreadable)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_what_is_not_a_memory_is_refused_untouched(a_text_file, False, place)
