"""One memory on one line, the same in every list; its id is there to be used in the next command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from memtui.ui.format import local_time, relative_time

from .door import Door
from .output import Painted, brief, in_unicode, paint, printed_cells, row

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, RowChange
    from memtui.ui.glyphs import Glyphs


_TIMES = ("_at", "_until", "_time", "_accessed")


def glyphs(door: Door) -> Glyphs:
    """The signs that stdout can show; the plain ones when the settings say so."""
    from memtui.ui.glyphs import ASCII, UNICODE

    return ASCII if door.configuration.settings.general.ascii or not in_unicode() else UNICODE


def sign(memory: MemoryRecord, signs: Glyphs) -> str:
    """The kind, and beside it what is special: in the Trash, or protected."""
    beside = signs.ended if not memory.active else signs.protected if memory.protected else " "
    return f"{signs.kinds[memory.kind]}{beside}"


def age(seconds: float) -> str:
    return relative_time(seconds, time.time())


def memory_line(memory: MemoryRecord, signs: Glyphs, *before: str) -> Painted:
    """What stands ``before``, then id, signs and text, on one line that fits the terminal."""
    left = row(*before, paint(memory.id, "dim"), sign(memory, signs))
    return row(left, brief(memory.content, printed_cells(left) + 2))


def change_rows(change: RowChange) -> list[tuple[str, str]]:
    """A changed row as lines of a table: which one, and each column's old and new value."""
    place = change.memory_id or f"{change.table} {change.key}"
    if change.before is None:
        return [(place, "added")]
    if change.after is None:
        return [(place, "removed")]
    rows = []
    for name, new in change.after.items():
        old = change.before.get(name)
        if old != new:
            rows.append((place, f"{name}: {_value(name, old)} -> {_value(name, new)}"))
    return rows


def _value(column: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, int) and column.endswith(_TIMES):
        return local_time(value, time.time())
    return str(value)
