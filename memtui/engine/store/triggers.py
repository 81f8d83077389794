"""The triggers of the file: history, full text, links, queues.

They run inside the writer's own transaction and use nothing but built-in SQLite, so that
every program that writes the file is caught, also one that knows nothing of memtui.
They are derived from the tables and installed again after each migration.
"""

from __future__ import annotations

import apsw

from .stamps import stamp_sql
from .tables import COVERED, HistoryTable

_OPERATION = "coalesce((SELECT op_id FROM current_op), (SELECT max(op_id) FROM ops))"

# A foreign writer's rows of the same two seconds share one operation.
_FILE_EXTERNAL = """
    INSERT INTO ops(at, actor, kind, label)
    SELECT unixepoch(), 'external', 'external', 'Changed by another program'
    WHERE NOT EXISTS (SELECT 1 FROM current_op)
      AND NOT EXISTS (SELECT 1 FROM ops WHERE op_id = (SELECT max(op_id) FROM ops)
                      AND actor = 'external' AND at >= unixepoch() - 2);"""


def _sql_row_image(row: str, other: str, columns: tuple[str, ...]) -> str:
    """SQL for a JSON object of the columns of ``row`` that differ from ``other``."""
    parts = " UNION ALL ".join(
        f"SELECT '{c}' AS k, {row}.{c} AS v WHERE {row}.{c} IS NOT {other}.{c}" for c in columns
    )
    return f"(SELECT json_group_object(k, v) FROM ({parts}))"


def _history_triggers(table: str, covered: HistoryTable) -> list[str]:
    key, columns, everything = covered.key, covered.columns, covered.all_columns
    # op 0 marks what a program derived (an entity found in a text): not a decision, not history.
    only = covered.only or ("(SELECT op_id FROM current_op) IS NOT 0" if covered.derivable else "")
    when = f"WHEN {only}" if only else ""
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
        {_sql_row_image("old", "new", columns)},
        {_sql_row_image("new", "old", columns)}
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
    """CREATE TRIGGER text_insert_observation AFTER INSERT ON memories WHEN new.kind = 'observation' BEGIN
    INSERT INTO observations_fts(rowid, content) SELECT rid, content FROM observations_text WHERE rid = new.rid;
END""",
]
for _name, _event in (("update", "UPDATE OF content, source_role, event_time, kind"), ("delete", "DELETE")):
    _FULL_TEXT.append(
        f"""CREATE TRIGGER text_{_name}_before BEFORE {_event} ON memories BEGIN
    INSERT INTO memories_fts(memories_fts, rowid, context, content)
        SELECT 'delete', rid, context, content FROM memories_text WHERE rid = old.rid;
    INSERT INTO facts_fts(facts_fts, rowid, context, content)
        SELECT 'delete', rid, context, content FROM facts_text WHERE rid = old.rid;
    INSERT INTO observations_fts(observations_fts, rowid, content)
        SELECT 'delete', rid, content FROM observations_text WHERE rid = old.rid;
END"""
    )
