"""Options and fixtures for all tests. ``--full`` runs the harnesses at their whole size."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck
from memtui import log
from memtui.engine.importers import probe
from memtui.engine.models import endpoint_embedder
from memtui.engine.store import file as store_file
from memtui.engine.store.connections import Connections

hypothesis.settings.register_profile(
    "quick", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
hypothesis.settings.register_profile(
    "full", deadline=None, suppress_health_check=list(HealthCheck), max_examples=1_000
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="run the harnesses at their whole size, not at a tenth of it"
    )


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "quick")
    for size in (
        "COLUMNS",
        "LINES",
    ):  # pytest-xdist sets them; programs would believe them, not their terminal
        os.environ.pop(size, None)
    _keep_bytecode()
    os.environ["TZ"] = "UTC"  # days begin and jobs are due at the same hour on every machine
    if hasattr(time, "tzset"):
        time.tzset()


_LONGEST_ID = 200


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A text of a megabyte is no name: it would go to every worker, and into the environment of every program."""
    if isinstance(val, str | bytes) and len(val) > _LONGEST_ID:
        return f"{argname} of {len(val)}"
    return None


_BYTECODE = "PYTHONPYCACHEPREFIX"


def _keep_bytecode() -> None:
    """Programs that tests start share what is compiled: else each compiles all that it imports, for a second."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if _BYTECODE not in os.environ:  # the workers of pytest-xdist have that of the one who started them
        folder = tempfile.mkdtemp(prefix="memtui-tests-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[_BYTECODE] = folder
        with suppress(OSError):  # where no links can be made, they are compiled
            _link_installed(Path(folder))
    sys.pycache_prefix = os.environ[_BYTECODE]
    sys.dont_write_bytecode = False


def _link_installed(folder: Path) -> None:
    """What is compiled already, of Python and of packages, is not compiled again."""
    for place in dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")):
        for here, folders, files in os.walk(place):
            if here.endswith("__pycache__"):
                there = folder / Path(here).parent.relative_to(Path(here).anchor)
                there.mkdir(parents=True, exist_ok=True)
                for name in files:
                    if name.endswith(f".{sys.implementation.cache_tag}.pyc"):
                        os.symlink(f"{here}/{name}", there / name)  # noqa: PTH211 - a path object for each costs more
            elif here == place and "site-packages" in folders and place == sysconfig.get_path("stdlib"):
                folders.remove("site-packages")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The whole suite runs on up to four cores; tests that are picked by hand run in this process."""
    return min(os.cpu_count() or 1, 4) if config.args == config.getini("testpaths") else 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--full`` what is marked ``long`` is left out: the same with another size stays in."""
    if config.getoption("--full"):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def sized(full: bool) -> Callable[[int], int]:
    """The size of a harness: the whole with ``--full``, else a tenth."""
    return lambda whole: whole if full else max(1, whole // 10)


@pytest.fixture(autouse=True)
def no_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person is not kept waiting; a slow machine that runs tests is waited for."""
    monkeypatch.setattr(endpoint_embedder, "QUERY_SECONDS", 60.0)
    monkeypatch.setattr(probe, "PROBE_SECONDS", 60.0)


@pytest.fixture(autouse=True)
def no_log_file_goes_on() -> Iterator[None]:
    """A log that one test began would take what the next one expects to see."""
    yield
    log.stop()


@pytest.fixture(scope="session", autouse=True)
def no_stray_database() -> Iterator[None]:
    """A parameter called ``place`` hides the fixture below, and the memory of the test lands where pytest was started."""
    before = set(_databases())
    yield
    assert not set(_databases()) - before, "a test left a database outside of its own folder"


def _databases() -> Iterator[Path]:
    for path in Path.cwd().iterdir():
        if path.is_file():
            with path.open("rb") as file:
                if file.read(15) == b"SQLite format 3":
                    yield path


# They are about how a file is made, so each of theirs is.
_BUILD_EACH = (
    "engine/store/",
    "harness/test_badfiles.py",
    "harness/test_contention.py",
    "harness/test_diskfull.py",
    "harness/test_drill.py",
    "harness/test_kill9.py",
    "harness/test_other_programs.py",
    "harness/test_powerloss.py",
    "harness/test_repair.py",
    "harness/test_way_back.py",
)


class EmptyMemory:
    """An empty memory that memtui built once, given out as copies with values of their own where a new file has them."""

    OWN = ("file_id", "erase_salt", "created_at")

    def __init__(self, folder: Path) -> None:
        built = folder / "empty.db"
        built.touch()
        store_file._build_empty_file(built)
        with closing(sqlite3.connect(built)) as connection:
            rows = dict(connection.execute("SELECT key, value FROM memory_metadata"))
        self._own = [rows[name].encode() for name in self.OWN]
        self._bytes = built.read_bytes()
        assert all(self._bytes.count(value) == 1 for value in self._own)

    def build(self, path: Path) -> None:
        path.write_bytes(self._copy())

    def open(self) -> Connections:
        """In the place of one that is only in memory."""
        content = bytearray(self._copy())
        content[18:20] = b"\1\1"  # no write-ahead log
        connections = Connections(None)
        with connections.exclusive() as writer:
            writer.deserialize("main", bytes(content))
        return connections

    def _copy(self) -> bytes:
        given = os.urandom(16).hex(), os.urandom(16).hex(), str(int(time.time()))
        content = self._bytes
        for value, new in zip(self._own, given, strict=True):
            content = content.replace(value, new.encode())
        return content


@pytest.fixture(scope="session")
def empty_memory(tmp_path_factory: pytest.TempPathFactory) -> EmptyMemory:
    return EmptyMemory(tmp_path_factory.mktemp("empty"))


@pytest.fixture(autouse=True)
def files_are_copied(
    request: pytest.FixtureRequest, empty_memory: EmptyMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making the tables of a new file costs more than most tests do with it."""
    file = request.path.relative_to(Path(__file__).parent).as_posix()
    if not file.startswith(_BUILD_EACH):
        monkeypatch.setattr(store_file, "_build_empty_file", empty_memory.build)
        monkeypatch.setattr(store_file, "_open_in_memory", empty_memory.open)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a test keeps its memory file; it is not there yet."""
    return tmp_path / "memory.db"
