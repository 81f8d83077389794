"""Claude Code's own memory: one note is one fact, its list of notes none, and it is found by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.importers.known_places import known_sources
from memtui.engine.records import Options
from memtui.present.import_sources import found_summary, not_yet_imported
from other_memories import assert_comes_once_and_goes, rows

FEEDBACK = """---
name: no-mocks
description: Tests use a real database
metadata:
  type: feedback
---

Do not mock the database in tests.

**Why:** mocks hid a broken migration.
"""
ROLE = '---\nname: "role"\ndescription: Who the user is\ntype: user\n---\nThe user is a nurse in Lyon.\n'
INDEX = (
    "# Memory\n\n- [No mocks](no_mocks.md) — tests use a real database\n- [Role](role.md) — who the user is\n"
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False, embedder="off")) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / ".claude" / "projects" / "-home-ada-shop" / "memory"
    folder.mkdir(parents=True)
    for name, text in {"no_mocks.md": FEEDBACK, "role.md": ROLE, "MEMORY.md": INDEX}.items():
        (folder / name).write_text(text)
    return tmp_path / "home"


def test_a_note_is_a_fact_that_an_agent_wrote_and_the_list_is_none(memory: Memory, home: Path) -> None:
    report = memory.files.import_paths([home / ".claude"])
    assert report.formats == ("claude-memory",)
    assert report.reasons == {"list of other notes": 2}
    assert (report.refused, report.warnings) == ((), ())
    assert rows(memory, "SELECT content, trust FROM memories ORDER BY content") == [
        ("Do not mock the database in tests. Why: mocks hid a broken migration.", "agent"),
        ("The user is a nurse in Lyon.", "agent"),
    ]


def test_it_comes_once_and_can_be_taken_back(memory: Memory, home: Path) -> None:
    assert_comes_once_and_goes(memory, home / ".claude")


def test_a_long_note_is_several_facts(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text(ROLE + "\n".join(f"\nPart {n}: " + "words " * 120 for n in range(4)))
    memory.files.import_paths([tmp_path / "long.md"])
    found = rows(memory, "SELECT content FROM memories ORDER BY rid")
    assert len(found) == 4 and all(len(content) <= 1_000 for (content,) in found)


def test_it_is_found_on_this_machine(home: Path) -> None:
    (found,) = known_sources(home, environ={})
    assert (found.name, found.files, found.live) == ("claude-memory", 3, False)


def test_what_is_there_is_counted_in_memories_not_in_sessions(memory: Memory, home: Path) -> None:
    (source,) = known_sources(home, environ={})
    (found,) = memory.files.probe([source])
    assert found_summary(found) == "2 memories"
    memory.files.import_paths([source.path])
    (found,) = memory.files.probe([source])
    assert not_yet_imported(found) == "all of it is in already"


def test_the_list_alone_brings_nothing_and_is_no_error(memory: Memory, home: Path) -> None:
    report = memory.files.import_paths([next(home.rglob("MEMORY.md"))])
    assert (report.imported, report.refused) == (0, ())
