"""Notes of basic-memory: observations, relations and prose, and what is no observation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from import_samples import ignored
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.known_places import known_sources
from memtui.engine.records import Options
from other_memories import assert_comes_once_and_goes, rows

from foreign_stores import BASIC_MEMORY, basic_memory, store

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")


def test_each_part_of_a_note_is_a_fact_about_its_title(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        folder = basic_memory(tmp_path / "notes")
        report = memory.files.import_paths([folder])
        assert (report.formats, report.kinds, report.left_out) == (
            ("basic-memory", "markdown"),
            {"fact": 8},
            (),
        )
        found = rows(
            memory,
            "SELECT content, trust, tags, attributes FROM memories WHERE source = 'import:basic-memory' ORDER BY rid",
        )
        assert [(text, trust, json.loads(tags), json.loads(more)) for text, trust, tags, more in found] == [
            ("Coffee Brewing: Written down after a class, see the kitchen.", "agent", ["coffee"], {}),
            (
                "Coffee Brewing: Pour over highlights subtle flavors #taste",
                "agent", ["coffee", "method", "taste"], {"context": "from the class"},
            ),
            ("Coffee Brewing: Buy a kettle", "agent", ["coffee"], {}),
            ("Coffee Brewing: [00:01:12] He says that water matters", "agent", ["coffee"], {}),
            ("Coffee Brewing: Grind beans late", "agent", ["coffee"], {}),
            ("Coffee Brewing relates to Coffee Beans.", "agent", ["coffee"], {}),
            ("Coffee Brewing pairs well with Tea.", "agent", ["coffee"], {"context": "sometimes"}),
        ]  # fmt: skip
        names = {name for (name,) in rows(memory, "SELECT canonical_name FROM entities")}
        assert {"Coffee Brewing", "Kitchen", "Coffee Beans", "Tea"} <= names


def test_a_folder_comes_once_and_a_note_may_be_moved(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        folder = basic_memory(tmp_path / "notes")
        assert_comes_once_and_goes(memory, folder)
        (folder / "coffee.md").rename(tmp_path / "moved.md")
        assert memory.files.import_paths([tmp_path / "moved.md"]).imported == 0


def test_a_permalink_of_a_web_site_is_no_note_of_basic_memory(tmp_path: Path) -> None:
    for number, link in enumerate(("/blog/coffee/", "https://example.org/coffee")):
        path = tmp_path / f"{number}.md"
        path.write_text(BASIC_MEMORY.replace("notes/coffee-brewing", link))
        assert find_sources([path]).sources[0].format == "markdown"


def test_its_projects_are_known_from_its_settings(tmp_path: Path) -> None:
    """The home folder as a project is not walked."""
    basic_memory(tmp_path / "basic-memory")
    assert [one.path for one in known_sources(tmp_path, environ={})] == [tmp_path / "basic-memory"]
    work = basic_memory(tmp_path / "work")
    settings = tmp_path / ".basic-memory" / "config.json"
    settings.parent.mkdir()
    settings.write_text(
        json.dumps({"projects": {"work": {"path": str(work)}, "all": str(tmp_path), "gone": "/nowhere"}})
    )
    assert [(one.path, one.files) for one in known_sources(tmp_path, environ={})] == [(work, 2)]
    elsewhere = {"BASIC_MEMORY_CONFIG_DIR": str(tmp_path / "x"), "BASIC_MEMORY_HOME": str(work)}
    assert [one.path for one in known_sources(tmp_path, environ=elsewhere)] == [work]


def test_its_index_is_refused_with_what_to_import_instead(tmp_path: Path) -> None:
    index = store(
        tmp_path / "memory.db",
        "CREATE TABLE entity (a); CREATE TABLE observation (a); CREATE TABLE relation (a); CREATE TABLE project (a);",
    )
    with pytest.raises(InputError, match="is an index of basic-memory") as caught:
        find_sources([index])
    assert "folder" in caught.value.hint
    basic_memory(tmp_path / "notes")
    assert ignored(find_sources([tmp_path])) == {"index of basic-memory": 1}
