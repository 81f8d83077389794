"""Vectors: the durable copy (``embeddings``) and the vec0 index over it.

The index can be dropped and rebuilt at any time. Two fixed tables take turns, because vec0 cannot be
renamed: ``memory_metadata.vector_index`` names the live one. Rows whose index entry is out of date
stand in ``vector_changes``; ``sync`` brings the index up to them. ``vector_log`` has the latest changes in
their order, for copies in memory. A model that makes vectors of words too (``word_vector_dims``) reads a turn with the name
of who said it before it: ``named``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from memtui.engine.records.embedding import VectorSpace

from .sql import as_json, scalar

KNN_LIMIT = 4_096
LOG_KEPT = 20_000


class MissingVectors(NamedTuple):
    """What has to be read for the vectors of a model that are missing."""

    texts: int
    characters: int
    bytes: int


class WordRows(NamedTuple):
    """Vectors of the words of texts, by rid: int8 rows of ``dims`` bytes, one after another."""

    dims: int
    by_rid: Mapping[int, bytes]


def vector_space(connection: apsw.Connection) -> VectorSpace | None:
    """The vector space of this file; None while nothing has been embedded."""
    rows = dict(
        connection.execute(
            "SELECT key, value FROM memory_metadata WHERE key IN ('embedding_model', 'embedding_dimensions')"
        )
    )
    if len(rows) < 2:
        return None
    return VectorSpace(rows["embedding_model"], int(rows["embedding_dimensions"]))


def word_vector_dims(connection: apsw.Connection) -> int:
    """Of how many numbers the vectors of words are; 0 where the file's model makes none."""
    return int(
        scalar(connection, "SELECT value FROM memory_metadata WHERE key = 'embedding_word_dimensions'") or 0
    )


def set_space(connection: apsw.Connection, model: VectorSpace, word_vector_dims: int = 0) -> None:
    """Declare the file's vector space and make its (empty) index; inside the caller's transaction."""
    connection.executemany(
        "INSERT INTO memory_metadata(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        [
            ("embedding_model", model.model_id),
            ("embedding_dimensions", str(model.dims)),
            ("embedding_word_dimensions", str(word_vector_dims)),
        ],
    )


def index_table(connection: apsw.Connection) -> str:
    """The name of the vec0 table that serves now."""
    row = connection.execute("SELECT value FROM memory_metadata WHERE key = 'vector_index'").fetchone()
    return f"vec_memories_{row[0] if row else 'a'}"


def index_exists(connection: apsw.Connection) -> bool:
    return bool(
        connection.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = ?", (index_table(connection),)
        ).fetchone()
    )


def pending_texts(
    connection: apsw.Connection, below: int, limit: int, *, named: bool = False
) -> list[tuple[int, str]]:
    """(rid, text) of memories that wait for a vector, the most recent first, from under ``below``."""
    rows = connection.execute(
        f"""
        SELECT q.rid, {_sql_embedded_text(named)} FROM index_queue q JOIN memories m ON m.rid = q.rid
        WHERE q.vector = 1 AND q.rid < ? ORDER BY q.rid DESC LIMIT ?
        """,
        (below, limit),
    )
    return [(int(rid), str(content)) for rid, content in rows]


def store_vectors(
    connection: apsw.Connection,
    model: VectorSpace,
    rows: Sequence[tuple[int, bytes]],
    words: WordRows | None = None,
) -> None:
    """Keep vectors of the file's model and take their rows off the queue."""
    store_int8(connection, model, rows, words)
    take_off_queue(connection, [rid for rid, _ in rows])


def store_int8(
    connection: apsw.Connection,
    model: VectorSpace,
    rows: Sequence[tuple[int, bytes]],
    words: WordRows | None = None,
) -> None:
    """Keep int8 vectors (``dims`` bytes each) of any model. A row that is gone is passed over."""
    connection.executemany(
        """
        INSERT INTO embeddings(model_id, rid, dims, dtype, vector)
        SELECT ?1, ?2, ?3, 'int8', ?4 WHERE EXISTS (SELECT 1 FROM memories WHERE rid = ?2)
        ON CONFLICT(model_id, rid) DO UPDATE SET vector = excluded.vector, dims = excluded.dims
        """,
        [(model.model_id, rid, model.dims, vector) for rid, vector in rows],
    )
    if words is not None:
        connection.executemany(
            """
            INSERT INTO word_vectors(model_id, rid, dims, vectors)
            SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM embeddings WHERE model_id = ?1 AND rid = ?2)
            ON CONFLICT(model_id, rid) DO UPDATE SET vectors = excluded.vectors, dims = excluded.dims
            """,
            [(model.model_id, rid, words.dims, words.by_rid[rid]) for rid, _ in rows],
        )


