"""Vectors of another memory.db are kept where this memory's own model gives the same ones, else made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from memtui import Memory
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.records import ImportReport, Options
from memtui.engine.store.connection import load_vec0
from numpy.typing import NDArray

TEXTS = [
    f"The {what} is kept in the {where}"
    for what in ("boat", "piano", "garden hose", "old map")
    for where in ("shed", "attic", "cellar")
]
SIZE = 8  # slots of a chunk; sqlite-vec makes them of 1024

Matrix = NDArray[np.float32]


def other(path: Path, vectors: Matrix) -> Path:
    """A memory.db with these vectors as sqlite-vec lays them out: the last slot of each chunk is a deleted one."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE memories(id TEXT, kind TEXT, content TEXT, event_time REAL, source_ids TEXT);
            CREATE TABLE vec_memories_rowids(rowid INTEGER PRIMARY KEY, id, chunk_id INTEGER, chunk_offset INTEGER);
            CREATE TABLE vec_memories_chunks(chunk_id INTEGER PRIMARY KEY, size INTEGER, validity BLOB, rowids BLOB);
            CREATE TABLE vec_memories_vector_chunks00(rowid INTEGER PRIMARY KEY, vectors BLOB);
            """
        )
        per = SIZE - 1
        for start in range(0, len(TEXTS), per):
            chunk = start // per + 1
            some = vectors[start : start + per]
            full = np.full((SIZE, vectors.shape[1]), 7, dtype="<f4")
            full[: len(some)] = some
            live = np.packbits([1] * len(some) + [0] * (SIZE - len(some)), bitorder="little")
            connection.execute(
                "INSERT INTO vec_memories_chunks VALUES (?, ?, ?, x'')", (chunk, SIZE, live.tobytes())
            )
            connection.execute(
                "INSERT INTO vec_memories_vector_chunks00 VALUES (?, ?)", (chunk, full.tobytes())
            )
            for slot, text in enumerate(TEXTS[start : start + per]):
                name = f"fact_{start + slot:012x}"
                connection.execute("INSERT INTO memories VALUES (?, 'fact', ?, 1.7e9, '[]')", (name, text))
                connection.execute(
                    "INSERT INTO vec_memories_rowids(id, chunk_id, chunk_offset) VALUES (?, ?, ?)",
                    (name, chunk, slot),
                )
            connection.execute(
                "INSERT INTO vec_memories_rowids(id, chunk_id, chunk_offset) VALUES ('fact_deleted', ?, ?)",
                (chunk, per),
            )
    return path


@pytest.fixture(scope="module")
def ours() -> Matrix:
    return np.asarray(OfflineEmbedder().embed(TEXTS), dtype=np.float32)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False)) as opened:
        yield opened


def counts(memory: Memory) -> tuple[int, int]:
    stats = memory.stats()
    return stats.embedded, stats.unembedded


def told(report: ImportReport) -> str:
    return " ".join(report.warnings)


def test_vectors_of_the_same_model_are_kept_and_found_by(
    memory: Memory, tmp_path: Path, ours: Matrix
) -> None:
    report = memory.files.import_paths([other(tmp_path / "memory.db", ours * np.float32(3))])
    assert "12 vectors kept" in told(report)
    assert "made anew" not in told(report)
    assert counts(memory) == (12, 0)
    with memory._core.connections.read() as connection:
        kept = {
            content: np.frombuffer(bytes(vector), dtype=np.int8)
            for content, vector in connection.execute(
                "SELECT m.content, e.vector FROM embeddings e JOIN memories m ON m.rid = e.rid"
            )
        }
    for text, vector in zip(TEXTS, ours, strict=True):
        assert kept[text] @ vector / np.linalg.norm(kept[text].astype(float)) > 0.99
    assert memory.files.check(deep=True).ok
    assert report.operation is not None
    memory.undo(report.operation.op_id)
    assert counts(memory) == (0, 0)


def test_vectors_that_sqlite_vec_wrote_itself_are_read(memory: Memory, tmp_path: Path, ours: Matrix) -> None:
    path = tmp_path / "memory.db"
    with closing(apsw.Connection(str(path))) as connection:
        if load_vec0(connection):
            pytest.skip("no sqlite-vec here")
        connection.execute(
            "CREATE TABLE memories(id TEXT, kind TEXT, content TEXT, event_time REAL, source_ids TEXT)"
        )
        connection.execute(
            "CREATE VIRTUAL TABLE vec_memories USING vec0(id TEXT PRIMARY KEY, embedding float[256])"
        )
        for number, (text, vector) in enumerate(zip(TEXTS, ours, strict=True)):
            name = f"fact_{number:012x}"
            connection.execute("INSERT INTO memories VALUES (?, 'fact', ?, 1.7e9, '[]')", (name, text))
            connection.execute(
                "INSERT INTO vec_memories(id, embedding) VALUES (?, ?)", (name, vector.tobytes())
            )
        connection.execute("DELETE FROM vec_memories WHERE id = 'fact_000000000003'")
    assert "11 vectors kept" in told(memory.files.import_paths([path]))
    assert counts(memory) == (11, 1)


@pytest.mark.parametrize(
    "bent",
    [
        lambda ours: np.random.default_rng(1).normal(size=ours.shape).astype(np.float32),
        lambda ours: ours[::-1],
        lambda ours: ours[:, :128],
        lambda ours: ours * np.float32("nan"),
        lambda ours: ours * 0,
    ],
    ids=["another model", "mixed up", "other dimensions", "NaN", "zero"],
)
def test_any_other_vectors_are_left_and_made_anew(
    memory: Memory, tmp_path: Path, ours: Matrix, bent: Callable[[Matrix], Matrix]
) -> None:
    report = memory.files.import_paths([other(tmp_path / "memory.db", bent(ours))])
    assert "vectors left out: they are made anew" in told(report)
    assert counts(memory) == (0, 12)


def test_tables_that_are_broken_stop_nothing(memory: Memory, tmp_path: Path, ours: Matrix) -> None:
    path = other(tmp_path / "memory.db", ours)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vec_memories_chunks SET size = -1, validity = NULL WHERE chunk_id = 1")
        connection.execute("UPDATE vec_memories_rowids SET chunk_offset = 1e9 WHERE rowid % 3 = 0")
        connection.execute("UPDATE vec_memories_rowids SET id = x'ff00' WHERE rowid % 4 = 0")
    memory.files.import_paths([path])
    embedded, left = counts(memory)
    assert embedded + left == 12
    assert left >= 7


def test_without_a_model_nothing_is_tried(tmp_path: Path, ours: Matrix) -> None:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        memory.files.import_paths([other(tmp_path / "memory.db", ours)])
        assert memory.stats().embedded == 0
