"""Every column of the file that can hold somebody's words. A test holds this to the schema.

What stands here is looked at when a text is erased, and when it is asked who still has it. What a column may hold
is either words, or JSON with words in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from memtui.engine.store.sql import scalar
from memtui.engine.store.tables import MEMORY

WORDS: dict[str, tuple[str, ...]] = {
    "memories": tuple(column.name for column in MEMORY if column.words),
    "entities": ("canonical_name", "summary"),
    "entity_aliases": ("key", "alias"),
    "entity_decisions": ("key",),
    "sessions_consolidations": ("session_id", "last_error", "title", "summary", "source", "project"),
    "scratchpad": ("key", "value"),
    "proposals": ("payload",),
    "saved_queries": ("name", "query", "filter"),
    "profiles": ("name",),
    "recalls": ("query", "session_id"),
    "job_runs": ("report", "error"),
    "ops": ("label",),
    "changes": ("before", "after"),
}  # fmt: skip

WORDLESS: dict[str, tuple[str, ...]] = {
    # Ids, numbers, names of ours; ids of what was erased are taken out where they would lead nowhere.
    "memory_metadata": ("key", "value"),
    "memories": tuple(column.name for column in MEMORY if column.stored == "TEXT" and not column.words),
    "memory_links": ("from_id", "rel", "to_id"),
    "embeddings": ("model_id", "dtype", "vector"),  # go with their row
    "word_vectors": ("model_id", "vectors"),
    "entities": ("id", "type"),
    "entity_votes": ("type",),
    "entity_decisions": ("decision", "actor"),
    "memory_entities": ("vote",),
    "proposals": ("id", "kind", "state"),
    "saved_queries": ("profile", "expected"),
    "profiles": ("settings",),
    "question_results": ("places",),
    "recalls": ("agent", "memory_ids"),
    "job_runs": ("job", "period", "state"),
    "ops": ("actor", "kind", "run_id", "state"),
    "changes": ("tbl", "act"),
    "erased_keys": ("hash",),
    "folding": ("written", "indexed"),  # single letters
}
"""Columns of text or bytes in which nobody's words stand."""

# How people know a row that keeps a text.
_NAMED = {
    "memories": "kind || ' ' || id", "entities": "'entity ' || id", "sessions_consolidations": "'a session'",
    "scratchpad": "'scratchpad entry ' || pad_id", "proposals": "'review card ' || id",
    "saved_queries": "'saved question ' || query_id", "profiles": "'profile ' || profile_id",
    "recalls": "'recall ' || recall_id", "job_runs": "'run ' || run_id", "ops": "'operation ' || op_id",
    "changes": "'the history, operation ' || op_id", "entity_aliases": "'name ' || alias_id",
    "entity_decisions": "'decision ' || decision_id",
}  # fmt: skip


def columns_of(connection: apsw.Connection, table: str) -> frozenset[str]:
    """The columns of a table; empty when this (older) file has no such table."""
    return frozenset(name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})"))


def words_in(connection: apsw.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(table, columns that may hold words), as far as this file has them."""
    for table, columns in WORDS.items():
        there = columns_of(connection, table)
        if known := tuple(column for column in columns if column in there):
            yield table, known


def holders(connection: apsw.Connection, piece: str, limit: int = 3) -> list[str]:
    """What rows have this very piece of text (in any case of its letters), as people know them."""
    found: list[str] = []
    for table, columns in words_in(connection):
        where = " OR ".join(f"instr(lower({column}), lower(?1)) > 0" for column in columns)
        rows = connection.execute(
            f"SELECT {_NAMED[table]} FROM {table} WHERE {where} LIMIT ?2", (piece, limit)
        )
        found += [str(name) for (name,) in rows]
        if len(found) >= limit:
            break
    return found[:limit]


def is_ours(connection: apsw.Connection, word: str) -> bool:
    """Whether memtui itself uses the word: in the schema, or in a column that holds names of ours."""
    places: list[tuple[str, tuple[str, ...]]] = [("sqlite_schema", ("sql",))]
    for table, columns in WORDLESS.items():
        there = columns_of(connection, table)
        places.append((table, tuple(column for column in columns if column in there)))
    return any(
        scalar(
            connection,
            f"SELECT 1 FROM {table} WHERE instr(lower(CAST({column} AS TEXT)), lower(?)) > 0 LIMIT 1",
            (word,),
        )
        for table, columns in places
        for column in columns
        if column not in ("vector", "hash")
    )
