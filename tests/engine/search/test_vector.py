"""The vector retriever finds the same through vec0, directly, in numpy, and in a copy in memory."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from memtui import Memory
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.vectors import normalise_rows, quantise_rows
from memtui.engine.records import Options
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search.filters import compiler
from memtui.engine.search.retrievers import binary_quantization, vector, vector_cache
from memtui.engine.search.retrievers.cosine import cosines_of_blobs
from memtui.engine.search.retrievers.vector_cache import VectorCache
from memtui.engine.search.scope import Scope, make_scope
from memtui.engine.store import vectors
from memtui.engine.store.file import open_file
from shelf import NOW, Book

SPACE = VectorSpace("test", 16)
CHANCE = np.random.default_rng(5)


@pytest.fixture(params=["vec0", "vec0 itself", "numpy"])
def shelf(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Book]:
    """200 memories with random vectors: facts and episodes, every tenth fact tagged, some of them forgotten."""
    if request.param == "numpy":
        monkeypatch.setattr("memtui.engine.store.connections.load_vec0", lambda _: "not here")
    if request.param == "vec0 itself":

        def unknown(*_: object) -> list[tuple[int, float]]:
            raise apsw.SQLError("no such column: partition00")

        monkeypatch.setattr(vector, "_scan_chunks", unknown)
    connections = open_file(":memory:")
    book = Book(connections)
    for number in range(200):
        kind = "fact" if number % 4 else "episode"
        memory = book.add(f"m{number}", kind, tags=["few"] if number % 10 == 1 else [])
        put(book, memory.rid, random_vector())
        if number % 7 == 3:
            book.forget(memory)
    if request.param != "numpy":
        with book.writing() as connection:
            while vectors.sync_index(connection):
                pass
    assert vector.has_vec0(book.connection) == (request.param != "numpy")
    yield book
    connections.close()


def random_vector() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return normalise_rows(CHANCE.standard_normal((1, SPACE.dims)).astype(np.float32))


def put(book: Book, rid: int, row: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    with book.writing() as connection:
        vectors.set_space(connection, SPACE)
        vectors.store_vectors(connection, SPACE, [(rid, quantise_rows(row)[0].tobytes())])


def copied(book: Book, monkeypatch: pytest.MonkeyPatch) -> VectorCache:
    monkeypatch.setattr(vector_cache, "FROM", 0)
    copy = VectorCache()
    assert not copy.is_current(book.connection, SPACE)
    copy.load_or_update(book.connection, lambda: False)
    assert copy.is_current(book.connection, SPACE)
    return copy


def within(expression: str = "") -> Scope:
    return make_scope(compiler.compile_filter(expression, NOW))


def exact(
    book: Book, query: np.ndarray[tuple[int, int], np.dtype[np.float32]], where: Scope
) -> list[tuple[int, float]]:
    """All cosines, worked out here."""
    rows = book.connection.execute(
        f"SELECT m.rid, e.vector FROM memories m JOIN embeddings e ON e.rid = m.rid WHERE {where.where}",
        where.bindings,
    ).fetchall()
    one = quantise_rows(query)[0].astype(np.float64)
    found = []
    for rid, blob in rows:
        other = np.frombuffer(blob, np.int8).astype(np.float64)
        found.append((rid, float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))))
    return sorted(found, key=lambda hit: (-hit[1], -hit[0]))


def as_blob(query: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> bytes:
    blob: bytes = quantise_rows(query)[0].tobytes()
    return blob


@pytest.mark.parametrize("narrow", [0, 20_000], ids=["through the index", "one by one"])
@pytest.mark.parametrize(
    "expression", ["", "kind:fact", "kind:episode", "tag:few", "is:trash", "kind:fact -tag:few"]
)
def test_the_nearest_of_the_scope_are_found(
    shelf: Book, expression: str, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector, "NARROW", narrow)
    query = random_vector()
    where = within(expression)
    wanted = exact(shelf, query, where)[:10]
    found = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), where, 10)
    assert [hit.rid for hit in found] == [rid for rid, _ in wanted]
    assert [hit.score for hit in found] == pytest.approx([score for _, score in wanted], abs=1e-5)


@pytest.mark.parametrize(
    "expression", ["", "kind:fact", "kind:episode", "tag:few", "is:trash", "kind:fact -tag:few"]
)
def test_a_copy_in_memory_finds_the_same(
    shelf: Book, expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copied(shelf, monkeypatch)
    query = random_vector()
    where = within(expression)
    wanted = exact(shelf, query, where)[:10]
    found = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), where, 10, copy)
    assert [hit.rid for hit in found] == [rid for rid, _ in wanted]
    assert [hit.score for hit in found] == pytest.approx([score for _, score in wanted], abs=1e-5)


@pytest.mark.parametrize("kinds", [None, frozenset({"fact"})])
@pytest.mark.parametrize("most", [1, 7, 30, 60])
def test_the_vectors_that_are_compared_are_those_of_the_least_distant_signs(
    shelf: Book, kinds: frozenset[str] | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "LOOKED_AT", most)
    monkeypatch.setattr(vector_cache, "LOOKED_AT_SHARE", 1_000)
    copy = copied(shelf, monkeypatch)
    held = copy._held
    assert held is not None
    wanted = np.flatnonzero(held._rows_of_kinds(kinds))
    for _ in range(5):
        query = np.frombuffer(as_blob(random_vector()), np.int8)
        far = binary_quantization.weighted_distances(held.signs[:, : held.count], query)
        least = np.sort(far[wanted])[most - 1]
        found = copy.nearest_rids(query, kinds)
        assert found is not None
        assert set(found[0].tolist()) == set(held.rids[wanted[far[wanted] <= least]].tolist())


@pytest.mark.parametrize("expression", ["", "kind:fact", "tag:few", "is:trash", "kind:fact -tag:few"])
def test_of_many_vectors_those_are_compared_that_have_the_signs_of_the_question(
    shelf: Book, expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "LOOKED_AT", 30)
    copy = copied(shelf, monkeypatch)
    where = within(expression)
    target = exact(shelf, random_vector(), where)[0][0]
    [(blob,)] = shelf.connection.execute("SELECT vector FROM embeddings WHERE rid = ?", (target,))
    query = normalise_rows(np.frombuffer(blob, np.int8)[None].astype(np.float32)) + 0.2 * random_vector()
    everything = exact(shelf, query, where)
    found = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), where, 5, copy)
    assert found[0].rid == target and len(found) == 5
    assert [(hit.rid, pytest.approx(hit.score, abs=1e-9)) for hit in found] == [
        one for one in everything if one[0] in {hit.rid for hit in found}
    ]
    all_of_them = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), where, 200, copy)
    assert [hit.rid for hit in all_of_them] == [rid for rid, _ in everything]
    inside = [rid for rid, _ in everything]
    assert (
        vector.nearest_memories(shelf.connection, SPACE, as_blob(query), where, 5, copy, inside)[0].rid
        == target
    )
    for narrow in (vector.NARROW, 5):
        monkeypatch.setattr(vector, "NARROW", narrow)
        for place, (rid, cosine) in enumerate(everything):
            position = vector.vector_rank(shelf.connection, SPACE, as_blob(query), where, rid, copy)
            assert position == (pytest.approx(cosine, abs=1e-9), place)


@pytest.mark.parametrize("dims", [16, 64, 100, 256])
def test_the_distance_is_what_the_other_signs_count(dims: int) -> None:
    rows = CHANCE.integers(-127, 128, (300, dims), np.int8)
    query = CHANCE.integers(-127, 128, dims, np.int8)
    size = np.abs(query.astype(np.float32))
    counts = np.clip(np.rint(size / (2.5 * size.mean()) * 3), 0, 3).astype(int)
    wanted = ((rows > 0) != (query > 0)) @ counts
    assert (
        binary_quantization.weighted_distances(binary_quantization.pack_signs(rows), query) == wanted
    ).all()


def test_a_copy_is_made_only_where_it_is_worth_it(shelf: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    wishes: list[str] = []
    copy = VectorCache(lambda: wishes.append("wanted"))
    assert not copy.is_current(shelf.connection, SPACE)
    copy.load_or_update(shelf.connection, lambda: False)
    assert not copy.is_current(shelf.connection, SPACE)
    assert not wishes
    monkeypatch.setattr(vector_cache, "FROM", 199)
    assert not copy.is_current(shelf.connection, SPACE)
    assert wishes == ["wanted"]
    copy.load_or_update(shelf.connection, lambda: True)
    assert not copy.is_current(shelf.connection, SPACE), "it was stopped half-way"
    copy.load_or_update(shelf.connection, lambda: False)
    assert copy.is_current(shelf.connection, SPACE)
    assert not copy.is_current(shelf.connection, VectorSpace("another", 16))


@pytest.mark.parametrize("readonly", [False, True])
def test_whoever_has_a_memory_open_gets_the_copy_also_to_look_at_it(
    readonly: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "FROM", 0)
    with Memory.open(place, options=Options(background=False)) as memory:
        memory.remember("Ada lives in Lisbon")
        memory.remember("The standup moved to nine")
        memory.models.index_pending()
    with Memory.open(place, readonly=readonly) as memory:
        memory.search("where does Ada live?")
        for _ in range(3_000):
            if memory._core.vector_cache._held is not None:
                break
            time.sleep(0.02)
        assert memory._core.vector_cache._held is not None
        assert "Lisbon" in memory.search("where does Ada live?").hits[0].memory.content


def test_the_tokenizer_is_loaded_before_a_later_search_needs_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "FROM", 0)
    with Memory.open(place, options=Options(background=False)) as memory:
        memory.remember("Ada lives in Lisbon")
        memory.models.index_pending()
    with Memory.open(place, readonly=True) as memory:
        memory.search("where does Ada live?")
        with memory._core.connections.read() as connection:
            embedder = memory._core.embedders.embedder_of_space(vectors.vector_space(connection))
        assert isinstance(embedder, OfflineEmbedder)
        for _ in range(3_000):
            if embedder._model is not None:
                break
            time.sleep(0.02)
        assert embedder._model is not None


@pytest.mark.parametrize("in_passing", [0, 1_000], ids=["in the background", "in passing"])
def test_a_copy_follows_every_change(shelf: Book, in_passing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "_CHANGES_IN_PASSING", in_passing)
    copy = copied(shelf, monkeypatch)
    for number in range(120):
        rid = int(CHANCE.integers(1, 200))
        match number % 3:
            case 0:
                put(shelf, shelf.add(f"new {number}").rid, random_vector())
            case 1:
                put(shelf, rid, random_vector())
            case _:
                with shelf.writing() as connection:
                    connection.execute("DELETE FROM embeddings WHERE rid = ?", (rid,))
        if number % 5 == 0:
            if in_passing == 0:
                assert not copy.is_current(shelf.connection, SPACE)
                copy.load_or_update(shelf.connection, lambda: False)
            assert copy.is_current(shelf.connection, SPACE)
            query = random_vector()
            found = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 300, copy)
            assert [hit.rid for hit in found] == [rid for rid, _ in exact(shelf, query, within())]


def test_a_copy_that_has_missed_changes_is_made_anew(shelf: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copied(shelf, monkeypatch)
    fresh = shelf.add("fresh")
    query = random_vector()
    put(shelf, fresh.rid, query)
    with shelf.writing() as connection:  # as in a file that was restored: the same number, another change
        connection.execute("UPDATE vector_log SET nonce = nonce + 1")
    assert not copy.is_current(shelf.connection, SPACE)
    copy.load_or_update(shelf.connection, lambda: False)
    assert (
        vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 1, copy)[0].rid
        == fresh.rid
    )
    monkeypatch.setattr(vectors, "LOG_KEPT", 0)
    put(shelf, fresh.rid, -query)
    with shelf.writing() as connection:
        vectors.trim_change_log(connection)
    assert not copy.is_current(shelf.connection, SPACE)
    copy.load_or_update(shelf.connection, lambda: False)
    assert (
        vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 300, copy)[-1].rid
        == fresh.rid
    )


def test_one_tagged_memory_among_many_nearer_ones_is_found(
    shelf: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector, "NARROW", 0)
    query = random_vector()
    far = shelf.add("far", tags=["one"])
    put(shelf, far.rid, -query)
    assert [
        hit.rid
        for hit in vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within("tag:one"), 3)
    ] == [far.rid]


def test_changes_that_the_index_does_not_know_yet_count(shelf: Book) -> None:
    query = random_vector()
    fresh = shelf.add("fresh")
    put(shelf, fresh.rid, query)
    [old] = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within("kind:episode"), 1)
    put(shelf, old.rid, -query)
    [best, *rest] = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 200)
    assert (best.rid, best.score) == (fresh.rid, pytest.approx(1.0, abs=1e-3))
    assert rest[-1].rid == old.rid
    with shelf.writing() as connection:
        connection.execute("DELETE FROM memories WHERE rid = ?", (fresh.rid,))
    assert fresh.rid not in {
        hit.rid for hit in vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 200)
    }


def test_the_position_of_any_memory_is_exact(shelf: Book) -> None:
    query = random_vector()
    where = within("kind:fact")
    wanted = exact(shelf, query, where)
    for place in (0, 17, len(wanted) - 1):
        rid, cosine = wanted[place]
        found = vector.vector_rank(shelf.connection, SPACE, as_blob(query), where, rid)
        assert found == (pytest.approx(cosine, abs=1e-5), place)
    without = shelf.add("no vector")
    assert vector.vector_rank(shelf.connection, SPACE, as_blob(query), where, without.rid) is None


def test_the_chunks_of_vec0_are_read_as_vec0_compares_them(
    shelf: Book, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["shelf"] != "vec0":
        pytest.skip("there is nothing to compare")
    delete_from_index(shelf, range(20, 60))
    assert_chunks_agree(shelf)


def test_what_vec0_only_marks_as_deleted_is_not_read(shelf: Book, request: pytest.FixtureRequest) -> None:
    """As if vec0 cleared the bit of a deleted row alone, and left its number and its vector in the chunk."""
    if request.node.callspec.params["shelf"] != "vec0":
        pytest.skip("there is nothing to compare")
    table = vectors.index_table(shelf.connection)
    gone = range(20, 60)
    rowids = shelf.connection.execute(f"SELECT chunk_id, rowids FROM {table}_chunks").fetchall()
    stored = shelf.connection.execute(f"SELECT rowid, vectors FROM {table}_vector_chunks00").fetchall()
    delete_from_index(shelf, gone)
    with shelf.writing() as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        for chunk, blob in rowids:
            connection.execute(f"UPDATE {table}_chunks SET rowids = ? WHERE chunk_id = ?", (blob, chunk))
        for chunk, blob in stored:
            connection.execute(
                f"UPDATE {table}_vector_chunks00 SET vectors = ? WHERE rowid = ?", (blob, chunk)
            )
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    assert_chunks_agree(shelf)
    found = vector._scan_chunks(shelf.connection, as_blob(random_vector()), within(), 1_000)
    assert found and not {rid for rid, _ in found}.intersection(gone)


def delete_from_index(shelf: Book, rids: Iterable[int]) -> None:
    with shelf.writing() as connection:
        for rid in rids:
            connection.execute("DELETE FROM memories WHERE rid = ?", (rid,))
        while vectors.sync_index(connection):
            pass


def assert_chunks_agree(shelf: Book) -> None:
    for expression in ("", "kind:fact", "kind:episode", "kind:reflection"):
        for k in (1, 30, 500):
            blob = as_blob(random_vector())
            found = vector._scan_chunks(shelf.connection, blob, within(expression), k)
            expected = vector._sql_knn(shelf.connection, blob, within(expression), k, "")
            assert dict(found) == pytest.approx(dict(expected), abs=1e-5)


def test_cosines_are_the_same_with_numpy_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(5)
    for dims in (1, 16, 256, 1_536):
        query = dice.integers(-127, 128, dims, np.int8).tobytes()
        rows = [row.tobytes() for row in dice.integers(-127, 128, (50, dims), np.int8)]
        expected = cosines_of_blobs(rows, query)
        with monkeypatch.context() as patch:
            patch.delitem(sys.modules, "numpy")
            assert cosines_of_blobs(rows, query) == expected
            [nothing] = cosines_of_blobs([bytes(dims)], query)
            assert "numpy" not in sys.modules
        assert math.isnan(nothing)


def test_vectors_of_another_model_or_length_are_never_compared(shelf: Book) -> None:
    query = random_vector()
    stranger = shelf.add("stranger")
    with shelf.writing() as connection:
        vectors.store_vectors(
            connection, VectorSpace("other", 16), [(stranger.rid, quantise_rows(query)[0].tobytes())]
        )
        vectors.store_vectors(connection, VectorSpace(SPACE.model_id, 8), [(stranger.rid, bytes(8))])
    assert stranger.rid not in {
        hit.rid for hit in vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within(), 200)
    }


def test_more_than_the_limit_of_one_query_can_be_asked_for(
    shelf: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector, "KNN_LIMIT", 50)
    monkeypatch.setattr(vector, "NARROW", 0)
    query = random_vector()
    found = vector.nearest_memories(shelf.connection, SPACE, as_blob(query), within("tag:few"), 10)
    assert [hit.rid for hit in found] == [rid for rid, _ in exact(shelf, query, within("tag:few"))[:10]]