_FULL_TEXT.append(
    """CREATE TRIGGER text_update_after AFTER UPDATE OF content, source_role, event_time, kind ON memories BEGIN
    INSERT INTO memories_fts(rowid, context, content)
        SELECT rid, context, content FROM memories_text WHERE rid = new.rid;
    INSERT INTO facts_fts(rowid, context, content)
        SELECT rid, context, content FROM facts_text WHERE rid = new.rid;
    INSERT INTO observations_fts(rowid, content) SELECT rid, content FROM observations_text WHERE rid = new.rid;
    INSERT INTO index_queue(rid) VALUES (new.rid) ON CONFLICT(rid) DO UPDATE SET text = 1, vector = 1;
    DELETE FROM embeddings WHERE rid = new.rid;
    DELETE FROM enriched_links WHERE rid = new.rid;
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


def stated_links_sql() -> str:
    """SELECT of the links (from_id, rel, to_id) that the memories state, each once."""
    names = "SELECT NULL AS from_id, NULL AS rel, NULL AS to_id WHERE false"
    return f"SELECT * FROM ({names} UNION {_LINK_SOURCES.format(memories='memories')})"


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


def _count_mention(step: str, link: str) -> str:
    """SQL that counts one link of an active memory: for its row, and for the one that row is merged into,
    unless another link of the memory counts for that already."""
    return f"""
    UPDATE entities SET mention_count = mention_count {step} 1
    WHERE eid IN ({link}.eid, (SELECT merged_into FROM entities WHERE eid = {link}.eid)) AND NOT EXISTS (
        SELECT 1 FROM memory_entities o JOIN entities g ON g.eid = o.eid
        WHERE o.rid = {link}.rid AND o.eid <> {link}.eid AND o.at IS NOT NULL
          AND (g.eid = entities.eid OR g.merged_into = entities.eid));"""


RECOUNT_MENTIONS = """
    UPDATE entities SET mention_count = (
        SELECT count(DISTINCT l.rid) FROM memory_entities l
        WHERE l.at IS NOT NULL AND l.eid IN (
            SELECT entities.eid UNION ALL SELECT g.eid FROM entities g WHERE g.merged_into = entities.eid))"""
"""The one definition of ``mention_count``: active memories linked to it or to one that is merged into it."""

MEMORY_AT = "(SELECT event_time FROM memories m WHERE m.rid = {row}.rid AND m.valid_until IS NULL)"
"""``memory_entities.at`` of a row: when its memory happened, NULL while that is in the Trash."""

_COUNTS = [
    f"""CREATE TRIGGER mentions_place AFTER INSERT ON memory_entities WHEN new.at IS NULL BEGIN
    UPDATE memory_entities SET at = {MEMORY_AT.format(row="new")} WHERE rid = new.rid AND eid = new.eid;
END""",
    f"""CREATE TRIGGER mentions_insert AFTER INSERT ON memory_entities WHEN new.at IS NOT NULL BEGIN{_count_mention("+", "new")}
END""",
    f"""CREATE TRIGGER mentions_appear AFTER UPDATE OF at ON memory_entities
WHEN old.at IS NULL AND new.at IS NOT NULL BEGIN{_count_mention("+", "new")}
END""",
    f"""CREATE TRIGGER mentions_end AFTER UPDATE OF at ON memory_entities
WHEN old.at IS NOT NULL AND new.at IS NULL BEGIN{_count_mention("-", "new")}
END""",
    f"""CREATE TRIGGER mentions_delete AFTER DELETE ON memory_entities WHEN old.at IS NOT NULL BEGIN{_count_mention("-", "old")}
END""",
    f"""CREATE TRIGGER mentions_memory AFTER UPDATE OF valid_until, event_time ON memories
WHEN old.valid_until IS NOT new.valid_until OR old.event_time <> new.event_time BEGIN
    UPDATE memory_entities SET at = {MEMORY_AT.format(row="new")} WHERE rid = new.rid;
END""",
    f"""CREATE TRIGGER mentions_merge AFTER UPDATE OF merged_into ON entities
WHEN old.merged_into IS NOT new.merged_into BEGIN{RECOUNT_MENTIONS}
    WHERE eid IN (new.eid, old.merged_into, new.merged_into);
END""",
    # While the row is there, so that what it is merged into is known.
    """CREATE TRIGGER mentions_entity BEFORE DELETE ON entities BEGIN
    DELETE FROM memory_entities WHERE eid = old.eid;
END""",
]

_VOTE = """
    INSERT INTO entity_votes(eid, type, votes) SELECT new.eid, new.vote, 1 WHERE new.vote IS NOT NULL
    ON CONFLICT(eid, type) DO UPDATE SET votes = votes + 1;"""
_UNVOTE = """
    UPDATE entity_votes SET votes = votes - 1 WHERE eid = old.eid AND type = old.vote;
    DELETE FROM entity_votes WHERE eid = old.eid AND type = old.vote AND votes <= 0;"""
_VOTES = [
    f"CREATE TRIGGER votes_insert AFTER INSERT ON memory_entities WHEN new.vote IS NOT NULL BEGIN{_VOTE}\nEND",
    f"""CREATE TRIGGER votes_update AFTER UPDATE OF vote ON memory_entities
WHEN old.vote IS NOT new.vote BEGIN{_UNVOTE}{_VOTE}
END""",
    f"CREATE TRIGGER votes_delete AFTER DELETE ON memory_entities WHEN old.vote IS NOT NULL BEGIN{_UNVOTE}\nEND",
]

# Where a name may stand: the text is read for names again, which links it (or not) as things are now. The indexes
# are asked as functions, because a trigger of an untrusted schema may not say MATCH.
_READ_AGAIN = """
    INSERT INTO index_queue(rid, text, vector)
        SELECT f.rowid, 1, 0 FROM names_text n
        CROSS JOIN memories_fts('content : "' || replace(n.alias, '"', '""') || '"') f WHERE n.alias_id = new.alias_id
        ON CONFLICT(rid) DO UPDATE SET text = 1;
    INSERT INTO index_queue(rid, text, vector)
        SELECT f.rowid, 1, 0 FROM memories_cjk('"' || replace(substr(new.alias, 1, 2), '"', '') || '"') f
        WHERE new.alias GLOB '[ぁ-ヺ㐀-鿿가-힣][ぁ-ヺ㐀-鿿가-힣]*' AND f.rowid IN (SELECT rid FROM memories)
        ON CONFLICT(rid) DO UPDATE SET text = 1;"""
_READ_ONE_AGAIN = """
    INSERT INTO index_queue(rid, text, vector)
        SELECT rid, 1, 0 FROM memories WHERE rid = {row}.rid
        ON CONFLICT(rid) DO UPDATE SET text = 1;"""
# Programs keep the names in mind; this tells them that some are gone.
_FORGET_NAMES = """
    INSERT INTO memory_metadata(key, value) VALUES ('names_version', '1')
    ON CONFLICT(key) DO UPDATE SET value = CAST(value AS INTEGER) + 1;"""
_DECIDED = "coalesce((SELECT op_id FROM current_op), -1) <> 0"

# What the person decides moves links at once, and back again when it is undone.
_DECISIONS = [
    """CREATE TRIGGER decisions_unlink AFTER INSERT ON entity_decisions WHEN new.decision = 'unlink' BEGIN
    DELETE FROM memory_entities WHERE rid = new.rid AND eid = new.entity_id;
END""",
    f"""CREATE TRIGGER decisions_unlink_undone AFTER DELETE ON entity_decisions WHEN old.decision = 'unlink' BEGIN
    INSERT INTO memory_entities(rid, eid)
        SELECT m.rid, e.eid FROM memories m, entities e WHERE m.rid = old.rid AND e.eid = old.entity_id
        ON CONFLICT DO NOTHING;{_READ_ONE_AGAIN.format(row="old")}
END""",
    """CREATE TRIGGER decisions_link AFTER INSERT ON entity_decisions WHEN new.decision = 'link' BEGIN
    INSERT INTO memory_entities(rid, eid) VALUES (new.rid, new.entity_id) ON CONFLICT DO NOTHING;
END""",
    f"""CREATE TRIGGER decisions_link_undone AFTER DELETE ON entity_decisions WHEN old.decision = 'link' BEGIN
    DELETE FROM memory_entities WHERE rid = old.rid AND eid = old.entity_id;{_READ_ONE_AGAIN.format(row="old")}
END""",
    f"""CREATE TRIGGER names_learned AFTER INSERT ON entity_aliases WHEN {_DECIDED} BEGIN{_READ_AGAIN}
END""",
    f"""CREATE TRIGGER names_moved AFTER UPDATE OF entity_id ON entity_aliases WHEN old.entity_id <> new.entity_id BEGIN
    INSERT INTO memory_entities(rid, eid, at, vote)
        SELECT l.rid, new.entity_id, l.at, l.vote FROM memory_entities l WHERE l.eid = old.entity_id AND NOT EXISTS (
            SELECT 1 FROM entity_decisions d WHERE d.rid = l.rid AND d.entity_id = l.eid AND d.decision = 'link')
        ON CONFLICT DO NOTHING;
    DELETE FROM memory_entities WHERE eid = old.entity_id AND NOT EXISTS (
        SELECT 1 FROM entity_decisions d
        WHERE d.rid = memory_entities.rid AND d.entity_id = old.entity_id AND d.decision = 'link');{_FORGET_NAMES}
END""",
    f"""CREATE TRIGGER names_forgotten AFTER DELETE ON entity_aliases BEGIN{_FORGET_NAMES}
END""",
    f"""CREATE TRIGGER names_hidden AFTER UPDATE OF hidden ON entities WHEN old.hidden <> new.hidden BEGIN{_FORGET_NAMES}
END""",
    # Another text names others; what the person linked stays.
    """CREATE TRIGGER mentions_text AFTER UPDATE OF content ON memories WHEN old.content <> new.content BEGIN
    DELETE FROM memory_entities WHERE rid = new.rid AND NOT EXISTS (
        SELECT 1 FROM entity_decisions d
        WHERE d.rid = new.rid AND d.entity_id = memory_entities.eid AND d.decision = 'link');
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
    f"""CREATE TRIGGER vectors_{name} AFTER {event} ON embeddings
WHEN {row}.model_id = (SELECT value FROM memory_metadata WHERE key = 'embedding_model') BEGIN
    INSERT INTO vector_changes(rid) VALUES ({row}.rid) ON CONFLICT DO NOTHING;
    INSERT INTO vector_log(rid) VALUES ({row}.rid);
END"""
    for name, event, row in (
        ("insert", "INSERT", "new"),
        ("update", "UPDATE", "new"),
        ("delete", "DELETE", "old"),
    )
]
_VECTORS.append(
    """CREATE TRIGGER word_vectors_delete AFTER DELETE ON embeddings BEGIN
    DELETE FROM word_vectors WHERE model_id = old.model_id AND rid = old.rid;
END"""
)


def trigger_sql() -> list[str]:
    """One CREATE TRIGGER statement each, in the order in which they are installed.

    SQLite runs triggers of one event in reverse order of creation on some versions, so no
    trigger relies on another of the same event.
    """
    history = [sql for table, covered in COVERED.items() for sql in _history_triggers(table, covered)]
    return [
        *history,
        *_FULL_TEXT,
        *_LINKS,
        *_COUNTS,
        *_VOTES,
        *_DECISIONS,
        *_DEPENDENTS,
        *_VECTORS,
        *stamp_sql(),
    ]


def install(connection: apsw.Connection) -> None:
    """Replace every trigger of the file by the current ones; inside the caller's transaction."""
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    for sql in trigger_sql():
        connection.execute(sql)
