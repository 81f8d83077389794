"""Options and fixtures for all tests. ``--full`` runs the harnesses at their whole size."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck
from memtui import log
from memtui.engine.importers import probe
from memtui.engine.models import endpoint_embedder

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
    os.environ["TZ"] = "UTC"  # days begin and jobs are due at the same hour on every machine
    if hasattr(time, "tzset"):
        time.tzset()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The whole suite runs on up to four cores; tests that are picked by hand run in this process."""
    return min(os.cpu_count() or 1, 4) if config.args == config.getini("testpaths") else 0


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
    monkeypatch.setattr(probe, "SECONDS", 60.0)


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


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a test keeps its memory file; it is not there yet."""
    return tmp_path / "memory.db"
