"""Erasing in one database: the file, or a copy of a backup in whatever format it has. One transaction.

Rows that stay lose what pointed at the rows that go. Nothing of it is kept in history, so that no undo brings it
back; a salted hash of what the source called it stays, so that no import does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import msgspec

from memtui.engine.store import cjk, full_text, vectors
from memtui.engine.store.entities import entity_key
from memtui.engine.store.erased import keys_hash, note_key, salt_of, title_key, turn_keys
from memtui.engine.store.sql import as_json, json_text, scalar
from memtui.engine.wording import plural

from . import images
from .columns import columns_of
from .going import Closure
from .survey import Step, keys_of, survey
from .values import NOTHING, about, without

KIND = "erase"
_any = msgspec.json.Decoder().decode


def label(count: int) -> str:
    return f"Erased {plural(count, 'memory')} for good"


def scrub(connection: apsw.Connection, closure: Closure, *, actor: str, now: int, count: int) -> None:
    """Let go of the closure, in the caller's transaction, as an operation without rows of its own."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    steps = survey(connection, closure)
    connection.execute(
        "INSERT INTO ops(at, actor, kind, label) VALUES (?, ?, ?, ?)", (now, actor, KIND, label(count))
    )
    op_id = connection.last_insert_rowid()
    connection.execute("DELETE FROM current_op")
    connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
    _remember_keys(connection, closure, steps)
    deleted = {
        "memories": closure.every_rid,
        "entities": set(closure.entities),
        "entity_aliases": _keys(connection, "alias_id", "entity_aliases", "entity_id", closure.entities),
        "entity_decisions": _keys(connection, "decision_id", "entity_decisions", "rid", closure.rids)
        | _keys(connection, "decision_id", "entity_decisions", "entity_id", closure.entities)
        | _keys(connection, "decision_id", "entity_decisions", "other_id", closure.entities)
        | keys_of(steps, "entity_decisions"),
        "sessions_consolidations": _keys(
            connection, "sid", "sessions_consolidations", "session_id", closure.sessions
        )
        | closure.sessions_gone,
        "scratchpad": keys_of(steps, "scratchpad"),
        "proposals": keys_of(steps, "proposals"),
        "saved_queries": keys_of(steps, "saved_queries"),
    }
    _dissolve(connection, closure)
    rids = as_json(closure.rids)
    connection.execute("DELETE FROM memories WHERE rid IN (SELECT value FROM json_each(?))", (rids,))
    _drop_names(connection, closure)
    for step in steps:
        if step.values is None:
            connection.execute(f"DELETE FROM {step.table} WHERE {step.key_column} = ?", (step.key,))
        else:
            columns = ", ".join(f"{column} = ?" for column in step.values)
            connection.execute(
                f"UPDATE {step.table} SET {columns} WHERE {step.key_column} = ?",
                (*step.values.values(), step.key),
            )
    connection.execute(
        "DELETE FROM sessions_consolidations WHERE session_id IN (SELECT value FROM json_each(?))",
        (as_json(closure.sessions),),
    )
    images.scrub_history(connection, closure, deleted, op_id)
    connection.execute("DELETE FROM current_op")


def settle_indexes(connection: apsw.Connection, closure: Closure, *, vec0: bool) -> None:
    """Make the indexes forget what they only marked as deleted; in the caller's transaction.

    ``vec0``: whether the vector index can be written (its extension is there).
    """
    for table in full_text.TABLES:
        if columns_of(connection, table):
            full_text.forget_deleted(connection, table)
    if any(map(cjk.bigrams, closure.contents)):
        # Contentless: an entry outlives its text until all are made again.
        connection.execute("INSERT INTO memories_cjk(memories_cjk) VALUES ('delete-all')")
        for rid, content in connection.execute("SELECT rid, content FROM memories"):
            cjk.index(connection, int(str(rid)), str(content))
        connection.execute("INSERT INTO memories_cjk(memories_cjk) VALUES ('optimize')")
    if vec0:
        while vectors.index_exists(connection) and vectors.sync(connection):
            pass
        live = vectors.index_table(connection)
        for table in {"vec_memories_a", "vec_memories_b"} - {live}:  # of a model that is no longer in use
            connection.execute(f"DROP TABLE IF EXISTS {table}")


