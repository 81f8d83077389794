"""What tests of other memories share: looking at rows, and the round of import, undo and redo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
from memtui import Memory

_TABLES = (
    *("memories", "memory_links", "entities", "entity_aliases", "memory_entities", "scratchpad"),
    *("sessions_consolidations", "index_queue"),
)


def rows(memory: Memory, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(memory.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def everything(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    return {table: sorted(rows(memory, f"SELECT * FROM {table}"), key=repr) for table in _TABLES}


def assert_whole(memory: Memory) -> None:
    report = memory.files.check(deep=True)
    assert report.ok, report.findings
    assert not [finding for finding in report.findings if finding.check != "permissions"]


def assert_comes_once_and_goes(memory: Memory, *paths: Path, format: str | None = None) -> None:
    """Dry run, import, import again, undo, redo: counts agree, and nothing is left behind."""
    empty = everything(memory)
    dry = memory.files.import_paths(paths, format=format, dry_run=True)
    assert everything(memory) == empty
    first = memory.files.import_paths(paths, format=format)
    assert first.kinds == dry.kinds
    assert (first.already_there, first.reasons, first.sessions) == (
        dry.already_there, dry.reasons, dry.sessions,
    )  # fmt: skip
    assert first.operation is not None
    full = everything(memory)
    again = memory.files.import_paths(paths, format=format)
    assert (again.imported, again.operation) == (0, None)
    assert again.already_there == first.imported + first.already_there
    assert everything(memory) == full
    assert_whole(memory)
    undone = memory.undo()
    assert undone is not None
    assert undone.conflicts == ()
    assert everything(memory) == empty
    assert_whole(memory)
    redone = memory.redo()
    assert redone is not None
    assert redone.conflicts == ()
    assert len(everything(memory)["memories"]) == len(full["memories"])
    assert_whole(memory)
