"""Restore single memories from a backup, and leave everything else as it is.

What is absent comes back as it was; what is in the Trash leaves it with the text that the backup has. What was
corrected or merged since has a successor, and comes back only when it is asked for by its id. What was erased for good
does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.store import memories, metadata, row_images, tombstones
from memtui.engine.store.tables import COVERED

_AT_ONCE = 500


class BackedUpMemory(NamedTuple):
    """A memory as a backup has it, its conversation's row, if it belongs to one, and which file it is a backup of."""

    row: dict[str, Any]
    session: dict[str, Any] | None
    file_id: str | None


def missing_memories(source: apsw.Connection, live: Path) -> list[int]:
    """The keys (in the backup) of active memories that are absent from the file, or forgotten or faded there.

    Those that were erased for good are not missing.
    """
    source.execute("ATTACH ? AS live", (str(live),))
    try:
        rows: Any = source.execute(
            """
            SELECT t.rid, t.id FROM main.memories t LEFT JOIN live.memories n ON n.id = t.id
            WHERE t.valid_until IS NULL AND (n.rid IS NULL OR n.ended_by IN ('forgotten', 'faded')) ORDER BY t.rid
            """
        ).fetchall()
        gone = tombstones.erased_among(source, (id for _, id in rows), "live")
        return [rid for rid, id in rows if id not in gone]
    finally:
        source.execute("DETACH live")


def row_keys_of(source: apsw.Connection, ids: Iterable[str]) -> list[int]:
    """The keys in the backup of memories by id, or by a beginning of one. Raises NotFoundError, InputError."""
    memories_of_ids = [memories.get(source, id, 0) for id in ids]
    for one in memories_of_ids:
        if not one.active:
            raise NotFoundError(
                f"In the backup {one.id} is in the Trash as well.", "Choose a backup from before that."
            )
    return list(dict.fromkeys(one.rid for one in memories_of_ids))


def read_memories(source: apsw.Connection, rids: Sequence[int]) -> Iterator[list[BackedUpMemory]]:
    """The memories with these keys, some at a time."""
    file_id = metadata.get(source, "file_id")
    for start in range(0, len(rids), _AT_ONCE):
        read_rows = []
        for rid in rids[start : start + _AT_ONCE]:
            row = row_images.current_row(source, "memories", rid)
            assert row is not None  # a backup does not change
            read_rows.append(BackedUpMemory(row, _read_session(source, row["session_id"]), file_id))
        yield read_rows


def insert_memories(connection: apsw.Connection, some: Iterable[BackedUpMemory], now: int) -> int:
    """Put memories into the file, inside the caller's operation; returns how many were not there as they are."""
    return sum(_insert_memory(connection, image, now) for image in some)


def _insert_memory(connection: apsw.Connection, image: BackedUpMemory, now: int) -> bool:
    here: Any = connection.execute(
        "SELECT rid, valid_until FROM memories WHERE id = ?", (image.row["id"],)
    ).fetchone()
    columns = {name: image.row[name] for name in COVERED["memories"].columns}
    if here is not None:
        rid, ended = here
        if ended is not None:  # counts as used now: else what had faded would fade again the same night
            columns |= {"reviewed_at": now, "last_accessed": now}
        before = connection.total_changes()
        differ = " OR ".join(f"{name} IS NOT ?" for name in columns)
        connection.execute(
            f"UPDATE memories SET {', '.join(f'{name} = ?' for name in columns)} WHERE rid = ? AND ({differ})",
            (*columns.values(), rid, *columns.values()),
        )
        return connection.total_changes() != before
    row = {**image.row, "reviewed_at": now, "last_accessed": now}
    foreign = image.file_id != metadata.get(connection, "file_id")
    if foreign or _value_exists(connection, "memories", "rid", row["rid"]):
        del row["rid"]  # in the history of this file it may be the number of something else
    if _was_erased(connection, row):
        return False
    key = row["source_key"]
    if key is not None and _value_exists(connection, "memories", "source_key", key):
        return False  # it came in once more since, by an import
    _insert_session(connection, image.session, foreign)
    row_images.insert_row(connection, "memories", row)
    return True


def _was_erased(connection: apsw.Connection, row: dict[str, Any]) -> bool:
    """A copy that lies elsewhere may still hold what was erased here for good."""
    keys = [row["id"], tombstones.note_key(row["kind"], row["content"])]
    if row["source_key"] is not None:
        keys.append(row["source_key"])
    if row["session_id"] is not None:
        keys += tombstones.keys_of_turn(
            row["session_id"], row["source_role"] or "", row["content"], row["event_time"]
        )
    return bool(tombstones.erased_among(connection, keys))


def _read_session(source: apsw.Connection, session_id: str | None) -> dict[str, Any] | None:
    if session_id is None:
        return None
    sid: Any = source.execute(
        "SELECT sid FROM sessions_consolidations WHERE session_id = ?", (session_id,)
    ).fetchone()
    return row_images.current_row(source, "sessions_consolidations", sid[0]) if sid else None


def _insert_session(connection: apsw.Connection, session: dict[str, Any] | None, foreign: bool) -> None:
    table = "sessions_consolidations"
    if session is None or _value_exists(connection, table, "session_id", session["session_id"]):
        return
    row = dict(session)
    if foreign or _value_exists(connection, table, "sid", row["sid"]):
        del row["sid"]
    row_images.insert_row(connection, table, row)


def _value_exists(connection: apsw.Connection, table: str, column: str, value: object) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (value,)).fetchone() is not None
