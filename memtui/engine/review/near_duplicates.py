"""Memories that say the same: near duplicates, and recalled texts that were stored again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from memtui.engine.consolidation.compare.similarity import AnalysedText, analyse_statement, compare_analysed
from memtui.engine.models.vectors import cap_threads, thresholds_of
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


from memtui.engine.store import tokens

LATEST = 2_000
_AT_ONCE = 4_096
_MOST_PAIRS = 2_000
_VECTORS = """
    SELECT m.rid, e.vector FROM memories m INDEXED BY notes_by_time
    CROSS JOIN embeddings e ON e.rid = m.rid AND e.model_id = ? AND e.dims = ?
    WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL ORDER BY m.rid"""
"""The facts lead: most rows and most vectors are of turns."""


def duplicate_pairs(
    connection: apsw.Connection, stopped: Callable[[], bool] = lambda: False
) -> tuple[list[tuple[str, str]], str]:
    """(newer, older) ids, the newest first; and what was not compared ("" for nothing)."""
    space = vectors.vector_space(connection)
    if space is None:
        return [], "facts without vectors were compared by their words only"
    latest = connection.execute(f"{_VECTORS} DESC LIMIT ?", (*space, LATEST)).fetchall()
    if len(latest) < 2:
        return [], ""
    close = list(islice(_close_pairs(connection, space, latest, stopped), _MOST_PAIRS))
    pairs = []
    for newer, older in sorted(close, reverse=True):
        texts = connection.execute(
            "SELECT id, content FROM memories WHERE rid IN (?, ?) ORDER BY rid DESC", (newer, older)
        ).fetchall()
        (first, one), (second, other) = texts
        if say_the_same(analyse_statement(str(one)), analyse_statement(str(other))):
            pairs.append((str(first), str(second)))
    full = len(latest) == LATEST
    return pairs, f"the latest {LATEST:,} facts were compared with all" if full else ""


def say_the_same(a: AnalysedText, b: AnalysedText) -> bool:
    """Whether two statements whose vectors point the same way say the same, as far as rules can tell.

    What decides the meaning although it is small must be equal; and the same words in another order say something
    else ("tea over coffee").
    """
    if compare_analysed(a, b).kind == "duplicate":
        return True
    ours, theirs = set(a.content), set(b.content)
    return (
        (a.denials, a.numbers, a.directions) == (b.denials, b.numbers, b.directions)
        and a.names <= theirs and b.names <= ours and ours != theirs
    )  # fmt: skip


def _close_pairs(
    connection: apsw.Connection, space: VectorSpace, latest: list[Any], stopped: Callable[[], bool]
) -> Iterator[tuple[int, int]]:
    """Pairs of rids, the greater first, whose vectors point the same way."""
    cap_threads()
    import numpy as np

    newest = np.array([rid for rid, _ in latest])
    looked_for = _unit_vectors([vector for _, vector in latest], space.dims)
    least = thresholds_of(space.model_id).same
    cursor = connection.execute(_VECTORS, space)
    while (rows := list(islice(cursor, _AT_ONCE))) and not stopped():
        rids = np.array([rid for rid, _ in rows])
        cosines = _unit_vectors([vector for _, vector in rows], space.dims) @ looked_for.T
        for row, other in zip(*np.nonzero(cosines >= least), strict=True):
            if rids[row] < newest[other]:
                yield int(newest[other]), int(rids[row])


def _unit_vectors(blobs: list[bytes], dims: int) -> NDArray[np.float32]:
    import numpy as np

    matrix = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, dims).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, 1e-9), np.float32)


_LATEST_SERVED = 1_000
_FEWEST_WORDS = 4
_LONGEST_WORDS = 4
_MOST_FOUND = 50


def repeated_recalls(
    connection: apsw.Connection, stopped: Callable[[], bool] = lambda: False
) -> tuple[list[str], str]:
    """Ids of turns and notes that hold a recalled memory's text and were said after the recall, notes first; and
    what was not looked at ("" for nothing). Recalls are kept for 90 days."""
    served = connection.execute(
        """
        SELECT m.rid, m.id, m.content, min(r.at) FROM recalls r, json_each(r.memory_ids) j JOIN memories m ON m.id = j.value
        WHERE m.kind <> 'episode' GROUP BY m.rid ORDER BY max(r.at) DESC
        """
    ).fetchall()
    original_ids: dict[str, str] = {}
    for rid, id, content, at in served[:_LATEST_SERVED]:
        if stopped():
            break
        phrase = tokens.text_words(str(content))
        if len(phrase) < _FEWEST_WORDS:
            continue  # "I like tea" is said again by anybody
        # The longest words are the rarest; a phrase of FTS5 would read where every "the" stands.
        longest = sorted(dict.fromkeys(phrase), key=len, reverse=True)[:_LONGEST_WORDS]
        alike = " AND ".join(f'"{word}"' for word in longest)
        rows = connection.execute(
            """
            SELECT n.id, n.kind, n.content FROM memories_fts f JOIN memories n ON n.rid = f.rowid
            WHERE memories_fts MATCH ?1 AND f.rowid > ?2 AND n.event_time > ?3 AND n.valid_until IS NULL
              AND NOT EXISTS (SELECT 1 FROM memory_links l WHERE l.from_id = n.id AND l.to_id = ?4
                              AND l.rel IN ('supersedes', 'merged'))
            ORDER BY f.rowid DESC LIMIT ?5
            """,
            (f"content : ({alike})", rid, at, id, _MOST_FOUND),
        )
        said = f" {' '.join(phrase)} "
        original_ids |= {
            str(duplicate): str(kind)
            for duplicate, kind, text in rows
            if said in f" {' '.join(tokens.text_words(str(text)))} "
        }
    notes_first = sorted(original_ids, key=lambda duplicate: original_ids[duplicate] == "episode")
    left = len(served) - _LATEST_SERVED
    return (
        notes_first,
        f"the latest {_LATEST_SERVED:,} of {len(served):,} recalled notes were looked for"
        if left > 0
        else "",
    )
