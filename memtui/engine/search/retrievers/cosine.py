"""Cosines of memories to a question, always the same number: sums of whole numbers, whichever way the vectors are read."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator
from itertools import islice
from operator import mul
from typing import TYPE_CHECKING, Any

import apsw

from memtui.engine.models.vectors import cap_threads
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search.scope import Scope
from memtui.engine.store.sql import as_json

from .vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROWS_AT_ONCE = 4_096
# So many are compared in less time than numpy takes to be imported, for a process that has not done so.
_FEW = 1_000


def cosines_of_memories(
    connection: apsw.Connection,
    space: VectorSpace,
    blob: bytes,
    rids: Collection[int],
    vector_cache: VectorCache | None = None,
) -> dict[int, float]:
    """The cosines of these memories, of those that have a vector; ``blob`` is the question as int8."""
    cached = (
        vector_cache.vectors(list(rids))
        if vector_cache is not None and vector_cache.is_current(connection, space)
        else None
    )
    if cached is not None:
        found = zip(cached[0].tolist(), _cosines_of_matrix(cached[1], blob).tolist(), strict=True)
        return {rid: cosine for rid, cosine in found if cosine == cosine}
    rows = connection.execute(
        """
        SELECT rid, vector FROM embeddings
        WHERE model_id = ? AND dims = ? AND dtype = 'int8' AND rid IN (SELECT value FROM json_each(?))
        """,
        (space.model_id, space.dims, as_json(rids)),
    )
    vectors_of: dict[int, bytes] = dict(rows)
    if not vectors_of:
        return {}
    read = zip(vectors_of, cosines_of_blobs(list(vectors_of.values()), blob), strict=True)
    return {rid: cosine for rid, cosine in read if cosine == cosine}


def scan_cosines(
    connection: apsw.Connection, space: VectorSpace, blob: bytes, scope: Scope
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Everything in the scope that has a vector, with its cosine (NaN: a vector without length), a few thousand at a time."""
    import numpy as np

    cursor = connection.execute(
        f"""
        SELECT m.rid, e.vector FROM memories m CROSS JOIN embeddings e ON e.model_id = :model AND e.rid = m.rid
        WHERE {scope.where} AND e.dims = :dims AND e.dtype = 'int8'
        """,
        {**scope.bindings, "model": space.model_id, "dims": space.dims},
    )
    while rows := list(islice(cursor, _ROWS_AT_ONCE)):
        blobs = b"".join([vector for _, vector in rows])
        read = np.frombuffer(blobs, np.int8).reshape(len(rows), -1)
        yield np.array([rid for rid, _ in rows], np.int64), _cosines_of_matrix(read, blob)


def cosines_of_blobs(blobs: list[bytes], query: bytes) -> list[float]:
    """The cosine of each int8 vector to ``query``; NaN for one without length."""
    if len(blobs) <= _FEW and "numpy" not in sys.modules:
        return _cosines_without_numpy(blobs, query)
    import numpy as np

    cosines: list[float] = _cosines_of_matrix(
        np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1), query
    ).tolist()
    return cosines


def _cosines_without_numpy(blobs: list[bytes], query: bytes) -> list[float]:
    query_values = memoryview(query).cast("b").tolist()
    length = math.sqrt(sum(map(mul, query_values, query_values)))
    found = []
    for blob in blobs:
        row = memoryview(blob).cast("b").tolist()
        lengths = math.sqrt(sum(map(mul, row, row))) * length
        found.append(sum(map(mul, row, query_values)) / lengths if lengths > 0 else math.nan)
    return found


def as_row(blob: bytes) -> NDArray[np.int8]:
    """An int8 vector for numpy."""
    cap_threads()
    import numpy as np

    return np.frombuffer(blob, np.int8)


def _cosines_of_matrix(vectors_of: NDArray[np.int8], query: bytes) -> NDArray[np.float64]:
    import numpy as np

    # Sums of whole numbers are exact in any order, if there is room for them.
    exact: Any = np.float32 if 127 * 127 * len(query) < 1 << 24 else np.float64
    one = np.frombuffer(query, np.int8).astype(exact)
    rows = vectors_of.astype(exact)
    lengths = np.sqrt(np.vecdot(rows, rows).astype(np.float64)) * np.sqrt(np.float64(one @ one))
    products = (rows @ one).astype(np.float64)
    nowhere = np.full(len(rows), np.nan)
    return np.asarray(np.divide(products, lengths, out=nowhere, where=lengths > 0))
