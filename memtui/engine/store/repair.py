"""Rebuild derived data: indexes, counts, links, file modes. Base rows are never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from memtui import operating_system
from memtui.engine.records import Repair

from . import full_text, triggers, vectors
from .check.structure import (
    DERIVED,
    FIXED,
    can_be_made,
    existing_schema,
    expected_schema,
    fixed_contents,
    owner_of,
    owner_only_files,
    table_contents,
    too_low_sequences,
)
from .connections import Connections
from .sql import scalar


def repair(connections: Connections, broken: set[str]) -> tuple[Repair, ...]:
    """Mend what these checks complained about; each by itself, so that one that fails does not keep the others.

    What could not be mended is found again by the next check.
    """
    done: list[Repair] = []
    with connections.write() as connection:
        for mend in dict.fromkeys(_REPAIRS[name] for name in _REPAIRS if name in broken):
            name = next(name for name, known in _REPAIRS.items() if known is mend and name in broken)
            try:
                with connection:
                    done += [Repair(check=name, did=did) for did in mend(connection)]
            except (apsw.SQLError, apsw.CorruptError, apsw.ConstraintError):
                continue
    if "permissions" in broken and connections.path is not None:
        for part in owner_only_files(connections.path):
            operating_system.close_to_others(part)
        done.append(Repair(check="permissions", did="Closed the memory and its backups to others."))
    return tuple(done)


def _repair_schema(connection: apsw.Connection) -> Iterator[str]:
    wanted, have = expected_schema(), existing_schema(connection)
    changed = {key for key in wanted.keys() | have.keys() if wanted.get(key) != have.get(key)}
    mendable = sorted(key for key in changed if can_be_made(*key, have))
    # A broken full-text index goes as a whole, with the inner tables that it has.
    texts = sorted({owner for kind, name in mendable if kind == "table" and (owner := owner_of(name))})
    for kind, name in mendable:
        if kind in ("view", "index", "trigger") and (kind, name) in have:
            connection.execute(f'DROP {kind} "{name}"')
    for table in texts:
        connection.execute(f'DROP TABLE IF EXISTS "{table}"')
        for kind, name in existing_schema(connection):  # an inner table whose index is gone
            if kind == "table" and owner_of(name) == table:
                connection.execute(f'DROP TABLE "{name}"')
    made = [key for key in mendable if key[0] == "table" and key[1] in (*DERIVED, *FIXED)] + [
        ("table", name) for name in texts
    ]
    made += [key for key in mendable if key[0] in ("view", "index")]
    for key in sorted(made, key=lambda key: ("table", "view", "index").index(key[0])):
        if key in wanted:
            try:
                connection.execute(wanted[key])
            except apsw.ConstraintError:
                # Rows break the rule that a unique index holds: they are the person's.
                mendable.remove(key)
    yield from _fixed_tables(connection)
    for table in texts:
        _rebuild_index(connection, table)
    if changed:
        triggers.install(connection)
    if {("table", "memory_entities"), ("table", "index_queue")} & set(made):
        _link_anew(connection)
    if mendable:
        yield f"Made the schema that of this version: {', '.join(' '.join(key) for key in mendable[:6])}."
    yield from _repair_sequences(connection)


def _fixed_tables(connection: apsw.Connection) -> Iterator[str]:
    for table in FIXED:
        rows = fixed_contents(table)
        if table_contents(connection, table) != rows:
            connection.execute(f"DELETE FROM {table}")
            connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
            yield f"Filled the table {table} with the rows of this version."


def _link_anew(connection: apsw.Connection) -> None:
    """What the person linked stands in their decisions; the rest is found in the texts again."""
    connection.execute(
        "INSERT INTO memory_entities(rid, eid) SELECT rid, entity_id FROM entity_decisions d WHERE decision = 'link' "
        "AND rid IN (SELECT rid FROM memories) AND entity_id IN (SELECT eid FROM entities) ON CONFLICT DO NOTHING"
    )
    connection.execute(
        "INSERT INTO index_queue(rid, text, vector) SELECT rid, 1, rid NOT IN (SELECT rid FROM embeddings) "
        "FROM memories WHERE true ON CONFLICT(rid) DO UPDATE SET text = 1"
    )


def _repair_sequences(connection: apsw.Connection) -> Iterator[str]:
    for table, least in too_low_sequences(connection).items():
        if connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (table,)).get is None:
            connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table, least))
        else:
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (least, table))
        yield f"New rows of {table} are counted from {least + 1:,} on."


def _repair_pages(connection: apsw.Connection) -> Iterator[str]:
    connection.execute("REINDEX")
    yield "Sorted every index of the file anew."


def _remove_orphans(connection: apsw.Connection) -> Iterator[str]:
    for table in DERIVED:
        gone = 0
        for _, _, parent, column, key, *_ in connection.execute(
            f"PRAGMA foreign_key_list({table})"
        ).fetchall():
            connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {key} FROM {parent})")
            gone += connection.changes()
        if gone:
            yield f"Deleted {gone:,} rows of {table} that pointed at nothing."
    list(_repair_counts(connection))


def _full_text(connection: apsw.Connection) -> Iterator[str]:
    for table in full_text.ALL_TABLES:
        try:
            with connection:
                _rebuild_index(connection, table)
        except (apsw.SQLError, apsw.CorruptError):
            connection.execute(f"DROP TABLE {table}")
            connection.execute(expected_schema()["table", table])
            _rebuild_index(connection, table)
    yield "Built the full-text indexes anew from the texts."


def _rebuild_index(connection: apsw.Connection, table: str) -> None:
    if table in full_text.TABLES:
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('automerge', 0)")
        connection.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
    elif table in full_text.ALL_TABLES:
        connection.execute(f"INSERT INTO {table}({table}) VALUES ('delete-all')")
        for rid, content in connection.execute("SELECT rid, content FROM memories"):
            full_text.index_cjk(connection, rid, content)


def _repair_links(connection: apsw.Connection) -> Iterator[str]:
    connection.execute("DELETE FROM memory_links")
    connection.execute(triggers.fill_links_sql())
    yield "Derived the links to sources and corrected memories anew from the rows."


def _repair_vectors(connection: apsw.Connection) -> Iterator[str]:
    log = scalar(connection, "SELECT max(seq) FROM vector_log")
    if log is not None:
        connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'vector_log'", (log,))
    model = vectors.vector_space(connection)
    if model is None:
        return
    connection.execute(
        "DELETE FROM embeddings WHERE model_id = ?1 AND "
        "(dims <> ?2 OR dtype <> 'int8' OR length(vector) <> ?2 OR vector = zeroblob(?2))",
        (model.model_id, model.dims),
    )
    connection.execute(f"DELETE FROM embeddings AS e WHERE {vectors.WORDLESS}")  # both are made anew
    connection.execute(
        "INSERT INTO index_queue(rid, text, vector) SELECT rid, 0, 1 FROM memories m WHERE rid NOT IN "
        "(SELECT rid FROM embeddings WHERE model_id = ?) AND attributes = '{}' "
        "ON CONFLICT(rid) DO UPDATE SET vector = 1",
        (model.model_id,),
    )
    vectors.rebuild_index(connection)
    while vectors.sync_index(connection):
        pass
    waiting = vectors.count_unembedded(connection)
    yield "Built the vector index anew from the stored vectors." + (
        f" {waiting:,} memories wait for a vector, which is made in the background." if waiting else ""
    )


def _repair_counts(connection: apsw.Connection) -> Iterator[str]:
    at = triggers.MEMORY_AT.format(row="memory_entities")
    connection.execute(f"UPDATE memory_entities SET at = {at} WHERE at IS NOT {at}")
    connection.execute(triggers.RECOUNT_MENTIONS)
    connection.execute("DELETE FROM entity_votes")
    connection.execute(
        "INSERT INTO entity_votes(eid, type, votes) SELECT eid, vote, count(*) FROM memory_entities "
        "WHERE vote IS NOT NULL GROUP BY eid, vote"
    )
    yield "Counted the mentions and types of all entities anew."


def _clear_caches(connection: apsw.Connection) -> Iterator[str]:
    connection.execute("DELETE FROM memory_metadata WHERE key = 'judged'")
    # Another number: programs drop the names that they have cached.
    connection.execute(
        "UPDATE memory_metadata SET value = CAST(value AS INTEGER) + 1 WHERE key = 'names_version'"
    )
    connection.execute(
        "UPDATE memory_metadata SET value = CASE WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'vec_memories_b') "
        "AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'vec_memories_a') THEN 'b' ELSE 'a' END "
        "WHERE key = 'vector_index' AND value NOT IN ('a', 'b')"
    )
    yield "Deleted cached results; they are computed again."


def _repair_operation(connection: apsw.Connection) -> Iterator[str]:
    connection.execute("DELETE FROM current_op")
    yield "Ended the operation that was left open."


# In the order in which they build on each other.
_REPAIRS: dict[str, Callable[[apsw.Connection], Iterator[str]]] = {
    "schema": _repair_schema,
    "pages": _repair_pages,
    "foreign keys": _remove_orphans,
    "full text": _full_text,
    "embeddings": _repair_vectors,
    "cached": _clear_caches,
    "vector index": _repair_vectors,
    "links": _repair_links,
    "entities": _repair_counts,
    "history": _repair_operation,
}
