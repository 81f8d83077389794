"""The places where session files are kept, and how many will be swept soon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from memtui.engine.importers.known_places import DAY, known_sources
from memtui.engine.importers.known_stores import PLACES

NOW = 1_800_000_000.0


def session(folder: Path, name: str, days_old: float) -> None:
    path = folder / "projects" / "-home-ada" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    os.utime(path, (NOW - days_old * DAY,) * 2)


def clock() -> float:
    return NOW


def test_nothing_is_known_where_nothing_is(tmp_path: Path) -> None:
    assert known_sources(tmp_path, environ={}, clock=clock) == []
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    assert known_sources(tmp_path, environ={}, clock=clock) == []


def test_files_are_counted_and_those_about_to_be_swept_too(tmp_path: Path) -> None:
    for name, days in [("a.jsonl", 1), ("b.jsonl", 22), ("c.jsonl", 24), ("d.jsonl", 29), ("notes.txt", 29)]:
        session(tmp_path / ".claude", name, days)
    (found,) = known_sources(tmp_path, environ={}, clock=clock)
    assert found.path == tmp_path / ".claude" / "projects"
    assert found.format == "claude-code"
    assert found.files == 4
    assert found.newest == NOW - DAY
    assert found.expiring == 2
    assert found.kept_days == 30


@pytest.mark.parametrize(
    ("settings", "days", "expiring"),
    [
        ('{"cleanupPeriodDays": 365}', 365, 0),
        ('{"cleanupPeriodDays": 10}', 10, 2),
        ('{"cleanupPeriodDays": 0}', 0, 3),
        ('{"cleanupPeriodDays": "soon"}', 30, 1),
        ('{"cleanupPeriodDays": true}', 30, 1),
        ("[]", 30, 1),
        ("{broken", 30, 1),
    ],
)
def test_the_programs_own_setting_decides(tmp_path: Path, settings: str, days: int, expiring: int) -> None:
    for name, age in [("a.jsonl", 0.5), ("b.jsonl", 5), ("c.jsonl", 25)]:
        session(tmp_path / ".claude", name, age)
    (tmp_path / ".claude" / "settings.json").write_text(settings)
    (found,) = known_sources(tmp_path, environ={}, clock=clock)
    assert found.kept_days == days
    assert found.expiring == expiring


def test_the_programs_folder_may_be_elsewhere(tmp_path: Path) -> None:
    session(tmp_path / "moved", "a.jsonl", 1)
    session(tmp_path / ".claude", "old.jsonl", 1)
    (found,) = known_sources(tmp_path, environ={"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}, clock=clock)
    assert found.path == tmp_path / "moved" / "projects"


@pytest.mark.parametrize("moved", [False, True])
def test_codex_sessions_are_found_packed_and_archived(tmp_path: Path, moved: bool) -> None:
    folder = tmp_path / ("elsewhere" if moved else ".codex")
    day = folder / "sessions" / "2026" / "03" / "04"
    day.mkdir(parents=True)
    for name in ("a.jsonl", "a.jsonl.zst", "b.jsonl.zst", "notes.zst", "index.sqlite"):
        (day / name).write_bytes(b"x")
        os.utime(day / name, (NOW - 40 * DAY,) * 2)
    environ = {"CODEX_HOME": str(folder)} if moved else {}
    (found,) = known_sources(tmp_path, environ=environ, clock=clock)
    assert (found.format, found.label, found.path) == ("codex", "Codex CLI", folder / "sessions")
    assert (found.files, found.newest, found.expiring, found.kept_days) == (2, NOW - 40 * DAY, 0, None)
    (folder / "archived_sessions").mkdir()
    (folder / "archived_sessions" / "c.jsonl").write_bytes(b"x")
    archived = known_sources(tmp_path, environ=environ, clock=clock)[1]
    assert (archived.label, archived.files) == ("Codex CLI, archived", 1)


def test_the_history_of_mem0_is_known_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / ".mem0" / "history.db"
    path.parent.mkdir()
    path.write_bytes(b"x")
    os.utime(path, (NOW - DAY,) * 2)
    (found,) = known_sources(tmp_path, environ={}, clock=clock)
    assert (found.format, found.path, found.files, found.newest) == ("mem0-history", path, 1, NOW - DAY)
    assert known_sources(tmp_path, environ={"MEM0_DIR": str(tmp_path / "moved")}, clock=clock) == []


def test_stores_of_other_programs_are_found_where_they_keep_them(tmp_path: Path) -> None:
    """Each place of each system, and the variables of the programs."""
    home = tmp_path / "home"
    places = [
        (place, home / folder / place.file.replace("*", "-x")) for place in PLACES for folder in place.folders
    ]
    for _, path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    found = known_sources(home, environ={}, clock=clock)
    assert [(one.format, one.path) for one in found] == [(place.format, path) for place, path in places]
    assert {one.format for one in found if one.live} == {"opencode"}
    assert len({one.name for one in found}) == len(found)
    for place in PLACES:
        for number, variable in enumerate((*place.folder_variables, *place.file_variables)):
            moved = tmp_path / f"{place.format}-{number}" / place.file.replace("*", "-y")
            moved = moved.parent / place.below / moved.name if variable in place.folder_variables else moved
            moved.parent.mkdir(parents=True)
            moved.write_bytes(b"x")
            named = tmp_path / f"{place.format}-{number}" if variable in place.folder_variables else moved
            others = [one.path for one in known_sources(home, environ={variable: str(named)}, clock=clock)]
            assert moved in others
            assert not [path for one, path in places if one is place and path in others]
