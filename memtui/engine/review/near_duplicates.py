"""Facts that say nearly the same in other words: the latest ones compared with all by their vectors.

A vector alone takes "lives in Porto" and "does not live in Porto" for one: a pair counts only when its words do not
contradict each other either (similarity.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from memtui.engine.consolidation.compare.similarity import Reading, compare_readings, read
from memtui.engine.models import similarity_thresholds
from memtui.engine.models.vectors import cap_threads
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LATEST = 2_000
_AT_ONCE = 4_096
_MOST_PAIRS = 2_000
_VECTORS = """
    SELECT m.rid, e.vector FROM memories m INDEXED BY notes_by_time
    CROSS JOIN embeddings e ON e.rid = m.rid AND e.model_id = ? AND e.dims = ?
    WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL ORDER BY m.rid"""
"""The facts lead: most rows and most vectors are of turns."""


def pairs(
    connection: apsw.Connection, stopped: Callable[[], bool] = lambda: False
) -> tuple[list[tuple[str, str]], str]:
    """(newer, older) ids, the newest first; and what was not compared ("" for nothing)."""
    space = vectors.space(connection)
    if space is None:
        return [], "facts without vectors were compared by their words only"
    latest = connection.execute(f"{_VECTORS} DESC LIMIT ?", (*space, LATEST)).fetchall()
    if len(latest) < 2:
        return [], ""
    close = list(islice(_close(connection, space, latest, stopped), _MOST_PAIRS))
    found = []
    for newer, older in sorted(close, reverse=True):
        texts = connection.execute(
            "SELECT id, content FROM memories WHERE rid IN (?, ?) ORDER BY rid DESC", (newer, older)
        ).fetchall()
        (first, one), (second, other) = texts
        if agree(read(str(one)), read(str(other))):
            found.append((str(first), str(second)))
    full = len(latest) == LATEST
    return found, f"the latest {LATEST:,} facts were compared with all" if full else ""


def agree(a: Reading, b: Reading) -> bool:
    """Whether two statements whose vectors point the same way say the same, as far as rules can tell.

    What decides the meaning although it is small must be equal; and the same words in another order say something
    else ("tea over coffee").
    """
    if compare_readings(a, b).kind == "duplicate":
        return True
    ours, theirs = set(a.content), set(b.content)
    return (
        (a.denials, a.numbers, a.directions) == (b.denials, b.numbers, b.directions)
        and a.names <= theirs and b.names <= ours and ours != theirs
    )  # fmt: skip


def _close(
    connection: apsw.Connection, space: VectorSpace, latest: list[Any], stopped: Callable[[], bool]
) -> Iterator[tuple[int, int]]:
    """Pairs of rids, the greater first, whose vectors point the same way."""
    cap_threads()
    import numpy as np

    newest = np.array([rid for rid, _ in latest])
    looked_for = _unit([vector for _, vector in latest], space.dims)
    least = similarity_thresholds.of(space.model_id).same
    cursor = connection.execute(_VECTORS, space)
    while (rows := list(islice(cursor, _AT_ONCE))) and not stopped():
        rids = np.array([rid for rid, _ in rows])
        cosines = _unit([vector for _, vector in rows], space.dims) @ looked_for.T
        for place, other in zip(*np.nonzero(cosines >= least), strict=True):
            if rids[place] < newest[other]:
                yield int(newest[other]), int(rids[place])


def _unit(blobs: list[bytes], dims: int) -> NDArray[np.float32]:
    import numpy as np

    matrix = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, dims).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, 1e-9), np.float32)
