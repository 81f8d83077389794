"""The triggers of the file: history, full text, links, queues.

They run inside the writer's own transaction and use nothing but built-in SQLite, so that
every program that writes the file is caught, also one that knows nothing of memtui.
They are derived from the tables and installed again after each migration.
"""

from __future__ import annotations

import apsw

from .columns import COVERED, Covered

_OPERATION = "coalesce((SELECT op_id FROM current_op), (SELECT max(op_id) FROM ops))"

# A foreign writer's rows of the same two seconds share one operation.
_FILE_EXTERNAL = """
    INSERT INTO ops(at, actor, kind, label)
    SELECT unixepoch(), 'external', 'external', 'Changed by another program'
    WHERE NOT EXISTS (SELECT 1 FROM current_op)
      AND NOT EXISTS (SELECT 1 FROM ops WHERE op_id = (SELECT max(op_id) FROM ops)
                      AND actor = 'external' AND at >= unixepoch() - 2);"""


def _image(row: str, other: str, columns: tuple[str, ...]) -> str:
    """SQL for a JSON object of the columns of ``row`` that differ from ``other``."""
    parts = " UNION ALL ".join(
        f"SELECT '{c}' AS k, {row}.{c} AS v WHERE {row}.{c} IS NOT {other}.{c}" for c in columns
    )
    return f"(SELECT json_group_object(k, v) FROM ({parts}))"


def _history(table: str, covered: Covered) -> list[str]:
    key, columns, everything = covered.key, covered.columns, covered.all_columns
    # op 0 marks what a program derived (an entity found in a text): not a decision, not history.
    when = "WHEN (SELECT op_id FROM current_op) IS NOT 0" if covered.derivable else ""
    record = f"INSERT INTO changes(op_id, tbl, act, lo, hi, before, after) SELECT {_OPERATION}, '{table}'"
    whole = ", ".join(f"'{c}', old.{c}" for c in everything)
    return [
        f"""CREATE TRIGGER history_{table}_insert AFTER INSERT ON {table} {when} BEGIN{_FILE_EXTERNAL}
    UPDATE changes SET hi = new.{key}
    WHERE seq = (SELECT seq FROM changes WHERE op_id = {_OPERATION} AND tbl = '{table}'
                 ORDER BY seq DESC LIMIT 1)
      AND act = 'insert' AND hi = new.{key} - 1;
    {record}, 'insert', new.{key}, new.{key}, NULL, NULL WHERE changes() = 0;
END""",
        f"""CREATE TRIGGER history_{table}_update AFTER UPDATE OF {", ".join(columns)} ON {table} {when} BEGIN{_FILE_EXTERNAL}
    {record}, 'update', new.{key}, new.{key},
        {_image("old", "new", columns)},
        {_image("new", "old", columns)}
    WHERE {" OR ".join(f"old.{c} IS NOT new.{c}" for c in columns)};
END""",
        f"""CREATE TRIGGER history_{table}_delete AFTER DELETE ON {table} {when} BEGIN{_FILE_EXTERNAL}
    {record}, 'delete', old.{key}, old.{key}, json_object({whole}), NULL;
END""",
    ]


_FULL_TEXT = [
    """CREATE TRIGGER text_insert AFTER INSERT ON memories BEGIN
    INSERT INTO memories_fts(rowid, context, content)
        SELECT rid, context, content FROM memories_text WHERE rid = new.rid;
    INSERT INTO index_queue(rid) VALUES (new.rid);
END""",
    """CREATE TRIGGER text_insert_fact AFTER INSERT ON memories WHEN new.kind = 'fact' BEGIN
    INSERT INTO facts_fts(rowid, context, content)
        SELECT rid, context, content FROM memories_text WHERE rid = new.rid;
END""",
]
for _name, _event in (("update", "UPDATE OF content, source_role, event_time, kind"), ("delete", "DELETE")):
    _FULL_TEXT.append(
        f"""CREATE TRIGGER text_{_name}_before BEFORE {_event} ON memories BEGIN
    INSERT INTO memories_fts(memories_fts, rowid, context, content)
        SELECT 'delete', rid, context, content FROM memories_text WHERE rid = old.rid;
    INSERT INTO facts_fts(facts_fts, rowid, context, content)
        SELECT 'delete', rid, context, content FROM facts_text WHERE rid = old.rid;
END"""
    )