def take_off_queue(connection: apsw.Connection, rids: Sequence[int]) -> None:
    """Take rows off the vector queue."""
    these = "WHERE rid IN (SELECT value FROM json_each(?))"
    connection.execute(f"DELETE FROM index_queue {these} AND text = 0", (as_json(rids),))
    connection.execute(f"UPDATE index_queue SET vector = 0 {these}", (as_json(rids),))


def _sql_embedded_text(named: bool) -> str:
    """What a model reads of a memory ``m``."""
    if not named:
        return "m.content"
    return "iif(m.kind = 'episode' AND m.source_role <> '', m.source_role || ': ' || m.content, m.content)"


def texts_without_vector(
    connection: apsw.Connection, target: VectorSpace, above: int, limit: int, *, named: bool = False
) -> list[tuple[int, str]]:
    """(rid, text), from over ``above`` on, of memories that have or await a vector, but have none of ``target``."""
    rows = connection.execute(
        f"SELECT m.rid, {_sql_embedded_text(named)} {_LACKING} AND m.rid > ?3 ORDER BY m.rid LIMIT ?4",
        (target.model_id, target.dims, above, limit),
    )
    return [(int(rid), str(content)) for rid, content in rows]


def unchanged_texts(
    connection: apsw.Connection, texts: Mapping[int, str], *, named: bool = False
) -> list[int]:
    """Those of the memories (rid to text) that still have this text."""
    rows = connection.execute(
        f"SELECT m.rid, {_sql_embedded_text(named)} FROM memories m WHERE m.rid IN (SELECT value FROM json_each(?))",
        (as_json(texts),),
    )
    return [int(rid) for rid, text in rows if texts[rid] == text]


def count_lacking(connection: apsw.Connection, target: VectorSpace) -> MissingVectors:
    """How many memories have or await a vector, but have none of ``target``."""
    [row] = connection.execute(
        f"SELECT count(*), ifnull(sum(length(m.content)), 0), ifnull(sum(octet_length(m.content)), 0) {_LACKING}",
        (target.model_id, target.dims),
    )
    return MissingVectors(*row)


# A text that holds a secret gets no vector, whatever it had before.
_OPEN = "(json_extract(m.attributes, '$.secrets') IS NULL OR json_extract(m.attributes, '$.redacted') IS NOT NULL)"
_LACKING = f"""FROM memories m WHERE (EXISTS (SELECT 1 FROM embeddings e WHERE e.rid = m.rid)
    OR EXISTS (SELECT 1 FROM index_queue q WHERE q.rid = m.rid AND q.vector = 1))
AND NOT EXISTS (SELECT 1 FROM embeddings t WHERE t.rid = m.rid AND t.model_id = ?1 AND t.dims = ?2) AND {_OPEN}"""


WORDLESS = """
    e.model_id = (SELECT value FROM memory_metadata WHERE key = 'embedding_model')
    AND EXISTS (
        SELECT 1 FROM memory_metadata d WHERE d.key = 'embedding_word_dimensions' AND d.value <> '0' AND NOT EXISTS (
            SELECT 1 FROM word_vectors w WHERE w.model_id = e.model_id AND w.rid = e.rid
            AND w.dims = CAST(d.value AS INTEGER) AND length(w.vectors) % w.dims = 0))"""
"""A condition over a row of embeddings ``e``: its words lack the vectors that the file's model gives them."""


def switch_space(connection: apsw.Connection, target: VectorSpace, word_vector_dims: int = 0) -> None:
    """Make ``target`` the space of the file, inside the caller's transaction.

    The index is dropped (``sync`` makes it anew). Texts that the old model knew nothing of wait for a vector,
    those that waited and have one now do no longer.
    """
    set_space(connection, target, word_vector_dims)
    rebuild_index(connection)
    connection.execute(
        f"""
        INSERT INTO index_queue(rid, text, vector) SELECT m.rid, 0, 1 FROM memories m
        WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.rid = m.rid) AND {_OPEN}
        ON CONFLICT(rid) DO NOTHING
        """
    )
    have = "(SELECT rid FROM embeddings WHERE model_id = ? AND dims = ?)"
    connection.execute(f"UPDATE index_queue SET vector = 0 WHERE vector = 1 AND rid IN {have}", target)
    connection.execute("DELETE FROM index_queue WHERE text = 0 AND vector = 0")


