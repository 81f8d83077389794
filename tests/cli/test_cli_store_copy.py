"""--db with a store of another program: a read-only copy that is thrown away, in the commands and in the app."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.cli.invocation import Invocation
from memtui.cli.open_app import make_app
from memtui.cli.store_copy import foreign_store
from memtui.engine.errors import InputError
from memtui.ui.actions import ACTIONS

import foreign_stores
from foreign_stores import CLAUDE_MEM, KNOWN, Known, beside, store


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made."""
    import tempfile

    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def test_commands_read_a_copy_of_the_store_and_leave_nothing(
    cli: Cli, home: Path, tmp_path: Path, scratch: Path
) -> None:
    path = foreign_stores.claude_mem(tmp_path / "store" / "claude-mem.db")
    before, hashed = beside(path), hashlib.sha256(path.read_bytes()).digest()
    found = cli("search", "heater fahrenheit", "--db", path, "--json")
    assert found.code == 0
    assert "Fahrenheit" in found.json["hits"][0]["memory"]["content"]
    assert "read-only copy of claude-mem.db, a store of claude-mem (4 records of it left out)" in found.err
    assert f"import {path}" in found.err
    assert cli("--db", path, "stats", "--json").json["active"] == 6
    assert "Fix the heater" in cli("sessions", "--db", path).out
    for line in (
        ["remember", "hi"],
        ["forget", found.json["hits"][0]["memory"]["id"]],
        ["import", path],
        ["mcp"],
        ["connect", "codex"],
        ["maintain", "--job", "decay"],
        ["undo"],
    ):
        refused = cli(*line, "--db", path)
        assert refused.code == 4, line
        assert "is a store of claude-mem: memtui only reads it." in refused.err, line
        assert f"import {path}" in refused.err, line
    assert (beside(path), hashlib.sha256(path.read_bytes()).digest()) == (before, hashed)
    assert not list(scratch.iterdir())
    assert not (home / "memory.db").exists()


async def test_the_app_shows_whose_store_it_is_and_refuses_changes_with_the_way(
    home: Path, tmp_path: Path, scratch: Path
) -> None:
    path = foreign_stores.engram(tmp_path / "store" / "engram.db")
    failures: list[Exception] = []
    with ExitStack() as kept:
        app = make_app(Invocation(db=str(path)), kept, failures)  # type: ignore[arg-type]
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.pause()
            while app.operations.memory is None:
                await pilot.pause(0.05)
            assert app.memory_name == "engram · read-only copy"
            assert app.readonly
            refusal = app.permissions.unchangeable
            assert refusal.startswith(
                "This is a read-only copy of engram.db, a store of engram. To keep it: "
            )
            assert f"import {path}" in refusal
            assert {app.app_unavailable_reason(one) for one in ACTIONS if one.changes} == {refusal}
        assert list(scratch.iterdir())
    assert not list(scratch.iterdir())


def test_what_is_a_store_and_what_is_not(tmp_path: Path) -> None:
    """A memory of memtui, whatever its name, is opened as one; other files have the errors that they had."""
    with Memory.open(tmp_path / "own.db") as memory:
        memory.remember("Ada lives in Porto")
    assert foreign_store(tmp_path / "own.db") is None
    assert foreign_store(tmp_path / "missing.db") is None
    (tmp_path / "empty.db").touch()
    assert foreign_store(tmp_path / "empty.db") is None
    assert foreign_store(store(tmp_path / "unknown.db", "CREATE TABLE t (a)")) is None
    lost = tmp_path / "lost.db"
    lost.write_bytes((tmp_path / "own.db").read_bytes().replace(b"memt", b"\0\0\0\0", 1))
    assert foreign_store(lost) is None
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A note\n\nOf something.\n")
    assert foreign_store(tmp_path / "notes") is None
    talk = tmp_path / "talks" / "a.jsonl"
    talk.parent.mkdir()
    talk.write_text('{"session_id": "s", "role": "user", "content": "Hello"}\n')
    found = [foreign_store(place) for place in (talk, talk.parent)]
    assert [one and one.title for one in found] == ["JSONL · read-only copy"] * 2
    with pytest.raises(InputError, match="newer claude-mem"):
        foreign_store(
            store(
                tmp_path / "newer.db",
                CLAUDE_MEM + "INSERT INTO schema_versions (version, applied_at) VALUES (50, '')",
            )
        )


@pytest.mark.parametrize("known", KNOWN, ids=[one.label for one in KNOWN])
def test_a_row_of_the_table_in_the_guide_is_true(
    cli: Cli, home: Path, tmp_path: Path, scratch: Path, known: Known
) -> None:
    """Found where it says, looked at without importing, imported in that format; and both show the same memories."""
    path = known.make(home / (known.found or "a file") / known.made)
    if known.found is not None:
        (found,) = cli("import", "--discover", "--json").json
        assert found["format"] == known.format and Path(found["path"]) in (
            path,
            *path.parents,
            path / "message",
        )
        assert (found["problem"], found["new_turns"], found["exact"]) == ("", found["turns"], True)
        assert found["turns"] > 0
    looked = cli("stats", "--db", path, "--json")
    assert looked.code == 0 and "read-only copy" in looked.err
    assert not (home / "memory.db").exists()
    report = cli("import", path, "--json").json
    assert report["formats"] == [known.format]
    assert cli("stats", "--json").json["active"] == looked.json["active"] > 0
    assert cli("import", path, "--json").json["imported"] == 0
