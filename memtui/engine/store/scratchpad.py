"""Rows of ``scratchpad``: short-lived notes of agents and people, each a key and a text.

History covers them (``tables.py``), so every write can be taken back.
"""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.records.saved import ScratchpadNote

from .tokens import fold_text

_COLUMNS = "pad_id, key, value, updated_at"


def missing_key_error(key: str) -> NotFoundError:
    return NotFoundError(f"The scratchpad has no key {key!r}.", "List the keys to see which there are.")


def find(connection: apsw.Connection, key: str) -> ScratchpadNote | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM scratchpad WHERE key = ?", (key,)).fetchone()
    return _note_record(row) if row else None


def set_value(connection: apsw.Connection, key: str, value: str, now: int) -> None:
    """Set a value; one that stands there already keeps its time. Inside the caller's operation."""
    connection.execute(
        """
        INSERT INTO scratchpad(key, value, updated_at) VALUES (?, ?, ?)
        ON CONFLICT(key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
        WHERE value <> excluded.value
        """,
        (key, value, now),
    )


def take_over(connection: apsw.Connection, key: str, value: str, updated_at: int) -> None:
    """Set a value as another device has it, with its time."""
    set_value(connection, key, value, updated_at)
    connection.execute(
        "UPDATE scratchpad SET updated_at = ?2 WHERE key = ?1 AND updated_at <> ?2", (key, updated_at)
    )


def remove(connection: apsw.Connection, key: str) -> None:
    connection.execute("DELETE FROM scratchpad WHERE key = ?", (key,))


def keys(connection: apsw.Connection, prefix: str = "") -> list[str]:
    """All keys that begin so, in the order of their characters."""
    rows = connection.execute(
        "SELECT key FROM scratchpad WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key", (prefix,)
    )
    return [key for (key,) in rows]


def search(
    connection: apsw.Connection, text: str, limit: int, beginning: int | None = None, prefix: str = ""
) -> list[ScratchpadNote]:
    """Entries with ``text`` in their key or value, in any case and script; the latest first.

    ``beginning``: of each value only so many characters. ``prefix``: only keys that begin so, and what follows it counts.
    """
    rows = connection.execute(
        "SELECT pad_id, key, CASE WHEN ?3 IS NULL THEN value ELSE substr(value, 1, ?3) END, updated_at FROM scratchpad "
        "WHERE substr(key, 1, length(?4)) = ?4 "
        "AND (?1 = '' OR instr(fold(substr(key, length(?4) + 1)), ?1) OR instr(fold(value), ?1)) "
        "ORDER BY updated_at DESC, pad_id DESC LIMIT ?2",
        (fold_text(text), limit, beginning, prefix),
    )
    return [_note_record(row) for row in rows]


def last_writer(connection: apsw.Connection, pad_id: int) -> str | None:
    """Who wrote an entry last, as history knows."""
    row = connection.execute(
        "SELECT o.actor FROM changes c JOIN ops o ON o.op_id = c.op_id "
        "WHERE c.tbl = 'scratchpad' AND c.lo <= ?1 AND c.hi >= ?1 ORDER BY c.seq DESC LIMIT 1",
        (pad_id,),
    ).fetchone()
    return str(row[0]) if row else None


def _note_record(row: Any) -> ScratchpadNote:
    return ScratchpadNote(pad_id=row[0], key=row[1], value=row[2], updated_at=row[3])
