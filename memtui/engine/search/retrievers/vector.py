"""The vector retriever: memories whose meaning is near that of the question, nearest first by cosine.

The filter is never applied to a fixed number of neighbours: a narrow scope is compared memory by memory,
a broad one through the vec0 index, widening until enough of what is found lies inside. Vectors that the
index does not hold yet are compared directly. Without vec0 the same is done in numpy. Where a copy of the
vectors is in memory, it takes the place of all of these.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import apsw

from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search.scope import Scope, rids_in_scope
from memtui.engine.store import vectors
from memtui.engine.store.sql import scalar
from memtui.engine.store.vectors import KNN_LIMIT

from .cosine import as_row, cosines_of_blobs, cosines_of_memories, scan_cosines
from .keyword import KeywordHits
from .vector_cache import VectorCache

if TYPE_CHECKING:
    from .vector_cache import Cosines

NARROW = 20_000
"""Up to so many memories are compared one by one."""


def nearest_memories(
    connection: apsw.Connection,
    space: VectorSpace,
    query: bytes,
    scope: Scope,
    limit: int,
    vector_cache: VectorCache | None = None,
    inside: Sequence[int] | None = None,
) -> list[KeywordHits]:
    """The nearest ``limit`` memories of the scope; ``query`` is an int8 vector. Scores are cosines, -1 to 1.

    ``inside``: what is in the scope, where that is known. Whichever way they are found, the scores are the same:
    those of ``cosines.py``.
    """
    found = _search_index(connection, space, query, scope, limit, vector_cache, inside)
    exact = cosines_of_memories(connection, space, query, [hit.rid for hit in found], vector_cache)
    return list(map(KeywordHits._make, sorted(exact.items(), key=itemgetter(1, 0), reverse=True)))


def _search_index(
    connection: apsw.Connection,
    space: VectorSpace,
    blob: bytes,
    scope: Scope,
    limit: int,
    vector_cache: VectorCache | None,
    inside: Sequence[int] | None,
) -> list[KeywordHits]:
    if vector_cache is not None and vector_cache.is_current(connection, space):
        in_cache = _search_cache(connection, vector_cache, blob, scope, limit, inside)
        if in_cache is not None:
            return in_cache
    if not has_vec0(connection):
        return _search_with_numpy(connection, space, blob, scope, limit)
    unsynced = [rid for (rid,) in connection.execute("SELECT rid FROM vector_changes LIMIT ?", (NARROW + 1,))]
    direct = not vectors.index_exists(connection) or len(unsynced) > NARROW
    if direct or inside is not None or (not scope.broad and _is_narrow(connection, scope)):
        return _compare_one_by_one(connection, space, blob, scope, limit, "")
    found = {hit.rid: hit for hit in _through_index(connection, blob, scope, limit, set(unsynced))}
    if unsynced:
        only = "AND m.rid IN (SELECT rid FROM vector_changes)"
        found |= {hit.rid: hit for hit in _compare_one_by_one(connection, space, blob, scope, limit, only)}
    return sorted(found.values(), key=lambda hit: (-hit.score, -hit.rid))[:limit]


def vector_rank(
    connection: apsw.Connection,
    space: VectorSpace,
    blob: bytes,
    scope: Scope,
    rid: int,
    vector_cache: VectorCache | None = None,
) -> tuple[float, int] | None:
    """The cosine of one memory, and how many of the scope are nearer; None when it has no vector."""
    row = connection.execute(
        "SELECT vector FROM embeddings WHERE model_id = ? AND rid = ? AND dims = ?",
        (space.model_id, rid, space.dims),
    ).fetchone()
    if row is None:
        return None
    if vector_cache is not None and vector_cache.is_current(connection, space):
        found = vector_cache.nearest_rids(as_row(blob), None if scope.all_kinds else scope.kinds, all=True)
        if found is not None:
            return _rank_in_scope(connection, scope, found, rid, cosines_of_blobs([row[0]], blob)[0])
    [cosine] = cosines_of_blobs([row[0]], blob)
    nearer = 0
    for rids, others in scan_cosines(connection, space, blob, scope):
        nearer += int(((others > cosine) | ((others == cosine) & (rids > rid))).sum())
    return cosine, nearer


def _rank_in_scope(
    connection: apsw.Connection, scope: Scope, cosines_by_rid: Cosines, rid: int, cosine: float
) -> tuple[float, int]:
    import numpy as np

    rids, cosines = cosines_by_rid
    [mine] = cosines[rids == rid] if rid in rids else [np.float32(cosine)]
    nearer = rids[(cosines > mine) | ((cosines == mine) & (rids > rid))]
    if len(nearer) <= NARROW:
        return cosine, len(rids_in_scope(connection, scope, nearer.tolist()))
    # So many are decided by all that is in the scope, read as one text.
    inside = scalar(
        connection, f"SELECT group_concat(m.rid) FROM memories m WHERE {scope.where}", scope.bindings
    )
    return cosine, int(np.isin(nearer, np.fromstring(inside or "", np.int64, sep=",")).sum())


def has_vec0(connection: apsw.Connection) -> bool:
    """Whether the connection has the extension."""
    try:
        connection.execute("SELECT vec_version()").fetchone()
    except apsw.SQLError:
        return False
    return True


def _is_narrow(connection: apsw.Connection, scope: Scope) -> bool:
    [(rows,)] = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {scope.where} LIMIT {NARROW + 1})",
        scope.bindings,
    )
    return bool(rows <= NARROW)


def _compare_one_by_one(
    connection: apsw.Connection, space: VectorSpace, blob: bytes, scope: Scope, limit: int, also: str
) -> list[KeywordHits]:
    """Memory by memory."""
    rows = connection.execute(
        f"""
        SELECT m.rid, 1.0 - vec_distance_cosine(vec_int8(e.vector), vec_int8(:query)) AS cosine
        FROM memories m CROSS JOIN embeddings e ON e.model_id = :model AND e.rid = m.rid
        WHERE {scope.where} {also} AND e.dims = :dims AND e.dtype = 'int8'
        ORDER BY cosine DESC, m.rid DESC LIMIT :limit
        """,
        {**scope.bindings, "query": blob, "model": space.model_id, "dims": space.dims, "limit": limit},
    )
    return [KeywordHits(rid, cosine) for rid, cosine in rows if cosine is not None]


def _search_cache(
    connection: apsw.Connection,
    vector_cache: VectorCache,
    blob: bytes,
    scope: Scope,
    limit: int,
    inside: Sequence[int] | None,
) -> list[KeywordHits] | None:
    """None if the copy was dropped in the meantime."""
    row = as_row(blob)
    for all in (False, True):
        if inside is not None:
            found = vector_cache.cosines(row, inside)
            return None if found is None else _take_best(found, limit)[:limit]
        found = vector_cache.nearest_rids(row, None if scope.all_kinds else scope.kinds, all=all)
        if found is None:
            return None
        # Where little is left out, a few more than wanted are enough.
        wanted = limit + limit // 4 if scope.broad else 2 * limit
        while True:
            ranked = _take_best(found, wanted)
            kept = rids_in_scope(connection, scope, [hit.rid for hit in ranked])
            if len(kept) >= limit or (all and len(ranked) >= len(found[0])):
                return [hit for hit in ranked if hit.rid in kept][:limit]
            if len(ranked) >= len(found[0]):
                break
            wanted *= 8
        # Too few of those that were looked at are in the scope.
        inside = _rids_of_narrow_scope(connection, scope)
    raise AssertionError


def _rids_of_narrow_scope(connection: apsw.Connection, scope: Scope) -> list[int] | None:
    """What is in a narrow scope."""
    rows = connection.execute(
        f"SELECT m.rid FROM memories m WHERE {scope.where} LIMIT {NARROW + 1}", scope.bindings
    )
    rids = [rid for (rid,) in rows]
    return rids if len(rids) <= NARROW else None


def _take_best(cosines_by_rid: Cosines, limit: int) -> list[KeywordHits]:
    """The nearest, newer ones first among equals; at the end of the list so many that no equal one is left out."""
    import numpy as np

    rids, cosines = cosines_by_rid
    best = np.arange(len(rids))
    if limit < len(rids):
        best = np.flatnonzero(cosines >= np.partition(cosines, -limit)[-limit])
    order = best[np.lexsort((-rids[best], -cosines[best]))]
    return list(map(KeywordHits, rids[order].tolist(), cosines[order].tolist()))


def _through_index(
    connection: apsw.Connection, blob: bytes, scope: Scope, limit: int, unsynced: set[int]
) -> list[KeywordHits]:
    wanted = min(KNN_LIMIT, 2 * limit)
    while True:
        rows = _search_nearest(connection, blob, scope, wanted)
        inside = rids_in_scope(connection, scope, (rid for rid, _ in rows)) - unsynced
        if len(inside) >= limit or len(rows) < wanted:
            break
        if wanted == KNN_LIMIT:
            rows = _sql_knn(
                connection,
                blob,
                scope,
                limit,
                f"AND rid IN (SELECT m.rid FROM memories m WHERE {scope.where})",
            )
            inside = {rid for rid, _ in rows} - unsynced
            break
        wanted = min(KNN_LIMIT, 4 * wanted)
    return [KeywordHits(rid, 1.0 - distance) for rid, distance in rows if rid in inside]


def _search_nearest(
    connection: apsw.Connection, blob: bytes, scope: Scope, k: int
) -> list[tuple[int, float]]:
    """The nearest ``k`` of the scope's kinds, each with its distance.

    vec0 compares without the processor's wide instructions. Where numpy is loaded, its vectors are read as they lie in
    the file and compared there, in a third of the time.
    """
    if "numpy" in sys.modules:
        try:
            return _scan_chunks(connection, blob, scope, k)
        except (apsw.SQLError, ValueError):  # another version of vec0, which keeps them in another way
            pass
    return _sql_knn(connection, blob, scope, k, "")


def _scan_chunks(connection: apsw.Connection, blob: bytes, scope: Scope, k: int) -> list[tuple[int, float]]:
    """Raises SQLError and ValueError where vec0's tables are not as they are known."""
    import numpy as np

    table = vectors.index_table(connection)
    kinds = "" if scope.all_kinds else f"WHERE c.partition00 IN ({', '.join(map(repr, sorted(scope.kinds)))})"
    chunks = connection.execute(
        f"SELECT c.validity, c.rowids, v.vectors FROM {table}_chunks c JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id "
        + kinds
    )
    one = as_row(blob).astype(np.float32)
    length = np.sqrt(one @ one)
    rids, distances = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    rows = np.empty((0, len(one)), np.float32)  # the same memory for all chunks, which are of one size
    for validity, rowids, vectors_of in chunks:
        stored = np.frombuffer(vectors_of, np.int8).reshape(-1, len(one))
        rows = rows if rows.shape == stored.shape else np.empty(stored.shape, np.float32)
        rows[:] = stored
        used = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
        squares = np.vecdot(rows, rows)  # a third of the time that einsum takes
        used &= squares > 0
        rids.append(np.frombuffer(rowids, np.int64)[used])
        distances.append(1 - (rows @ one)[used] / (np.sqrt(squares[used]) * length))
    all_rids, far = np.concatenate(rids), np.concatenate(distances)
    best = np.argpartition(far, k - 1)[:k] if k < len(far) else np.arange(len(far))
    best = best[np.argsort(far[best], kind="stable")]
    return list(zip(all_rids[best].tolist(), far[best].tolist(), strict=True))


def _sql_knn(
    connection: apsw.Connection, blob: bytes, scope: Scope, k: int, also: str
) -> list[tuple[int, float]]:
    table = vectors.index_table(connection)
    kinds = "" if scope.all_kinds else f"AND kind IN ({', '.join(map(repr, sorted(scope.kinds)))})"
    rows = connection.execute(
        f"SELECT rid, distance FROM {table} WHERE embedding MATCH vec_int8(:query) AND k = :k {kinds} {also}",
        {**scope.bindings, "query": blob, "k": k},
    )
    return sorted(((rid, distance) for rid, distance in rows if distance is not None), key=lambda row: row[1])


def _search_with_numpy(
    connection: apsw.Connection, space: VectorSpace, blob: bytes, scope: Scope, limit: int
) -> list[KeywordHits]:
    """What ``_compare_one_by_one`` does, for a file without vec0."""
    found: list[KeywordHits] = []
    for rids, cosines in scan_cosines(connection, space, blob, scope):
        read = zip(rids.tolist(), cosines.tolist(), strict=True)
        found += [KeywordHits(rid, cosine) for rid, cosine in read if cosine == cosine]
        found = heapq.nsmallest(limit, found, key=lambda hit: (-hit.score, -hit.rid))
    return found
