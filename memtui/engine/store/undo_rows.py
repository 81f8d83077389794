"""The rows of an undo: find them, check for conflicts, put them back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.records import Conflict

from . import row_images, stamps
from .sql import as_json, scalar
from .tables import COVERED

_TABLE = "sessions_consolidations"


class TouchedSessions:
    """The sessions whose turns come or go in one transaction."""

    def __init__(self) -> None:
        self._images: dict[str, dict[str, Any] | None] = {}

    def note(self, connection: apsw.Connection, table: str, key: int, image: dict[str, Any] | None) -> bool:
        """Remember the session that a row concerns, before the row is put back; ``image`` None: it is to go.

        Returns whether the row is itself a session that came or went: ``add_or_remove_sessions`` does all there is to do.
        """
        if table == "memories":
            talk = (
                image.get("session_id")
                if image is not None
                else self._session_of_row(connection, table, "rid", key)
            )
            if talk is not None:
                self._images.setdefault(talk, None)
            return False
        if table != _TABLE or (image is not None and "sid" not in image):
            return False
        if image is not None:
            self._images[image["session_id"]] = image
        elif talk := self._session_of_row(connection, table, "sid", key):
            self._images.setdefault(talk, None)
        return True

    def add_or_remove_sessions(self, connection: apsw.Connection) -> int:
        """Returns how many sessions came or went."""
        settled = 0
        for talk, image in self._images.items():
            known = scalar(connection, f"SELECT 1 FROM {_TABLE} WHERE session_id = ?", (talk,))
            used = scalar(connection, "SELECT 1 FROM memories WHERE session_id = ? LIMIT 1", (talk,))
            if known and not used:
                connection.execute(f"DELETE FROM {_TABLE} WHERE session_id = ?", (talk,))
            elif used and not known:
                row_images.insert_row(connection, _TABLE, image or _last_session_image(connection, talk))
            settled += known != used
        return settled

    def _session_of_row(self, connection: apsw.Connection, table: str, column: str, key: int) -> str | None:
        session_id: str | None = scalar(
            connection, f"SELECT session_id FROM {table} WHERE {column} = ?", (key,)
        )
        return session_id


def _last_session_image(connection: apsw.Connection, session_id: str) -> dict[str, Any]:
    """A session as it was when it went."""
    image = scalar(
        connection,
        f"""
        SELECT before FROM changes WHERE tbl = '{_TABLE}' AND act = 'delete'
        AND before ->> 'session_id' = ? ORDER BY seq DESC LIMIT 1
        """,
        (session_id,),
    )
    if image is not None:
        return msgspec.json.decode(image, type=dict[str, Any])
    # It went longer ago than history is kept.
    [(first, last)] = connection.execute(
        "SELECT min(event_time), max(event_time) FROM memories WHERE session_id = ?", (session_id,)
    )
    return {"session_id": session_id, "first_seen_at": first, "last_seen_at": last}


UNDO_OF_AGENT = "undo agent"
"""The kind of an operation that takes back several at once; ``undone_by`` of those names it, also while it is taken back."""
_TAKEN = "another row took its place"


class RowToRestore(NamedTuple):
    """What to do with one row: remove it (``before`` None) or put ``before`` back."""

    table: str
    key: int
    existed: bool
    before: dict[str, Any]
    last_seq: int


def rows_of_operations(connection: apsw.Connection, op_ids: Collection[int]) -> list[RowToRestore]:
    """The rows of several operations with the state before the first of them that changed it.

    ``last_seq`` is that of this first change: what others did between counts as changed since.
    """
    changes: Any = connection.execute(
        "SELECT seq, tbl, act, lo, hi, before FROM changes WHERE op_id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (as_json(list(op_ids)),),
    )
    return [row._replace(last_seq=first) for row, first in _first_changes(changes, 0, 2**62)]


def rows_of_operation(
    connection: apsw.Connection, op_id: int, table: str | None = None, first: int = 0, last: int = 2**62
) -> Iterator[RowToRestore]:
    """The rows of an operation with the state before it.

    Of several changes of one row the first one knows that state, column by column.
    """
    changes: Any = connection.execute(
        """
        SELECT seq, tbl, act, lo, hi, before FROM changes
        WHERE op_id = ? AND (?2 IS NULL OR tbl = ?2) AND hi >= ?3 AND lo <= ?4 ORDER BY seq
        """,
        (op_id, table, first, last),
    )
    yield from (row for row, _ in _first_changes(changes, first, last))


def _first_changes(
    changes: Iterable[tuple[Any, ...]], first: int, last: int
) -> list[tuple[RowToRestore, int]]:
    """Each row, and the number of its first change."""
    first_changes: dict[tuple[str, int], RowToRestore] = {}
    first_seq: dict[tuple[str, int], int] = {}
    for seq, tbl, act, lo, hi, before in changes:
        image = msgspec.json.decode(before, type=dict[str, Any]) if before else {}
        for key in range(max(lo, first), min(hi, last) + 1):
            earlier = first_changes.get((tbl, key))
            if earlier is None:
                first_changes[tbl, key] = RowToRestore(tbl, key, act != "insert", image, seq)
                first_seq[tbl, key] = seq
            else:
                first_changes[tbl, key] = earlier._replace(before=image | earlier.before, last_seq=seq)
    return [(row, first_seq[row_key]) for row_key, row in first_changes.items()]


def blocked_rows(
    connection: apsw.Connection, rows: Sequence[RowToRestore], without: Collection[int]
) -> list[Conflict]:
    """The rows that would be left alone. ``without``: operations that are taken back together."""
    ours = {(row.table, row.key) for row in rows}
    later = _later_changes(connection, ours, without)
    blocked = []
    for row in rows:
        if row.table == "decided":
            continue
        reason = _reason_changed_since(connection, row, without, later)
        if reason := reason or ("" if row.existed else _reason_row_is_needed(connection, row, ours)):
            blocked.append(_row_conflict(connection, row, reason))
    return blocked


def restore_rows(
    connection: apsw.Connection,
    rows: list[RowToRestore],
    by_id: int | None = None,
    without: Collection[int] = (),
) -> tuple[int, list[Conflict]]:
    """Removals first, then the rest: a row that comes back may need the unique key of one that goes.

    ``by_id``: the operation that puts them back, which may have begun to before it was interrupted. ``without``: others
    that are taken back together with it.

    Entities go last: until then the names that go back to another one still point at them.
    """
    connection.execute("PRAGMA defer_foreign_keys = ON")
    ours = {(row.table, row.key) for row in rows}
    own_operations = [*without, *([] if by_id is None else [by_id])]
    later = _later_changes(connection, ours, own_operations)
    restored, conflicts = 0, []
    talks = TouchedSessions()
    for row in sorted(
        rows, key=lambda r: (2 if r.table == "entities" and not r.existed else r.existed, -r.key)
    ):
        if talks.note(connection, row.table, row.key, row.before if row.existed else None):
            continue
        if row.table == "decided" and _was_decided_since(connection, row):
            continue
        reason: str | None = _reason_changed_since(connection, row, own_operations, later)
        if not reason and not row.existed:
            reason = _reason_row_is_needed(connection, row, ours)
        if not reason:
            reason = _write_row(connection, row) if row.existed else _delete_row(connection, row)
        if reason == "":
            restored += 1
        elif reason is not None:
            conflicts.append(_row_conflict(connection, row, reason))
    return restored + talks.add_or_remove_sessions(connection), conflicts


def _was_decided_since(connection: apsw.Connection, row: RowToRestore) -> bool:
    """Whether somebody decided here after the stamp was written that is to be taken back: that is no history."""
    there: Any = connection.execute(
        "SELECT seen, device, at, actor FROM decided WHERE decided_id = ?", (row.key,)
    ).fetchone()
    wrote: Any = connection.execute(
        "SELECT act, after FROM changes WHERE seq = ?", (row.last_seq,)
    ).fetchone()
    act, after = wrote or ("", None)
    if there is None or act == "delete":
        return there is not None
    if not after:  # it was new
        return bool(there[1] == stamps.device(connection))
    left = msgspec.json.decode(after, type=dict[str, Any])
    return any(
        left.get(name, value) != value
        for name, value in zip(("seen", "device", "at", "actor"), there, strict=True)
    )


def _row_conflict(connection: apsw.Connection, row: RowToRestore, reason: str) -> Conflict:
    return Conflict(
        table=row.table, key=row.key, reason=reason, memory_id=_memory_id(connection, row), wanted=row.before or None,
        current=row_images.current_row(connection, row.table, row.key),
    )  # fmt: skip


def _memory_id(connection: apsw.Connection, row: RowToRestore) -> str | None:
    if row.table != "memories":
        return None
    id: str | None = scalar(connection, "SELECT id FROM memories WHERE rid = ?", (row.key,))
    return id or row.before.get("id")


def _later_changes(
    connection: apsw.Connection, places: Collection[tuple[str, int]], without: Collection[int]
) -> dict[tuple[str, int], int]:
    """The latest change of each row, by table and key: of most rows this tells that nothing changed them since."""
    keys: dict[str, list[int]] = {}
    for table, key in places:
        keys.setdefault(table, []).append(key)
    return {
        (table, key): seq
        for table, of_table in keys.items()
        for key, seq in connection.execute(
            """
            SELECT c.lo, max(c.seq) FROM json_each(?) k CROSS JOIN changes c ON c.tbl = ? AND c.lo = k.value
            WHERE c.act <> 'insert' AND c.op_id NOT IN (SELECT value FROM json_each(?)) GROUP BY c.lo
            """,
            (as_json(of_table), table, as_json(list(without))),
        )
    }


def _reason_changed_since(
    connection: apsw.Connection,
    row: RowToRestore,
    without: Collection[int],
    later_changes: Mapping[tuple[str, int], int],
) -> str:
    """Why a later operation forbids putting the row back; "" when none does.

    A later operation and the undo that took it back, alone or with others, cancel each other out.
    """
    if later_changes.get((row.table, row.key), 0) <= row.last_seq:
        return ""
    later: Any = connection.execute(
        """
        SELECT DISTINCT o.op_id, o.undoes, o.label, o.state, c.act, o.kind, o.undone_by
        FROM changes c JOIN ops o ON o.op_id = c.op_id
        WHERE c.tbl = ? AND c.lo = ? AND c.act <> 'insert' AND c.seq > ? AND o.op_id NOT IN (SELECT value FROM json_each(?))
        ORDER BY o.op_id
        """,
        (row.table, row.key, row.last_seq, as_json(list(without))),
    ).fetchall()
    if not later:
        return ""
    standing: dict[int, tuple[int | None, str]] = {
        op_id: (undoes, label)
        for op_id, undoes, label, state, act, _, _ in later
        if not (act == "delete" and state == "undone")  # else it was brought back since
    }
    for op_id in sorted(standing, reverse=True):
        undone = standing[op_id][0] if op_id in standing else None
        if undone in standing:
            del standing[undone], standing[op_id]
        elif undone is not None and _was_reinserted(connection, row, undone):
            del standing[op_id]
    for op_id, _, _, _, _, kind, _ in later:
        if kind == UNDO_OF_AGENT and op_id in standing:
            together = [one for one, _, _, state, _, _, by in later if by == op_id and state == "undone"]
            for one in (*together, op_id):
                standing.pop(one, None)
    if not standing:
        return ""
    return f"changed since by “{standing[max(standing)][1]}”"


def _was_reinserted(connection: apsw.Connection, row: RowToRestore, op_id: int) -> bool:
    """Whether an operation brought back the row after the one that is to be taken back had removed it."""
    reinserted = scalar(
        connection,
        "SELECT 1 FROM changes WHERE op_id = ? AND tbl = ? AND act = 'insert' AND ? BETWEEN lo AND hi AND seq > ?",
        (op_id, row.table, row.key, row.last_seq),
    )
    return reinserted is not None


def _reason_row_is_needed(connection: apsw.Connection, row: RowToRestore, ours: set[tuple[str, int]]) -> str:
    """Why a row cannot be removed: something that stays depends on it. "" for a row that only goes back."""
    if row.existed:
        return ""
    if row.table == "memories":
        for rid, id in connection.execute(
            """
            SELECT m.rid, m.id FROM memory_links l JOIN memories m ON m.id = l.from_id
            WHERE l.to_id = (SELECT id FROM memories WHERE rid = ?)
            """,
            (row.key,),
        ):
            if ("memories", rid) not in ours:
                return f"{id} was derived from it since"
    elif row.table == "entities":
        for eid, name in connection.execute(
            "SELECT eid, canonical_name FROM entities WHERE merged_into = ?", (row.key,)
        ):
            if ("entities", eid) not in ours:
                return f"“{name}” was merged into it since"
    return ""


def _delete_row(connection: apsw.Connection, row: RowToRestore) -> str | None:
    """Returns "" when removed, None when it was gone already."""
    covered = COVERED[row.table]
    connection.execute(f"DELETE FROM {row.table} WHERE {covered.key} = ?", (row.key,))
    return "" if connection.changes() else None


def _write_row(connection: apsw.Connection, row: RowToRestore) -> str:
    covered = COVERED[row.table]
    image = {column: value for column, value in row.before.items() if column in covered.all_columns}
    exists = connection.execute(f"SELECT 1 FROM {row.table} WHERE {covered.key} = ?", (row.key,)).fetchone()
    if exists and "id" in row.before and row.before["id"] != _id_at_key(connection, row):
        return _TAKEN
    try:
        if exists:
            image.pop(covered.key, None)
            connection.execute(
                f"UPDATE {row.table} SET {', '.join(f'{column} = ?' for column in image)} WHERE {covered.key} = ?",
                (*image.values(), row.key),
            )
        else:
            if covered.key not in image:
                return "the row is gone"
            row_images.insert_row(connection, row.table, image)
    except apsw.ConstraintError:
        return _TAKEN
    return ""


def _id_at_key(connection: apsw.Connection, row: RowToRestore) -> Any:
    """The id of the row that stands at its key."""
    return scalar(connection, f"SELECT id FROM {row.table} WHERE {COVERED[row.table].key} = ?", (row.key,))
