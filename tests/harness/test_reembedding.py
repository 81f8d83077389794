"""Another embedding model while others write, after a kill, after a restore: search says the truth, nothing is mixed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError
from memtui.engine.jobs import reembedding
from memtui.engine.records import EmbeddingOptions, Options, Stats

from endpoint import Endpoint, Exchange, embed

DIMS = 32
ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from memtui import Memory
from memtui.engine.records import Options
with Memory.open(sys.argv[1], actor="agent:" + sys.argv[2], options=Options(background=sys.argv[3] == "yes")) as memory:
    print("ready", flush=True)
    number = 0
    while not sys.stdin.closed and number < 400:
        memory.record_turn(sys.argv[2], "user", f"{sys.argv[2]} counts {number} gulls over the sea")
        number += 1
        if number % 20 == 0 and sys.argv[3] == "no":
            memory.models.index_pending()
        if number == 60:
            print("going", flush=True)
print("done", flush=True)
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(embed).in_thread() as endpoint:
        yield endpoint


def opened(place: Path, endpoint: Endpoint, kind: Any = "endpoint", **more: Any) -> Memory:
    where = EmbeddingOptions(
        base_url=endpoint.url, model="tiny", key_env="MEMTUI_TEST_NO_KEY", dimensions=DIMS, timeout=60.0
    )
    return Memory.open(place, options=Options(embedder=kind, endpoint=where, **{"background": False} | more))


def filled(place: Path, endpoint: Endpoint, texts: int = 100) -> None:
    with opened(place, endpoint, "offline") as memory:
        for number in range(texts):
            memory.record_turn("s", "user", f"Ada has read {number} books about the sea")
        memory.models.index_pending()


def models(memory: Memory) -> dict[str, int]:
    with memory._core.connections.read() as connection:
        return dict(connection.execute("SELECT model_id, count(*) FROM embeddings GROUP BY 1"))


def without_vectors(memory: Memory) -> list[str]:
    return [note for note in memory.search("books about the sea").notes if "without vectors" in note]


def test_two_processes_write_while_it_runs(
    place: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 16)
    filled(place, endpoint)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, place, name, background], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, text=True,
        )
        for name, background in (("ada", "yes"), ("grace", "no"))
    ]  # fmt: skip
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert [writer.stdout.readline(), writer.stdout.readline()] == ["ready\n", "going\n"]
        with opened(place, endpoint) as memory:
            assert memory.models.reembedding.run().switched
            assert memory.search("gulls over the sea").hits
    finally:
        for writer in writers:
            writer.communicate(timeout=300)
    with opened(place, endpoint) as memory:
        memory.models.index_pending()
        assert set(models(memory)) == {"tiny@127.0.0.1"}
        stats: Stats = memory.stats()
        assert (stats.embedded, stats.unembedded) == (900, 0)
        assert memory.files.check(deep=True).ok
        assert not without_vectors(memory)


def test_a_backup_from_before_the_switch_is_served_by_its_own_model(place: Path, endpoint: Endpoint) -> None:
    filled(place, endpoint, 5)
    with opened(place, endpoint) as memory:
        memory.models.reembedding.run()
        [before, *_] = memory.backups.all()
        assert before.reason == "model"
        memory.remember("Grace builds boats")
        memory.models.index_pending()
        assert models(memory) == {"tiny@127.0.0.1": 6}
        memory.backups.restore(str(before.path))
        requests = len(endpoint.requests)
        assert not without_vectors(memory), "the packaged model serves what it made"
        assert memory.stats().vectors_wanted == "tiny@127.0.0.1"
        memory.remember("Grace builds bridges")
        memory.models.index_pending()
        assert set(models(memory)) == {"wordllama-l2-supercat-256"}
        assert len(endpoint.requests) == requests
        assert memory.files.check(deep=True).ok
        assert memory.models.reembedding.run().switched
        assert set(models(memory)) == {"tiny@127.0.0.1"}
        assert not without_vectors(memory)
        assert memory.files.check(deep=True).ok


def test_undo_and_redo_over_a_switch_leave_everything_with_its_vector(
    place: Path, endpoint: Endpoint
) -> None:
    filled(place, endpoint, 3)
    with opened(place, endpoint) as memory:
        fact = memory.remember("Ada likes the sea")
        gone = memory.remember("Ada likes the hills")
        memory.models.index_pending()
        memory.correct(fact.id, "Ada loves the sea")
        memory.forget(gone.id)
        memory.models.reembedding.run()
        memory.undo()
        memory.undo()
        memory.models.index_pending()
        assert set(models(memory)) == {"tiny@127.0.0.1"}
        assert memory.search("likes the hills").hits[0].retrievers["vector"].score > 0.5
        assert memory.files.check(deep=True).ok
        assert not without_vectors(memory)


def test_the_one_that_was_open_before_goes_over_with_the_file(place: Path, endpoint: Endpoint) -> None:
    """A process whose settings want the packaged model says so, and lets texts wait; one that wants the new serves."""
    filled(place, endpoint, 5)
    with opened(place, endpoint, "offline") as old, opened(place, endpoint) as other:
        assert not without_vectors(old) and not without_vectors(other)
        other.models.reembedding.run()
        assert not without_vectors(other)
        assert "another model (tiny@127.0.0.1)" in without_vectors(old)[0]
        assert old.search("books").hits
        requests = len(endpoint.requests)
        old.remember("Grace builds boats")
        assert old.models.index_pending() == 0
        assert len(endpoint.requests) == requests, "nothing is sent where the settings do not say so"
        assert (old.stats().vectors_wanted, old.stats().unembedded) == ("wordllama-l2-supercat-256", 1)
        assert other.models.index_pending() == 1
        assert other.files.check(deep=True).ok


def test_another_model_at_the_same_place_serves_until_it_is_replaced(place: Path, endpoint: Endpoint) -> None:
    filled(place, endpoint, 5)
    with opened(place, endpoint) as memory:
        memory.models.reembedding.run()
    where = EmbeddingOptions(
        base_url=endpoint.url, model="newer", key_env="MEMTUI_TEST_NO_KEY", dimensions=64
    )
    with Memory.open(place, options=Options(embedder="endpoint", endpoint=where, background=False)) as memory:
        assert not without_vectors(memory)
        assert (endpoint.requests[-1].body["model"], endpoint.requests[-1].body["dimensions"]) == (
            "tiny",
            DIMS,
        )
        assert memory.models.reembedding.run().switched
        memory.search("books about the hills")
        assert (endpoint.requests[-1].body["model"], endpoint.requests[-1].body["dimensions"]) == (
            "newer",
            64,
        )
        assert memory.files.check(deep=True).ok


def test_pinned_questions_are_asked_again(place: Path, endpoint: Endpoint) -> None:
    filled(place, endpoint, 5)
    with opened(place, endpoint, background=True) as memory:
        [hit, *_] = memory.search("3 books").hits
        memory.questions.expect("3 books", hit.memory.id, top=5)
        asked: list[float] = []
        memory.subscribe(
            "changed", lambda changes: asked.append(1) if "question_results" in changes.tables else None
        )
        assert memory.models.reembedding.run().switched
        until = time.monotonic() + 60
        while not asked and time.monotonic() < until:
            time.sleep(0.05)
        assert asked


def test_stopping_does_not_wait_for_an_answer(place: Path, endpoint: Endpoint) -> None:
    filled(place, endpoint, 5)
    asked = threading.Event()

    async def stall(exchange: Exchange) -> None:
        asked.set()
        await asyncio.sleep(600)

    with opened(place, endpoint) as memory:
        endpoint.behave = stall
        job, stopped = memory.models.reembedding, threading.Event()

        def stop() -> None:
            assert asked.wait(60)
            stopped.set()
            job.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        started = time.monotonic()
        assert not job.run(cancelled=stopped.is_set).switched
        assert time.monotonic() - started < 30
        thread.join()
        endpoint.behave = embed
        assert memory.models.reembedding.run().switched


def test_an_endpoint_that_fails_half_way_loses_nothing(
    place: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 16)
    filled(place, endpoint)

    async def fail(exchange: Exchange) -> None:
        if len(endpoint.requests) < 4:
            await embed(exchange)
        else:
            await exchange.reply("{}", status="500 No")

    endpoint.behave = fail
    with opened(place, endpoint) as memory:
        with pytest.raises(DegradedError, match="out of order"):
            memory.models.reembedding.run()
        assert not without_vectors(memory) and memory.files.check(deep=True).ok
        endpoint.behave = embed
        assert memory.models.reembedding.plan().done == 48
        assert memory.models.reembedding.run().embedded == 52
        assert memory.files.check(deep=True).ok