_FULL_TEXT.append(
    """CREATE TRIGGER text_update_after AFTER UPDATE OF content, source_role, event_time, kind ON memories BEGIN
    INSERT INTO memories_fts(rowid, context, content)
        SELECT rid, context, content FROM memories_text WHERE rid = new.rid;
    INSERT INTO facts_fts(rowid, context, content)
        SELECT rid, context, content FROM facts_text WHERE rid = new.rid;
    INSERT INTO index_queue(rid) VALUES (new.rid) ON CONFLICT(rid) DO UPDATE SET text = 1, vector = 1;
    DELETE FROM embeddings WHERE rid = new.rid;
    DELETE FROM enrichments WHERE rid = new.rid;
END"""
)

_LINK_SOURCES = """
    SELECT m.id, 'source', value FROM {memories} m, json_each(m.source_ids)
    WHERE type = 'text' AND m.source_ids <> '[]'
    UNION ALL
    SELECT m.id, key, value FROM {memories} m, json_each(m.attributes)
    WHERE key IN ('supersedes', 'merged') AND type = 'text' AND m.attributes <> '{{}}'
    UNION ALL
    SELECT m.id, a.key, e.value FROM {memories} m, json_each(m.attributes) a,
           json_each(CASE a.type WHEN 'array' THEN a.value ELSE '[]' END) e
    WHERE a.key IN ('supersedes', 'merged') AND e.type = 'text' AND m.attributes <> '{{}}'"""

# One row of memories as the trigger sees it.
_NEW_ROW = "(SELECT new.id AS id, new.source_ids AS source_ids, new.attributes AS attributes)"


def fill_links_sql(rows: str = "memories") -> str:
    """INSERT of the links that the rows state; ``rows`` names a table or a subquery."""
    return (
        "INSERT INTO memory_links(from_id, rel, to_id) SELECT * FROM ("
        f"{_LINK_SOURCES.format(memories=rows)}) WHERE true ON CONFLICT DO NOTHING"
    )


_DERIVE_LINKS = f"\n    {fill_links_sql(_NEW_ROW)};"
_LINKS = [
    f"""CREATE TRIGGER links_insert AFTER INSERT ON memories
WHEN new.source_ids <> '[]' OR new.attributes <> '{{}}' BEGIN{_DERIVE_LINKS}
END""",
    f"""CREATE TRIGGER links_update AFTER UPDATE OF id, source_ids, attributes ON memories
WHEN old.id IS NOT new.id OR old.source_ids IS NOT new.source_ids OR old.attributes IS NOT new.attributes BEGIN
    DELETE FROM memory_links WHERE from_id = old.id;{_DERIVE_LINKS}
END""",
    """CREATE TRIGGER links_delete AFTER DELETE ON memories BEGIN
    DELETE FROM memory_links WHERE from_id = old.id;
END""",
]

_COUNTS = [
    """CREATE TRIGGER mentions_insert AFTER INSERT ON memory_entities BEGIN
    UPDATE entities SET mention_count = mention_count + 1 WHERE eid = new.eid;
END""",
    """CREATE TRIGGER mentions_delete AFTER DELETE ON memory_entities BEGIN
    UPDATE entities SET mention_count = mention_count - 1 WHERE eid = old.eid;
END""",
]

# A program that leaves foreign keys off (SQLite's default) would leave these behind.
_DEPENDENTS = [
    "CREATE TRIGGER dependents_delete AFTER DELETE ON memories BEGIN"
    + "".join(
        f"\n    DELETE FROM {table} WHERE rid = old.rid;"
        for table in ("index_queue", "embeddings", "memory_entities", "entity_decisions")
    )
    + "\nEND"
]

_VECTORS = [
    f"""CREATE TRIGGER vectors_{name} AFTER {event} ON embeddings BEGIN
    INSERT INTO vector_changes(rid) VALUES ({row}.rid) ON CONFLICT DO NOTHING;
    INSERT INTO vector_log(rid) VALUES ({row}.rid);
END"""
    for name, event, row in (
        ("insert", "INSERT", "new"),
        ("update", "UPDATE", "new"),
        ("delete", "DELETE", "old"),
    )
]


def trigger_sql() -> list[str]:
    """One CREATE TRIGGER statement each, in the order in which they are installed.

    SQLite runs triggers of one event in reverse order of creation on some versions, so no
    trigger relies on another of the same event.
    """
    history = [sql for table, covered in COVERED.items() for sql in _history(table, covered)]
    return [*history, *_FULL_TEXT, *_LINKS, *_COUNTS, *_DEPENDENTS, *_VECTORS]


def install(connection: apsw.Connection) -> None:
    """Replace every trigger of the file by the current ones; inside the caller's transaction."""
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    for sql in trigger_sql():
        connection.execute(sql)
