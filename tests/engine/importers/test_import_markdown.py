"""Markdown notes: what becomes a fact, what happened on a day, what is passed over, what is no note at all."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_samples import ignored, jsonl, read_with_warnings
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers.base import Note
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.refusals import ASIDE
from memtui.engine.records import Options, Turn

GARDEN = """---
title: "Garden"
created: 2026-03-04
tags: [plants, home]
---

# The garden

The pond behind [[Ada Byron|Ada's]] house
holds carp. #water

## Pumps

- [ ] Ask [[Lumen]] for the 40 W pump
- [x] Clean the small one
  before winter
1. Pumps run at night

```sh
rm -rf everything
```

| a | b |
<!-- nobody
sees this -->
> Said somebody once
***
"""


def note(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(path: Path, format: str | None = None) -> tuple[list[Any], list[str]]:
    records, skips, _ = read_with_warnings(path, format)
    return [*records, *(skip for skip in skips if isinstance(skip, Note))], [
        skip.reason for skip in skips if not isinstance(skip, Note)
    ]


def test_paragraphs_and_items_become_facts_under_their_headings(tmp_path: Path) -> None:
    facts, skips = read(note(tmp_path / "x.md", GARDEN))
    assert [fact.content for fact in facts] == [
        "The garden: The pond behind Ada's house holds carp. #water",
        "Pumps: Ask Lumen for the 40 W pump",
        "Pumps: Clean the small one before winter",
        "Pumps run at night",
        "Pumps: Said somebody once",
    ]
    assert {(fact.kind, fact.trust, fact.source) for fact in facts} == {("fact", "tool", "import:markdown")}
    assert facts[0].tags == ("plants", "home", "water")
    assert facts[1].tags == ("plants", "home")
    assert [named.name for named in facts[0].about] == ["Ada Byron"]
    assert [named.name for named in facts[1].about] == ["Lumen"]
    assert facts[0].event_time == 1772582400.0
    assert skips == ["code, table or comment"] * 3


def test_what_is_indented_alone_is_code_but_an_item_is_not(tmp_path: Path) -> None:
    text = """# Pumps

The old pump hums at night.

    rm -rf everything that is here

    - Ask Lumen about the relay
"""
    facts, passed_over = read(note(tmp_path / "p.md", text), "markdown")
    assert [fact.content for fact in facts if isinstance(fact, Note)] == [
        "Pumps: The old pump hums at night.", "Pumps: Ask Lumen about the relay",
    ]  # fmt: skip
    assert len(facts) + len(passed_over) == 3


def test_a_note_of_a_day_is_a_session_of_what_happened(tmp_path: Path) -> None:
    turns, _ = read(
        note(tmp_path / "2026-03-04.md", "# 2026-03-04\n\n- Met Ada at the pond today\n\n## Evening\n\nTea.")
    )
    assert all(isinstance(turn, Turn) for turn in turns)
    assert [turn.content for turn in turns] == ["Met Ada at the pond today", "Evening: Tea."]
    assert {turn.session_id for turn in turns} == {"markdown:2026-03-04"}
    assert {(turn.event_time, turn.role, turn.trust) for turn in turns} == {(1772582400.0, "note", "tool")}


def test_a_vault_comes_in_once_and_leaves_again(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    note(vault / "Garden.md", GARDEN)
    note(
        vault / "days" / "2026-03-04.md",
        "# Wednesday\n\n- Met Ada at the pond today\n- Met Ada at the pond today\n",
    )
    (vault / "photo.png").write_bytes(b"\x89PNG\0\0")
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "m" / "memory.db", options=options) as memory:
        planned = memory.files.import_paths([vault], dry_run=True)
        report = memory.files.import_paths([vault])
        assert (planned.imported, report.imported) == (7, 7)
        assert report.formats == ("markdown",)
        assert memory.stats().by_kind == {"fact": 5, "episode": 2}
        (vault / "Garden.md").rename(vault / "Moved.md")
        again = memory.files.import_paths([vault])
        assert (again.imported, again.already_there, again.operation) == (0, 7, None)
        note(vault / "Moved.md", GARDEN + "\nThe carp are called Tick and Tock.\n")
        assert memory.files.import_paths([vault]).imported == 1
        assert report.operation is not None
        memory.undo(report.operation.op_id)
        assert memory.stats().active == 1


def test_notes_beside_sessions_are_left_alone_unless_they_are_asked_for(tmp_path: Path) -> None:
    note(tmp_path / "README.md", GARDEN)
    jsonl(tmp_path / "s.jsonl", [{"role": "user", "content": "hi"}])
    found = find_sources([tmp_path])
    assert ([source.format for source in found.sources], ignored(found)) == (["jsonl"], {ASIDE: 1})
    assert [source.format for source in find_sources([tmp_path], "markdown").sources] == ["markdown"]
    assert len(find_sources([tmp_path / "s.jsonl", tmp_path / "README.md"]).sources) == 2


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\n# This runs the thing\n# and it is a comment of many words\necho one two three four\n",
        "# This runs the thing every night\n# and it is a comment\nimport os\n\nx = 1\n\ndef run():\n    return x\n",
        "# A comment of more than three words\n- name: one\n  value: two\n- name: three\n  value: four\n",
        "# A comment of more than three words\n[section]\nkey = value\nother = thing\n",
        "<!doctype html>\n<p>one two three four five</p>\n- a list of four words\n",
        "int main() {\n  return 0;\n}\n",
        '{"a": 1}\n',
        '[\n  "# heading of four words", 1\n]\n',
    ],
)
def test_programs_settings_and_bare_text_are_no_notes(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"in no format|is a web page"):
        find_sources([note(tmp_path / "x.md", text)])


def test_bare_text_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    path = note(tmp_path / "Ada Byron.txt", "Likes tea.\n\nHas two dogs.\n")
    facts, _ = read(path, "markdown")
    assert [fact.content for fact in facts] == ["Ada Byron: Likes tea.", "Ada Byron: Has two dogs."]


@pytest.mark.parametrize("piece", ["x", "#", "# ", " #", "- ", "[[a|", "> ", "`", "_ "])
def test_a_line_is_read_in_time_that_grows_with_its_length(piece: str, tmp_path: Path) -> None:
    started = time.thread_time()
    read(
        note(tmp_path / "x.md", f"# Of the town\n\n- A line of four words\n\n# {piece * 100_000}y\n"),
        "markdown",
    )
    assert time.thread_time() - started < 3


def test_odd_files_give_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(
        b"\xef\xbb\xbf# Caf\xe9 of the town\r\n\r\nA line of \x1b[31m four words\r\n\r\n- \r\n- !!!\r\n\r\n"
        + b"x" * 50_000
    )
    records, skips, warnings = read_with_warnings(path)
    facts = [*records, *(skip for skip in skips if isinstance(skip, Note))]
    assert [len(fact.content) for fact in facts][1:] == [19_500 + 18, 19_500 + 18, 11_000 + 18]
    assert facts[0].content.startswith("Caf\ufffd of the town: A line of")
    assert warnings == {"invalid UTF-8 replaced": 1}


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="#-*> `~|[]!<a1\n\t\x00\x1b:é", max_size=200), front=st.booleans())
def test_any_text_is_cut_without_an_error(text: str, front: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, suppress(InputError):
        path = Path(folder, "x.md")
        path.write_text(("---\n" if front else "") + text)
        for fact in read(path, "markdown")[0]:
            assert fact.content.strip()