def delete_other_vectors(connection: apsw.Connection, target: VectorSpace, limit: int) -> int:
    """Delete at most so many vectors of other models than the file's; returns how many."""
    connection.execute(
        """
        DELETE FROM embeddings WHERE (model_id, rid) IN (
            SELECT model_id, rid FROM embeddings WHERE model_id <> ?1 OR dims <> ?2 LIMIT ?3)
        """,
        (target.model_id, target.dims, limit),
    )
    return connection.changes()


def sync_index(connection: apsw.Connection, limit: int = 2_000) -> int:
    """Bring the index up to ``vector_changes``, at most ``limit`` rows; returns how many. Needs vec0."""
    model = vector_space(connection)
    if model is None:
        return 0
    table = index_table(connection)
    if not index_exists(connection):
        connection.execute(
            f"CREATE VIRTUAL TABLE {table} USING vec0("
            f"rid INTEGER PRIMARY KEY, kind TEXT PARTITION KEY, embedding int8[{model.dims}] distance_metric=cosine)"
        )
        _count_expected(connection, model)
    rids = [
        rid for (rid,) in connection.execute("SELECT rid FROM vector_changes ORDER BY rid LIMIT ?", (limit,))
    ]
    # Statement by statement, not row by row: hundreds of calls would push those of writers out of the statement cache,
    # and the next turn to be recorded would wait until they are prepared anew.
    changed = as_json(rids)
    indexed = connection.execute(
        f"SELECT v.rid FROM json_each(?) c CROSS JOIN {table} v WHERE v.rid = c.value", (changed,)
    ).fetchall()
    connection.executemany(f"DELETE FROM {table} WHERE rid = ?", indexed)
    connection.execute(
        f"""
        INSERT INTO {table}(rid, kind, embedding) SELECT m.rid, m.kind, vec_int8(e.vector)
        FROM json_each(?1) c CROSS JOIN memories m ON m.rid = c.value
        CROSS JOIN embeddings e ON e.rid = m.rid AND e.model_id = ?2 AND e.dims = ?3
        """,
        (changed, model.model_id, model.dims),
    )
    connection.execute("DELETE FROM vector_changes WHERE rid IN (SELECT value FROM json_each(?))", (changed,))
    return len(rids)


def rebuild_index(connection: apsw.Connection) -> None:
    """Drop the live index; ``sync`` makes it anew from the durable copy."""
    connection.execute(f"DROP TABLE IF EXISTS {index_table(connection)}")
    connection.execute("DELETE FROM vector_changes")
    if (model := vector_space(connection)) is not None:
        _count_expected(connection, model)  # tells a new index from a lost one


def _count_expected(connection: apsw.Connection, model: VectorSpace) -> None:
    connection.execute(
        "INSERT INTO vector_changes(rid) SELECT rid FROM embeddings WHERE model_id = ? ON CONFLICT DO NOTHING",
        (model.model_id,),
    )


def trim_change_log(connection: apsw.Connection) -> None:
    """Keep the latest changes only; a copy that has missed more is made anew."""
    connection.execute(
        "DELETE FROM vector_log WHERE seq <= (SELECT max(seq) FROM vector_log) - ?", (LOG_KEPT,)
    )


def has_more_vectors_than(connection: apsw.Connection, number: int) -> bool:
    """Whether the file holds more vectors than that."""
    row = connection.execute("SELECT rid FROM embeddings ORDER BY rid LIMIT 1 OFFSET ?", (number,))
    return row.fetchone() is not None


def count_unsynced(connection: apsw.Connection) -> int:
    """Memories whose vectors the index does not have as they are."""
    return int(scalar(connection, "SELECT count(*) FROM vector_changes"))


def count_unembedded(connection: apsw.Connection, most: int = -1) -> int:
    """How many memories wait for a vector; counted up to ``most``."""
    waiting = "SELECT count(*) FROM (SELECT 1 FROM index_queue WHERE vector = 1 LIMIT ?)"
    return int(scalar(connection, waiting, (most,)))


def count_embedded(connection: apsw.Connection, model: VectorSpace) -> int:
    return int(scalar(connection, "SELECT count(*) FROM embeddings WHERE +model_id = ?", (model.model_id,)))