_KNOWN_BY = {
    "scratchpad": "SELECT 'scratchpad:' || key FROM scratchpad WHERE pad_id = ?",
    "proposals": "SELECT 'card:' || id FROM proposals WHERE proposal_id = ?",
    "saved_queries": "SELECT 'question:' || name FROM saved_queries WHERE query_id = ?",
}


def _remember_keys(connection: apsw.Connection, closure: Closure, steps: Sequence[Step]) -> None:
    keys = {key for id in closure.ids for key in (id, f"memtui:{id}")}  # the latter in a vault of ours
    for row in closure.every_row:
        if row.source_key:
            keys.add(row.source_key)
        if row.kind != "episode":
            keys.add(note_key(row.kind, row.content))
        elif row.session_id:  # the same words may be told by another file of the same program
            keys.update(turn_keys(row.session_id, row.source_role or "", row.content, row.event_time))
    keys |= {f"session:{session_id}" for session_id in closure.sessions}
    keys |= {title_key(session_id, title) for session_id, title in closure.sessions.items() if title}
    for id, name in closure.entities.values():
        keys |= {f"entity:{id}", f"entity:{entity_key(name)}"}
    keys |= set(closure.labels)  # what was covered is known to its source by its name
    for step in steps:
        if step.values is None and step.table in _KNOWN_BY:
            keys.add(str(scalar(connection, _KNOWN_BY[step.table], (step.key,))))
        elif step.table == "sessions_consolidations" and "title" in (step.values or ()):
            keys |= {
                title_key(str(session_id), str(title))
                for session_id, title in connection.execute(
                    "SELECT session_id, title FROM sessions_consolidations WHERE sid = ?", (step.key,)
                )
            }
    salt = salt_of(connection)
    connection.executemany(
        "INSERT INTO erased_keys(hash) VALUES (?) ON CONFLICT DO NOTHING",
        [(keys_hash(key, salt),) for key in keys],
    )


def _keys(
    connection: apsw.Connection, key: str, table: str, column: str, values: Iterable[object]
) -> set[int]:
    rows = connection.execute(
        f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (as_json(values),)
    )
    return {int(str(found)) for (found,) in rows}


def _dissolve(connection: apsw.Connection, closure: Closure) -> None:
    """Rows that stay no longer name what goes: as a source, as what they replaced, as their session."""
    ids = closure.ids
    for rid, sources, attributes in connection.execute(
        """
        SELECT DISTINCT m.rid, m.source_ids, m.attributes FROM memory_links l JOIN memories m ON m.id = l.from_id
        WHERE l.to_id IN (SELECT value FROM json_each(?1)) AND m.id NOT IN (SELECT value FROM json_each(?1))
        """,
        (as_json(ids),),
    ).fetchall():
        left: Any = without(_any(str(sources)), ids)
        connection.execute(
            "UPDATE memories SET source_ids = ?, attributes = ? WHERE rid = ?",
            ("[]" if left is NOTHING else json_text(left), json_text(about(_any(str(attributes)), ids)), rid),
        )
    connection.execute(
        """
        UPDATE memories SET session_id = NULL, source = CASE WHEN source = 'session:' || session_id THEN NULL ELSE source END
        WHERE session_id IN (SELECT value FROM json_each(?)) AND rid NOT IN (SELECT value FROM json_each(?))
        """,
        (as_json(closure.sessions), as_json(closure.rids)),
    )


def _drop_names(connection: apsw.Connection, closure: Closure) -> None:
    """Names that stand in nothing else. What was merged into one of them goes over to the most mentioned of them."""
    gone = as_json(closure.entities)
    heirs: dict[int, int] = {}
    for eid, survivor in connection.execute(
        """
        SELECT eid, merged_into FROM entities WHERE merged_into IN (SELECT value FROM json_each(?1))
        AND eid NOT IN (SELECT value FROM json_each(?1)) ORDER BY mention_count DESC, eid
        """,
        (gone,),
    ).fetchall():
        heir = heirs.setdefault(int(str(survivor)), int(str(eid)))
        connection.execute(
            "UPDATE entities SET merged_into = ? WHERE eid = ?", (None if heir == eid else heir, eid)
        )
    connection.execute("DELETE FROM entities WHERE eid IN (SELECT value FROM json_each(?))", (gone,))
