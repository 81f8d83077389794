"""Keep the vectors of another program's ``memory.db`` if this memory's model makes the same ones.

Some of its texts, picked at random, are embedded anew. Only where this memory's own model gives the same vectors (a cosine of
more than .99 for each) are the others taken over; else they are left, and made anew like those of any text. They lie in the
shadow tables of sqlite-vec: chunks of slots with ``dims`` floats each, and a bitmap of the slots that are in use.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models.embedders import Embedder, word_vector_dims
from memtui.engine.models.vectors import cap_threads, normalise_rows, quantise_rows, usable_rows
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import vectors
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import as_json

from .databases import open_copy, tables_of
from .formats.memory_db import source_key
from .limits import LIMITS, BrokenSourceError, LimitError

if TYPE_CHECKING:
    import apsw

    from memtui.engine.models.vectors import FloatMatrix

_TABLES = {"vec_memories_rowids", "vec_memories_chunks", "vec_memories_vector_chunks00"}
_SAMPLE_SIZE = 12
_LEAST_SAMPLE = 3
_MIN_SIMILARITY = 0.99
_FLOAT_BYTES = 4

Serving = Callable[[VectorSpace | None], Embedder | None]


def carry_over(connections: Connections, paths: Sequence[Path], serving: Serving) -> int:
    """Take over the vectors of memories that came from these files; returns how many were kept.

    ``serving`` gives the model of a vector space, as ``models.choosing`` does. None are kept where it cannot be tried.
    """
    with connections.read() as connection:
        space = vectors.vector_space(connection)
    try:
        model = serving(space)
        if model is None or model.available() or word_vector_dims(model):
            return 0  # of words they have no vectors
        return sum(_VectorCarrier(connections, path, model).run() for path in paths)
    except (DegradedError, InputError):
        return 0


class _VectorCarrier:
    """The vectors of one file."""

    def __init__(self, connections: Connections, path: Path, model: Embedder) -> None:
        self._connections = connections
        self._path = path
        self._model = model
        self._space = VectorSpace(model.model_id, model.dims)

    def run(self) -> int:
        import apsw

        try:
            with open_copy(self._path, LIMITS) as other:
                if not tables_of(other).keys() >= _TABLES or not self._are_alike(other):
                    return 0
                return sum(
                    self._store_waiting(names, vectors)
                    for names, vectors in _vector_chunks(other, self._model.dims)
                )
        except (apsw.Error, BrokenSourceError, LimitError, UnicodeDecodeError):
            return 0

    def _are_alike(self, other: apsw.Connection) -> bool:
        """Whether this memory's model gives the vectors of a few texts again."""
        import numpy as np

        texts: list[str] = []
        theirs: list[Any] = []
        chunks = list(_chunk_ids(other))
        random.SystemRandom().shuffle(chunks)
        for chunk in chunks:
            names, vectors = _read_chunk(other, chunk, self._model.dims)
            unembedded = self._rows_without_vector(names)
            picked = [number for number, name in enumerate(names) if name in unembedded]
            for number in random.SystemRandom().sample(picked, min(len(picked), _SAMPLE_SIZE - len(texts))):
                texts.append(unembedded[names[number]][1])
                theirs.append(vectors[number])
            if len(texts) == _SAMPLE_SIZE:
                break
        if len(texts) < _LEAST_SAMPLE:
            return False
        ours = self._model.embed(texts)
        matrix = np.array(theirs, dtype=np.float32)
        both = usable_rows(ours) & usable_rows(matrix)
        if not both.any():
            return False
        cosines = (normalise_rows(ours[both]) * normalise_rows(matrix[both])).sum(axis=1)
        return bool((cosines > _MIN_SIMILARITY).all())

    def _store_waiting(self, names: list[str], matrix: FloatMatrix) -> int:
        """Store those that still wait for a vector."""
        good = usable_rows(matrix)
        if not names or not good.any():
            return 0
        int8 = quantise_rows(matrix[good])
        of_name = dict(zip([name for name, one in zip(names, good, strict=True) if one], int8, strict=True))
        with self._connections.write_in_turn() as connection:
            unembedded = self._rows_without_vector(list(of_name), connection)
            space = vectors.vector_space(connection)
            if space is None:
                vectors.set_space(connection, self._space)
            elif space != self._space:
                return 0
            rows = [(rid, of_name[name].tobytes()) for name, (rid, _) in unembedded.items()]
            vectors.store_vectors(connection, self._space, rows)
        return len(rows)

    def _rows_without_vector(
        self, names: Sequence[str], connection: apsw.Connection | None = None
    ) -> dict[str, tuple[int, str]]:
        """Row and text of those that came in and wait for a vector, by their id at the source."""
        if connection is None:
            with self._connections.read() as reading:
                return self._rows_without_vector(names, reading)
        of_key = {source_key(name): name for name in names}
        rows: Any = connection.execute(
            """
            SELECT m.source_key, m.rid, m.content FROM memories m JOIN index_queue q ON q.rid = m.rid
            WHERE q.vector = 1 AND m.source_key IN (SELECT value FROM json_each(?))
            """,
            (as_json(of_key),),
        )
        return {of_key[str(known)]: (int(rid), str(content)) for known, rid, content in rows}


def _vector_chunks(other: apsw.Connection, dims: int) -> Iterator[tuple[list[str], FloatMatrix]]:
    for chunk in _chunk_ids(other):
        yield _read_chunk(other, chunk, dims)


def _chunk_ids(other: apsw.Connection) -> Iterator[int]:
    for (chunk,) in other.execute("SELECT rowid FROM vec_memories_vector_chunks00 ORDER BY rowid").fetchall():
        yield int(str(chunk))


def _read_chunk(other: apsw.Connection, chunk: int, dims: int) -> tuple[list[str], FloatMatrix]:
    """The ids in a chunk, and their vectors as rows; none if its vectors are of another length."""
    cap_threads()
    import numpy as np

    row: Any = other.execute(
        """
        SELECT v.vectors, c.size, c.validity FROM vec_memories_vector_chunks00 v
        JOIN vec_memories_chunks c ON c.chunk_id = v.rowid WHERE v.rowid = ?
        """,
        (chunk,),
    ).fetchone()
    nothing: tuple[list[str], FloatMatrix] = ([], np.zeros((0, dims), dtype=np.float32))
    if (
        row is None
        or not all(isinstance(one, bytes) for one in (row[0], row[2]))
        or not isinstance(row[1], int)
    ):
        return nothing
    raw, size, validity = row
    if size <= 0 or len(raw) != size * dims * _FLOAT_BYTES or len(validity) * 8 < size:
        return nothing
    matrix = np.frombuffer(raw, dtype="<f4").reshape(size, dims)
    live = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")[:size]
    ids, offsets = [], []
    for id, offset in other.execute(
        "SELECT CAST(id AS BLOB), chunk_offset FROM vec_memories_rowids WHERE chunk_id = ?", (chunk,)
    ):
        if isinstance(id, bytes) and isinstance(offset, int) and 0 <= offset < size and live[offset]:
            ids.append(id.decode(errors="replace"))
            offsets.append(offset)
    return ids, np.asarray(matrix[offsets], dtype=np.float32)
