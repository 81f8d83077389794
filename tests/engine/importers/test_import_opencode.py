"""opencode: one conversation in its database, in the files of earlier versions, and in an export."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from import_samples import ignored, read
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.known_places import known_sources
from memtui.engine.records import Options
from other_memories import assert_comes_once_and_goes, rows

from foreign_stores import OPENCODE, opencode, opencode_export, opencode_files, store

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")
SAID = [
    ("ses_1", "user", "Why is the heater off?", "user", 1772618400),
    ("ses_1", "assistant", "It reads Fahrenheit.\n\nThe sensor is set wrong.", "agent", 1772618405),
]
LEFT = {"tool call or output": 1, "compaction summary": 1, "taken back in the program": 1}
MAKERS: dict[str, Callable[[Path], Path]] = {
    "opencode.db": opencode,
    "storage": opencode_files,
    "session.json": opencode_export,
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_was_said_is_read_from_each_of_its_places(tmp_path: Path, name: str) -> None:
    path = MAKERS[name](tmp_path / "opencode" / name)
    turns, skips = read(path)
    found = sorted(
        ((one.session_id, one.role, one.content, one.trust, int(one.event_time or 0)) for one in turns),
        key=lambda row: row[4],
    )
    inner = (
        [("opencode:ses_2", "user", "Look for sensors", "agent", 1772618409)] if name == "opencode.db" else []
    )
    assert found == [(f"opencode:{session}", *rest) for session, *rest in SAID] + inner
    assert {(one.project, one.session_title) for one in turns if one.session_id == "opencode:ses_1"} == {
        ("greenhouse", "Heater")
    }
    counts: dict[str, int] = {}
    for skip in skips:
        counts[skip.reason] = counts.get(skip.reason, 0) + 1
    assert counts == LEFT


def test_a_session_that_moved_to_the_database_is_there_already(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        storage = opencode_files(tmp_path / "opencode" / "storage")
        report = memory.files.import_paths([storage])
        assert (report.kinds, report.left_out) == ({"turn": 2}, ())
        assert memory.files.import_paths([opencode(tmp_path / "opencode.db")]).kinds == {"turn": 1}
        assert memory.files.import_paths([opencode_export(tmp_path / "a.json")]).imported == 0
        assert rows(memory, "SELECT count(*) FROM memories") == [(3,)]


def test_a_database_comes_once_and_can_be_taken_back(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        assert_comes_once_and_goes(memory, opencode(tmp_path / "store" / "opencode.db"))


def test_its_places_are_known(tmp_path: Path) -> None:
    opencode_files(tmp_path / ".local" / "share" / "opencode" / "storage")
    opencode(tmp_path / ".local" / "share" / "opencode" / "opencode-dev.db")
    found = known_sources(tmp_path, environ={})
    assert [(one.name, one.path.name, one.files) for one in found] == [
        ("opencode-files", "message", 5),
        ("opencode", "opencode-dev.db", 1),
    ]
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        assert [(one.sessions, one.turns, one.exact) for one in memory.files.probe(found)] == [
            (None, 2, True),
            (None, 3, True),
        ]


def test_damaged_messages_are_counted_and_stop_nothing(tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage")
    (storage / "message" / "ses_1" / "msg_1.json").write_text(
        '{"id": "msg_1", "sessionID": "ses_1", "role": '
    )
    (storage / "part" / "msg_2" / "prt_24.json").write_text("{broken")
    turns, _ = read(storage)
    assert [one.content for one in turns] == ["It reads Fahrenheit."]
    shutil.rmtree(storage / "part")
    assert read(storage / "message" / "ses_1" / "msg_2.json")[1][0].reason == "no text in it"


def test_a_database_of_other_columns_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a store of opencode in an unknown version"):
        find_sources([store(tmp_path / "opencode.db", OPENCODE.replace("data TEXT NOT NULL", "body TEXT"))])


def test_messages_of_a_table_that_is_new_are_counted(tmp_path: Path) -> None:
    path = opencode(tmp_path / "opencode.db")
    store(
        path,
        "CREATE TABLE session_message (id, session_id); INSERT INTO session_message VALUES (1, 'ses_7'), (2, 'ses_1')",
    )
    assert [one.reason for one in read(path)[1]].count("message in a table that memtui does not know") == 1


def test_only_what_belongs_to_the_messages_is_read_with_them(tmp_path: Path) -> None:
    """A folder that is called so elsewhere is looked at as ever."""
    (tmp_path / "message").mkdir()
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / "a.json").write_text('{"some": "thing"}')
    (tmp_path / "message" / "a.jsonl").write_text('{"session_id": "s", "role": "user", "content": "Hello"}\n')
    assert ignored(find_sources([tmp_path])) == {"JSON in no known format": 1}
