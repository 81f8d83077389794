"""A copy of the vectors in memory, for files that hold many.

SQLite reads and compares a hundred thousand vectors in some 50 ms; here it takes 3, and 300 bytes a vector.
The copy is read in the background and kept up to date from ``vector_log``, in which triggers note every
change of a vector. Until it is ready the index in the file answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from memtui.engine.models.vectors import cap_threads
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import vectors
from memtui.engine.store.sql import as_json

from .binary_quantization import pack_signs, uint64_per_vector, weighted_distances

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Cosines = tuple[NDArray[np.int64], NDArray[np.float32]]

FROM = 4_000
"""With fewer vectors the index in the file is quick enough."""
MOST = 1_500_000
"""More would take more than 450 MB."""
_CHANGES_IN_PASSING = 1_000
_ROWS_AT_ONCE = 4_096
# So many rows are made floats at a time: they stay in the processor's cache.
_ROWS_COMPARED_AT_ONCE = 512
LOOKED_AT = 3_000
LOOKED_AT_SHARE = 25
"""One in so many vectors is compared in full, but no fewer than 3,000: the others have too many other signs."""


class _VectorLogEntry(NamedTuple):
    """A row of ``vector_log``. The nonce tells it from a row of the same number in a restored file."""

    seq: int
    nonce: int


class VectorCache:
    """Safe to share between threads. ``on_wanted`` is called when a search would have used it for the first time."""

    def __init__(self, on_wanted: Callable[[], None] = lambda: None) -> None:
        self._on_wanted = on_wanted
        self._lock = threading.Lock()
        self._held: _CachedVectors | None = None
        self.wanted = False

    def is_current(self, connection: apsw.Connection, space: VectorSpace) -> bool:
        """Whether it mirrors what this connection sees, after taking in a few changes; if not, it is wanted."""
        with self._lock:
            cached = self._held
            if (
                cached is not None
                and cached.space == space
                and cached.apply_changes(connection, _CHANGES_IN_PASSING)
            ):
                return True
        if not self.wanted and vectors.has_more_vectors_than(connection, FROM):
            self.wanted = True
            self._on_wanted()
        return False

    def forget(self) -> None:
        """Drop the copy; it is read again when needed."""
        with self._lock:
            self._held = None

    def load_or_update(self, connection: apsw.Connection, stopped: Callable[[], bool]) -> None:
        """Where it is wanted: read everything, or what has changed."""
        space = vectors.vector_space(connection)
        if not self.wanted or space is None or vectors.has_more_vectors_than(connection, MOST):
            return
        with self._lock:
            cached = self._held
            if cached is not None and cached.space == space and cached.apply_changes(connection, None):
                return
        fresh = _CachedVectors(space, _latest_change(connection))
        if fresh.load_all(connection, stopped):
            with self._lock:
                self._held = fresh

    def nearest_rids(
        self, query: NDArray[np.int8], kinds: frozenset[str] | None, *, all: bool = False
    ) -> Cosines | None:
        """The rids of these kinds (None: every kind) that may be nearest, with their cosines, in no order.

        They are a twenty-fifth of them (vector_signs), at least 3,000; or ``all``. Only after ``ready``; None
        if the copy was dropped in the meantime.
        """
        with self._lock:
            return None if self._held is None else self._held.nearest_rids(query, kinds, all)

    def cosines(self, query: NDArray[np.int8], rids: Sequence[int]) -> Cosines | None:
        """The cosines of these rids; those without a vector are left out."""
        with self._lock:
            return None if self._held is None else self._held.cosines(query, rids)

    def vectors(self, rids: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int8]] | None:
        """Those of these rids that have a vector, and their vectors, a row each."""
        with self._lock:
            if self._held is None:
                return None
            places = self._held.row_indexes(rids)
            return self._held.rids[places], self._held.rows[places]


class _CachedVectors:
    """The rows: int8 vectors, their signs, one over their length (0 for a row that is gone), key, kind.

    ``place_of``: the row of each key, -1 for none.
    """

    def __init__(self, space: VectorSpace, last_change: _VectorLogEntry) -> None:
        cap_threads()
        import numpy as np

        self.space = space
        self.last_change = last_change
        self.kinds: list[str] = []
        self.count = self.gone = 0
        self.rows = np.empty((0, space.dims), np.int8)
        self.scale = np.empty(0, np.float32)
        self.rids = np.empty(0, np.int64)
        self.kind = np.empty(0, np.uint8)
        self.signs = np.empty((uint64_per_vector(space.dims), 0), np.uint64)
        self.place_of = np.empty(0, np.int32)

    def load_all(self, connection: apsw.Connection, stopped: Callable[[], bool]) -> bool:
        """All vectors of the space; False when it was stopped."""
        cursor = connection.execute(
            """
            SELECT e.rid, m.kind, e.vector FROM embeddings e JOIN memories m ON m.rid = e.rid
            WHERE e.model_id = ? AND e.dims = ? AND e.dtype = 'int8' ORDER BY e.rid
            """,
            self.space,
        )
        while rows := list(islice(cursor, _ROWS_AT_ONCE)):
            if stopped():
                return False
            self.append_rows(rows)
        return True

    def apply_changes(self, connection: apsw.Connection, limit: int | None) -> bool:
        """The changes since ``last_change``. False when they are more than ``limit``, or it is better made anew."""
        changes: list[Any] = connection.execute(
            "SELECT seq, nonce, rid FROM vector_log WHERE seq >= ? ORDER BY seq LIMIT ?",
            (self.last_change.seq, -1 if limit is None else limit + 2),
        ).fetchall()
        if self.last_change.seq:
            if not changes or changes.pop(0)[:2] != self.last_change:
                return False
        elif changes and changes[0][0] != 1:
            return False
        if limit is not None and len(changes) > limit:
            return False
        if changes:
            self._replace_rows(connection, {rid for _, _, rid in changes})
            seq, nonce, _ = changes[-1]
            self.last_change = _VectorLogEntry(seq, nonce)
        return limit is not None or 4 * self.gone <= self.count

    def _replace_rows(self, connection: apsw.Connection, rids: set[int]) -> None:
        import numpy as np

        changed = np.fromiter(rids, np.int64)
        old = self.place_of[changed[changed < len(self.place_of)]]
        old = old[old >= 0]
        self.gone += int(np.count_nonzero(self.scale[old]))
        self.scale[old] = 0
        rows: list[Any] = connection.execute(
            """
                SELECT e.rid, m.kind, e.vector FROM embeddings e JOIN memories m ON m.rid = e.rid
                WHERE e.model_id = ? AND e.dims = ? AND e.dtype = 'int8' AND e.rid IN (SELECT value FROM json_each(?))
                """,
            (*self.space, as_json(rids)),
        ).fetchall()
        self.append_rows(rows)

    def append_rows(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        import numpy as np

        start, end = self.count, self.count + len(rows)
        if end > len(self.rids):
            room = end + end // 8 + _ROWS_AT_ONCE
            for name in ("rows", "scale", "rids", "kind"):
                old = getattr(self, name)
                new = np.empty((room, *old.shape[1:]), old.dtype)
                new[:start] = old[:start]
                setattr(self, name, new)
            columns = np.empty((len(self.signs), room), np.uint64)
            columns[:, :start] = self.signs[:, :start]
            self.signs = columns
        for kind in {kind for _, kind, _ in rows}.difference(self.kinds):
            self.kinds.append(kind)
        self.rids[start:end] = [rid for rid, _, _ in rows]
        self.kind[start:end] = [self.kinds.index(kind) for _, kind, _ in rows]
        vectors_of = np.frombuffer(b"".join(vector for *_, vector in rows), np.int8)
        self.rows[start:end] = vectors_of.reshape(-1, self.space.dims)
        self.signs[:, start:end] = pack_signs(self.rows[start:end])
        highest = max(rid for rid, *_ in rows) if rows else -1
        if highest >= len(self.place_of):
            grown = np.full(highest + highest // 8 + _ROWS_AT_ONCE, -1, np.int32)
            grown[: len(self.place_of)] = self.place_of
            self.place_of = grown
        self.place_of[self.rids[start:end]] = np.arange(start, end)
        lengths = np.linalg.norm(self.rows[start:end].astype(np.float32), axis=1)
        self.scale[start:end] = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self.count = end

    def nearest_rids(self, query: NDArray[np.int8], kinds: frozenset[str] | None, all: bool) -> Cosines:
        import numpy as np

        wanted = self._rows_of_kinds(kinds)
        count = int(np.count_nonzero(wanted))
        most = max(LOOKED_AT, count // LOOKED_AT_SHARE)
        if all or count <= most:
            return self._cosines_of_rows(query, np.flatnonzero(wanted))
        far = weighted_distances(self.signs[:, : self.count], query)
        if count < self.count:
            far[~wanted] = np.iinfo(far.dtype).max
        # Of equally far ones all are taken. Distances are small numbers, which are counted sooner than put in order.
        limit = int(np.searchsorted(np.cumsum(np.bincount(far)), most))
        return self._cosines_of_rows(query, np.flatnonzero(far <= limit))

    def cosines(self, query: NDArray[np.int8], rids: Sequence[int]) -> Cosines:
        return self._cosines_of_rows(query, self.row_indexes(rids))

    def row_indexes(self, rids: Sequence[int]) -> NDArray[np.int64]:
        """The rows of those that have a vector."""
        import numpy as np

        wanted_rids = np.asarray(rids, np.int64)
        places = self.place_of[wanted_rids[wanted_rids < len(self.place_of)]].astype(np.int64)
        places = places[places >= 0]
        return places[self.scale[places] > 0]

    def _rows_of_kinds(self, kinds: frozenset[str] | None) -> NDArray[np.bool_]:
        import numpy as np

        wanted = self.scale[: self.count] > 0
        if kinds is not None:
            codes = np.array([kind in kinds for kind in self.kinds] or [False])
            wanted &= codes[self.kind[: self.count]]
        return wanted

    def _cosines_of_rows(self, query: NDArray[np.int8], places: NDArray[np.int64]) -> Cosines:
        import numpy as np

        one = query.astype(np.float32)
        scores = np.empty(len(places), np.float32)
        floats = np.empty((_ROWS_COMPARED_AT_ONCE, self.space.dims), np.float32)
        for start in range(0, len(places), _ROWS_COMPARED_AT_ONCE):
            some = places[start : start + _ROWS_COMPARED_AT_ONCE]
            part = floats[: len(some)]
            # Neighbours are read as they lie, which is twice as quick as one by one.
            together = some[-1] - some[0] + 1 == len(some)
            np.copyto(part, self.rows[some[0] : some[-1] + 1] if together else self.rows[some])
            np.dot(part, one, out=scores[start : start + len(some)])
        return self.rids[places], scores * (self.scale[places] / np.linalg.norm(one))


def _latest_change(connection: apsw.Connection) -> _VectorLogEntry:
    row = connection.execute("SELECT seq, nonce FROM vector_log ORDER BY seq DESC LIMIT 1").fetchone()
    return _VectorLogEntry(*row) if row else _VectorLogEntry(0, 0)
