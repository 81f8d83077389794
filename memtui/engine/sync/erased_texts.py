"""What another device's erase took along beside memories goes here too: notes, questions, tags, and earlier texts of rows.

Where this device had it when it erased, its own erase took it. This is for what came afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from memtui.engine.store import history, stamps, sync_erased
from memtui.engine.store.sql import as_json, json_text, scalar

from . import lines

_image = msgspec.json.Decoder(dict[str, Any]).decode


def clear(connection: apsw.Connection, cleared: Iterable[str]) -> None:
    """Delete these notes, questions and tags (``ErasedLine.cleared``) where they still are; no history keeps them."""
    gone = list(cleared)
    if not gone:
        return
    with history.paused_history(connection):
        for pad_id in sync_erased.rows_among(sync_erased.notes(connection), gone):
            thing = stamps.PAD + str(
                scalar(connection, "SELECT key FROM scratchpad WHERE pad_id = ?", (pad_id,))
            )
            connection.execute("DELETE FROM scratchpad WHERE pad_id = ?", (pad_id,))
            _forget_stamps(connection, thing)
            _forget_row(connection, "scratchpad", pad_id)
        for query_id in sync_erased.rows_among(sync_erased.questions(connection), gone):
            name = str(scalar(connection, "SELECT name FROM saved_queries WHERE query_id = ?", (query_id,)))
            connection.execute("DELETE FROM saved_queries WHERE query_id = ?", (query_id,))
            connection.execute("DELETE FROM sync_versions WHERE thing = ?", (lines.QUESTION + name,))
            _forget_row(connection, "saved_queries", query_id)
        for rid, tag in sync_erased.rows_among(sync_erased.tags(connection), gone):
            id, tags = connection.execute("SELECT id, tags FROM memories WHERE rid = ?", (rid,)).fetchall()[0]
            left = [one for one in msgspec.json.decode(str(tags)) if one != tag]
            connection.execute("UPDATE memories SET tags = ? WHERE rid = ?", (json_text(left), rid))
            _forget_stamps(connection, str(id), stamps.TAG + tag)
            _forget_columns(connection, "memories", rid, frozenset({"tags"}))


_COVERED = {
    "entities": frozenset({"canonical_name", "summary"}),
    "sessions_consolidations": frozenset({"title", "summary", "last_error", "project", "source"}),
    "memories": frozenset({"tags", "attributes", "project", "source"}),
}


def forget_earlier(connection: apsw.Connection, covered: Iterable[str]) -> None:
    """Take what these rows (``ErasedLine.covered``) were called before out of history."""
    for thing in covered:
        if thing.startswith(lines.SESSION):
            sql, table = (
                "SELECT sid FROM sessions_consolidations WHERE session_id = ?",
                "sessions_consolidations",
            )
        elif thing.startswith(lines.ENTITY):
            sql, table = "SELECT eid FROM entities WHERE id = ?", "entities"
        else:
            sql, table = "SELECT rid FROM memories WHERE id = ?", "memories"
        key = scalar(connection, sql, (thing.removeprefix(lines.SESSION),))
        if key is None:
            continue
        _forget_columns(connection, table, key, _COVERED[table])
        if table == "entities":
            connection.execute(
                "DELETE FROM changes WHERE tbl = 'entity_aliases' AND act <> 'insert' AND (before ->> '$.entity_id' = ?1 "
                "OR lo IN (SELECT alias_id FROM entity_aliases WHERE entity_id = ?1))",
                (key,),
            )


def _forget_stamps(connection: apsw.Connection, thing: str, aspect: str | None = None) -> None:
    found = connection.execute(
        "DELETE FROM decided WHERE thing = ?1 AND (?2 IS NULL OR aspect = ?2) RETURNING decided_id",
        (thing, aspect),
    ).fetchall()
    connection.execute(
        "DELETE FROM changes WHERE tbl = 'decided' AND lo IN (SELECT value FROM json_each(?))",
        (as_json(key for (key,) in found),),
    )


def _forget_row(connection: apsw.Connection, table: str, key: int) -> None:
    connection.execute("DELETE FROM changes WHERE tbl = ? AND lo = ? AND act <> 'insert'", (table, key))


def _forget_columns(connection: apsw.Connection, table: str, key: int, columns: frozenset[str]) -> None:
    """Take columns out of the images of a row in history; an image of nothing else goes."""
    for seq, before, after in connection.execute(
        "SELECT seq, before, after FROM changes WHERE tbl = ? AND lo = ? AND act = 'update'", (table, key)
    ).fetchall():
        old, new = (
            {name: value for name, value in _image(str(image)).items() if name not in columns}
            if image
            else None
            for image in (before, after)
        )
        if not old:
            connection.execute("DELETE FROM changes WHERE seq = ?", (seq,))
        elif columns & _image(str(before)).keys():
            connection.execute(
                "UPDATE changes SET before = ?, after = ? WHERE seq = ?",
                (json_text(old), None if new is None else json_text(new), seq),
            )
