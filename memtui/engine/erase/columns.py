"""The content of every text and blob column, table by table. A test compares it with the schema.

Who erases goes by it: a column of words or JSON is looked at in every row, a label is covered wherever it is, ids of
what was erased are taken out. It is also asked who still has a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from memtui.engine.store import tokens
from memtui.engine.store.sql import scalar
from memtui.engine.store.tables import MEMORY


class TextColumns(NamedTuple):
    """``words``: somebody's sentences; ``json``: JSON with words in it; ``labels``: what many rows are called alike.

    ``ids``: a memory's, or JSON lists of them. ``ours``: memtui's own names, numbers, hashes and vectors.
    """

    words: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Those that can hold somebody's words."""
        return (*self.words, *self.json, *self.labels)


def _memory_columns() -> TextColumns:
    """By the table of a memory's columns."""
    texts = [column for column in MEMORY if column.stored == "TEXT"]
    words = [column for column in texts if column.words]
    return TextColumns(
        words=("content",),
        json=tuple(column.name for column in words if column.json),
        labels=tuple(column.name for column in words if not column.json and column.name != "content"),
        ids=tuple(column.name for column in texts if column.json and not column.words),
        ours=tuple(column.name for column in texts if not (column.words or column.json)),
    )


SCHEMA: dict[str, TextColumns] = {
    "memory_metadata": TextColumns(words=("key", "value")),
    "memories": _memory_columns(),
    "memory_links": TextColumns(ids=("from_id", "to_id"), ours=("rel",)),
    "embeddings": TextColumns(ours=("model_id", "dtype", "vector")),  # go with their row
    "word_vectors": TextColumns(ours=("model_id", "vectors")),
    "entities": TextColumns(words=("canonical_name", "summary"), ours=("id", "type")),
    "entity_aliases": TextColumns(words=("key", "alias")),
    "entity_votes": TextColumns(ours=("type",)),
    "entity_decisions": TextColumns(words=("key",), labels=("actor",), ours=("decision",)),
    "memory_entities": TextColumns(ours=("vote",)),
    "sessions_consolidations": TextColumns(
        words=("last_error", "title", "summary"), labels=("session_id", "source", "project", "begun_by", "read_by")
    ),
    "scratchpad": TextColumns(words=("key", "value")),
    "proposals": TextColumns(json=("payload",), ours=("id", "kind", "state")),
    "saved_queries": TextColumns(words=("name", "query", "filter"), labels=("profile",), ids=("expected",)),
    "question_results": TextColumns(json=("places",)),
    "profiles": TextColumns(json=("settings",), labels=("name",)),
    "recalls": TextColumns(words=("query",), labels=("agent", "session_id"), ids=("memory_ids",)),
    "job_runs": TextColumns(words=("error",), json=("report",), ours=("job", "period", "state")),
    "ops": TextColumns(words=("label",), labels=("actor",), ours=("kind", "run_id", "state")),
    "changes": TextColumns(json=("before", "after"), ours=("tbl", "act")),
    "decided": TextColumns(words=("thing", "aspect"), labels=("actor",), ours=("seen", "device")),
    "sync_devices": TextColumns(ours=("device", "hash")),
    "sync_versions": TextColumns(words=("thing",), labels=("actor",), ours=("aspect", "seen", "device")),
    "sync_merged": TextColumns(words=("thing",)),
    "sync_erased": TextColumns(ours=("name",)),
    "sync_read": TextColumns(ours=("session_id", "through")),
    "sync_other_ids": TextColumns(ours=("id", "here")),
    "erased_keys": TextColumns(ours=("hash",)),
    "agent_usage": TextColumns(labels=("agent",)),
    "served_contexts": TextColumns(ours=("lines",)),
    "folding": TextColumns(ours=("written", "indexed")),  # single letters
}  # fmt: skip

