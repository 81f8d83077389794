"""Stamps of what has none in ``decided``: whether a row is there, and rows that are one decision.

They are made from history, by ``note_local``: before anything of another device is merged, and before anything is sent.
So triggers need not know of sync, and a file that is never synced pays nothing.
"""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from memtui.engine.reconcile import meeting
from memtui.engine.records import Stamp
from memtui.engine.records.history import SYNC
from memtui.engine.store import history, metadata, sync_versions
from memtui.engine.store.sql import scalar
from memtui.engine.store.sync_versions import ALIASES, READ, ROW, TITLE, VALUE

from . import lines

KIND = SYNC
"""The kind of an operation that takes over what came from another device."""
SESSION_PARTS: dict[str, tuple[str, ...]] = {
    VALUE: ("source", "project", "begun_by"),
    TITLE: ("title",),
    READ: ("consolidated_at", "attempts", "next_attempt_at", "last_error", "summary", "read_by"),
}
"""The parts of a session, and their columns; the last has ``consolidated_through`` as well."""
_NOTED = "sync_noted"
_image = msgspec.json.Decoder(dict[str, Any]).decode


def merge(
    connection: apsw.Connection, thing: str, theirs: Stamp, *, present: bool | None = None
) -> bool | None:
    """Merge one stamp with ours: whether theirs holds; None where there is nothing to do (``meeting.agree``)."""
    met = meeting.agree(
        sync_versions.read_versions(connection, thing).get(theirs.aspect), theirs, present=present
    )
    if met is None or met.stamp is None:
        return None
    sync_versions.write_version(connection, thing, met.stamp)
    if met.stamp != theirs:
        sync_versions.note_merged(connection, thing)
    return met.take


def last_change(connection: apsw.Connection) -> int:
    """The number of the latest row of history."""
    return int(scalar(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0)


def noted_through(connection: apsw.Connection) -> int:
    """Up to which change what was decided here has been stamped."""
    return int(metadata.get(connection, _NOTED) or 0)


def note_local(connection: apsw.Connection) -> None:
    """Stamp what was decided here since the last time, in the caller's transaction."""
    first, last = noted_through(connection), last_change(connection)
    if first >= last:
        return
    rows: Any = connection.execute(
        """
        SELECT c.tbl, c.act, c.lo, c.hi, c.before, o.at, o.actor FROM changes c JOIN ops o USING (op_id)
        WHERE c.seq > ? AND c.seq <= ? AND o.kind <> ? AND c.tbl NOT IN ('scratchpad', 'decided')
          AND NOT (c.tbl IN ('memories', 'entities') AND c.act = 'update') ORDER BY c.seq
        """,
        (first, last, KIND),
    )
    for table, act, low, high, before, at, actor in rows.fetchall():
        image = _image(before) if before else {}
        if table == "memories" and act == "insert":
            _note_back(connection, "memories", "rid", low, high, at, actor)
        elif table == "entities" and act == "insert":
            _note_back(connection, "entities", "eid", low, high, at, actor)
        elif table in ("memories", "entities"):
            sync_versions.decide(connection, str(image["id"]), ROW, at, actor)
        else:
            for key in range(low, high + 1):
                for thing, aspects in _changed_things(connection, table, act, key, image):
                    for aspect in aspects:
                        sync_versions.decide(connection, thing, aspect, at, actor)
    metadata.set_value(connection, _NOTED, str(last))


def _note_back(
    connection: apsw.Connection, table: str, key: str, low: int, high: int, at: int, actor: str
) -> None:
    """Rows that went before and are here again; a row that is new needs no stamp."""
    back: Any = connection.execute(
        f"SELECT v.thing FROM sync_versions v JOIN {table} t ON t.id = v.thing "
        f"WHERE v.aspect = '{ROW}' AND t.{key} BETWEEN ? AND ?",
        (low, high),
    ).fetchall()
    for (thing,) in back:
        sync_versions.decide(connection, str(thing), ROW, at, actor)


_NAMED = {
    "proposals": (lines.CARD, "id"), "saved_queries": (lines.QUESTION, "name"), "profiles": (lines.PROFILE, "name"),
}  # fmt: skip


def _changed_things(
    connection: apsw.Connection, table: str, act: str, key: int, image: dict[str, Any]
) -> list[tuple[str, tuple[str, ...]]]:
    """What a changed row is, and which of its aspects changed."""
    row = history.last_known_row(connection, table, key) | (image if act == "delete" else {})
    if table == "sessions_consolidations":
        if "session_id" not in row:
            return []
        parts: tuple[str, ...] = (VALUE,)
        if act == "update":
            parts = tuple(
                part
                for part, columns in SESSION_PARTS.items()
                if image.keys() & {*columns, _column_of_part(part)}
            )
        return [(lines.SESSION + str(row["session_id"]), parts)]
    if table == "entity_aliases":
        eids = {row.get("entity_id"), image.get("entity_id")}
        ids = (_row_id(connection, "entities", eid) for eid in eids if eid is not None)
        return [(id, (ALIASES,)) for id in ids if id]
    if table == "entity_decisions":
        thing = decision_thing(connection, row)
        return [(thing, (VALUE,))] if thing else []
    prefix, column = _NAMED[table]
    names = {row.get(column), image.get(column)} - {None}
    return [(prefix + str(name), (VALUE,)) for name in sorted(map(str, names))]


def _column_of_part(part: str) -> str:
    return "consolidated_through" if part == READ else part


def decision_thing(connection: apsw.Connection, row: dict[str, Any]) -> str | None:
    """The name of a decision about names, from its row; None where history no longer knows what it was about."""
    about = []
    for table, column in (("entities", "entity_id"), ("entities", "other_id"), ("memories", "rid")):
        number = row.get(column)
        id = None if number is None else _row_id(connection, table, int(number))
        if number is not None and id is None:
            return None
        about.append(id)
    return lines.decision_name(str(row.get("decision")), *about, row.get("key")) if row else None


def _row_id(connection: apsw.Connection, table: str, key: int) -> str | None:
    found = history.last_known_row(connection, table, key).get("id")
    return None if found is None else str(found)
