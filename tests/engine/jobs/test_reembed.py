"""Another embedding model: the old vectors serve until none is missing, and the two are never mixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError
from memtui.engine.jobs import reembedding
from memtui.engine.jobs.reembedding import Reembedder
from memtui.engine.models.vectors import normalise_rows
from memtui.engine.records import Options
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import vectors
from numpy.typing import NDArray

NEW = VectorSpace("letters", 26)


class Letters:
    """Counts letters: what has none it knows nothing of. ``before`` runs before each batch."""

    model_id, dims = NEW
    sends_to = ""

    def __init__(self) -> None:
        self.before: Callable[[], None] = lambda: None
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before()
        self.texts += texts
        counts = [[text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts]
        return normalise_rows(np.array(counts, np.float32))

    def available(self) -> str | None:
        return None

    def at_hand(self, text: str) -> bool:
        return True

    def interrupt(self) -> None:
        pass

    def embed_query(self, text: str, weight: object = None) -> NDArray[np.float32]:
        return self.embed([text])


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(reembedding, "BATCH", 4)
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        for number in range(10):
            memory.remember(f"Ada has read {number} books about lighthouses")
        memory.record_turn("s", "user", "Алиса живёт у моря")
        memory.models.index_pending()
        yield memory


def held(memory: Memory) -> dict[str, int]:
    with memory._core.connections.read() as connection:
        return dict(connection.execute("SELECT model_id, count(*) FROM embeddings GROUP BY 1"))


def space(memory: Memory) -> VectorSpace | None:
    with memory._core.connections.read() as connection:
        return vectors.vector_space(connection)


def test_the_old_vectors_serve_until_the_new_ones_are_whole(memory: Memory) -> None:
    before = space(memory)
    assert before is not None
    letters = Letters()
    job = Reembedder(memory._core.connections, letters)
    plan = job.plan()
    assert (plan.before, plan.after, plan.texts, plan.done) == (before, NEW, held(memory)[before.model_id], 0)
    letters.texts.clear()

    def look() -> None:
        assert space(memory) == before
        assert memory.search("lighthouses").hits

    letters.before = look
    steps: list[tuple[int, int]] = []
    done = job.run(lambda *step: steps.append(step))
    assert done.switched and done.embedded == plan.texts == len(letters.texts)
    assert steps[-1] == (plan.texts, plan.texts)
    assert space(memory) == NEW
    assert set(held(memory)) == {"letters"}
    report = memory.files.check(deep=True)
    assert report.ok, report.findings


def test_a_run_that_was_cancelled_goes_on_where_it_stopped(memory: Memory) -> None:
    letters = Letters()
    job = Reembedder(memory._core.connections, letters)
    everything = job.plan().texts
    letters.texts.clear()
    done = job.run(cancelled=lambda: len(letters.texts) >= 4)
    assert (done.switched, done.embedded) == (False, 4)
    assert space(memory) != NEW
    assert job.plan().done == 4
    letters.texts.clear()
    assert job.run().switched
    assert len(letters.texts) == everything - 4


def test_a_model_that_fails_leaves_the_old_one_in_use(memory: Memory) -> None:
    letters = Letters()
    before = space(memory)

    def fail() -> None:
        if letters.texts:
            raise DegradedError("The endpoint is gone.", "Try again.")

    letters.before = fail
    with pytest.raises(DegradedError):
        Reembedder(memory._core.connections, letters).run()
    assert space(memory) == before
    assert memory.search("lighthouses").hits
    letters.before = lambda: None
    assert Reembedder(memory._core.connections, letters).run().switched


def test_what_is_written_and_changed_meanwhile_is_embedded_too(memory: Memory) -> None:
    letters = Letters()
    [first] = [hit.memory for hit in memory.search("0 books").hits[:1]]
    wrote: list[str] = []

    def write() -> None:
        if len(wrote) < 3:
            wrote.append(memory.remember(f"Grace keeps {len(wrote)} bees").id)
            memory.models.index_pending()
        if len(wrote) == 2:
            memory.correct(first.id, "Ada has read no books about lighthouses")
            memory.models.index_pending()

    letters.before = write
    assert Reembedder(memory._core.connections, letters).run().switched
    with memory._core.connections.read() as connection:
        missing = connection.execute(
            "SELECT content FROM memories m WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.rid = m.rid) "
            "AND rid NOT IN (SELECT rid FROM index_queue WHERE vector = 1)"
        ).fetchall()
    assert missing == [("Алиса живёт у моря",)], "the new model knows no such letters"


def test_what_waits_for_its_first_vector_gets_the_new_one_only(memory: Memory) -> None:
    memory.remember("Grace keeps bees")
    letters = Letters()
    job = Reembedder(memory._core.connections, letters)
    plan = job.plan()
    assert plan.texts == 12
    assert plan.tokens > plan.texts and plan.sends_to == ""
    assert not any("bees" in text for text in letters.texts), "the plan reads no text of the memory"
    assert job.run().switched
    assert "Grace keeps bees" in letters.texts
    with memory._core.connections.read() as connection:
        [(waiting,)] = connection.execute(
            "SELECT count(*) FROM index_queue q WHERE vector = 1 AND rid IN (SELECT rid FROM embeddings)"
        )
    assert waiting == 0
    report = memory.files.check(deep=True)
    assert report.ok, report.findings


def test_an_indexer_that_made_old_vectors_meanwhile_keeps_none_of_them(memory: Memory) -> None:
    bees = memory.remember("Grace keeps bees")
    embedder = memory._core.embedders.embedder_of_space(space(memory))
    assert embedder is not None
    real = embedder.embed

    def switch_first(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = real(texts)
        Reembedder(memory._core.connections, Letters()).run()
        return rows

    embedder.embed = switch_first  # type: ignore[method-assign]
    try:
        assert memory._core.indexer.run() == 0
    finally:
        embedder.embed = real  # type: ignore[method-assign]
    assert set(held(memory)) == {"letters"}
    with memory._core.connections.read() as connection:
        [(has,)] = connection.execute("SELECT count(*) FROM embeddings WHERE rid = ?", (bees.rid,))
    assert has == 1


def test_what_a_run_left_that_was_given_up_goes_with_the_next(memory: Memory) -> None:
    letters = Letters()
    assert (
        not Reembedder(memory._core.connections, letters)
        .run(cancelled=lambda: len(letters.texts) >= 4)
        .switched
    )
    assert set(held(memory)) > {"letters"}
    assert memory.models.reembedding.run().switched
    assert set(held(memory)) == {"wordllama-l2-supercat-256"}


def test_what_the_new_model_knows_nothing_of_does_not_hold_up_the_switch(memory: Memory) -> None:
    memory.remember("7 + 7 = 14")
    memory.models.index_pending()
    letters = Letters()
    assert Reembedder(memory._core.connections, letters).run().switched
    assert held(memory) == {"letters": 10}
    assert memory.stats().unembedded == 0
