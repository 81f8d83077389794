"""Sessions of the Agents SDK by the URL of a database: read through SQLAlchemy, and no password anywhere."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.importers import database_urls
from memtui.engine.records import Options

OFF = Options(embedder="off", background=False)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=OFF) as opened:
        yield opened


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A file as ``SQLAlchemySession`` makes it, under tables of its own names."""
    path = tmp_path / "agents.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute(
            "CREATE TABLE my_messages(id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT, created_at TIMESTAMP)"
        )
        for number in range(1200):
            said = json.dumps({"role": "user", "content": f"turn {number}"})
            connection.execute(
                "INSERT INTO my_messages VALUES (?, 's', ?, '2026-03-04 10:15:30.250000')", (number, said)
            )
        connection.execute("CREATE TABLE other(id INTEGER)")
    return path


def test_a_url_of_an_sqlite_file_is_that_file(memory: Memory, sessions: Path) -> None:
    report = memory.files.import_paths([f"sqlite+aiosqlite:///{sessions}"])
    assert report.imported == 1200
    assert memory.files.import_paths([sessions]).imported == 0


def test_any_database_is_read_through_sqlalchemy_and_its_copy_is_gone(
    memory: Memory, sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlalchemy")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("AGENTS_DB_URL", f"sqlite+pysqlite:///{sessions}")
    report = memory.files.import_paths(["env:AGENTS_DB_URL"])
    assert (report.imported, report.formats) == (1200, ("openai-agents",))
    assert list((tmp_path / "temporary").iterdir()) == []
    assert memory.files.import_paths([sessions]).imported == 0  # the same turns, whichever way they come


def test_a_database_without_sessions_says_so(memory: Memory, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(InputError, match="No table"):
        memory.files.import_paths([f"sqlite+pysqlite:///{tmp_path}/empty.db"])


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hunter2@127.0.0.1:1/agents",
        "postgresql+asyncpg://ada:hunter2@127.0.0.1:1/agents?password=hunter2",
        "nosuch://ada:hunter2@host/x",
        "sqlite+pysqlite:////nowhere/ada:hunter2/x.db",
        "mysql://ada:hunter2@[broken/x",
    ],
)
def test_no_error_tells_a_password(memory: Memory, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTS_DB_URL", url)
    for named in (url, "env:AGENTS_DB_URL"):
        with pytest.raises(MemtuiError) as raised:
            memory.files.import_paths([named])
        assert "hunter2" not in f"{raised.value.message} {raised.value.hint} {raised.value!r}"
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__


def test_a_variable_that_is_not_set_is_named(memory: Memory) -> None:
    with pytest.raises(InputError, match="NO_SUCH_THING"):
        memory.files.import_paths(["env:NO_SUCH_THING"])


@pytest.mark.parametrize(
    ("place", "url"),
    [("postgresql://h/x", True), ("env:X", True), ("C:/x", False), ("/a://b", False), ("a.zip", False)],
)
def test_paths_are_told_from_urls(place: str, url: bool) -> None:
    assert database_urls.is_url(place) is url