# How people know a row that keeps a text.
_NAMED = {
    "memory_metadata": "'a note of memtui: ' || key",
    "memories": "kind || ' ' || id", "entities": "'entity ' || id", "sessions_consolidations": "'a session'",
    "scratchpad": "'scratchpad entry ' || pad_id", "proposals": "'review card ' || id",
    "saved_queries": "'saved question ' || query_id", "question_results": "'the answers to question ' || query_id",
    "profiles": "'profile ' || profile_id", "recalls": "'recall ' || recall_id", "job_runs": "'run ' || run_id",
    "ops": "'operation ' || op_id", "changes": "'the history, operation ' || op_id",
    "entity_aliases": "'name ' || alias_id", "entity_decisions": "'decision ' || decision_id",
    "decided": "'what was decided, ' || decided_id",
    "sync_versions": "'what sync knows of a row, ' || version_id",
    "sync_merged": "'what sync will send, ' || merged_id",
    "agent_usage": "'what an agent did in hour ' || hour",
}  # fmt: skip
_UNFINISHED = "erase_%"
"""Rows of ``memory_metadata`` that an erase needs until it is proven."""
_OWN_WORDS = frozenset(
    (
        "assistant",
        "developer",
        "scheduler",
        "consolidation",
        "consolidated",
        "maintenance",
        "enrichment",
        "embedding",
    )
)


def columns_of(connection: apsw.Connection, table: str) -> frozenset[str]:
    """The columns of a table; empty when this (older) file has no such table."""
    return frozenset(name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})"))


def existing_columns(connection: apsw.Connection, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(table, its columns of a kind: a field of ``TextColumns``), as far as this file has them."""
    for table, columns in SCHEMA.items():
        wanted: tuple[str, ...] = getattr(columns, kind)
        known = columns_of(connection, table) if wanted else ()
        if existing := tuple(column for column in wanted if column in known):
            yield table, existing


def rows_with_text(connection: apsw.Connection, piece: str, limit: int = 3) -> list[str]:
    """What rows have this very piece of text (in any case of its letters), as people know them."""
    conditions: list[str] = []
    for table, columns in existing_columns(connection, "text_columns"):
        where = " OR ".join(f"instr(lower({column}), lower(?1)) > 0" for column in columns)
        if table == "memory_metadata":
            where = f"key NOT LIKE '{_UNFINISHED}' AND ({where})"
        rows = connection.execute(
            f"SELECT {_NAMED[table]} FROM {table} WHERE {where} LIMIT ?2", (piece, limit)
        )
        conditions += [str(name) for (name,) in rows]
        if len(conditions) >= limit:
            break
    return conditions[:limit]


def is_word_of_schema(connection: apsw.Connection, word: str) -> bool:
    """Whether memtui itself uses the word: in the schema, or in a column that holds names of ours."""
    places: list[tuple[str, tuple[str, ...]]] = [
        ("sqlite_schema", ("sql",)),
        ("memory_metadata", ("key", "value")),
    ]
    return any(
        scalar(
            connection,
            f"SELECT 1 FROM {table} WHERE instr(lower(CAST({column} AS TEXT)), lower(?)) > 0 LIMIT 1",
            (word,),
        )
        for table, columns in (
            *places,
            *existing_columns(connection, "ours"),
            *existing_columns(connection, "ids"),
        )
        for column in columns
        if column not in ("vector", "vectors", "hash")
    )


def stems_of_schema(connection: apsw.Connection) -> frozenset[str]:
    """Stems of the words that memtui itself writes: in the schema, as names of jobs and kinds."""
    texts = [*_OWN_WORDS]
    for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"):
        texts.append(str(sql))
    for table, column in (("job_runs", "job"), ("ops", "kind"), ("proposals", "kind"), ("entities", "type")):
        texts += [str(value) for (value,) in connection.execute(f"SELECT DISTINCT {column} FROM {table}")]
    return frozenset(stem for text in texts for stem in tokens.text_stems(text))
