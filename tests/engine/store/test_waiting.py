"""Waiting for others: nobody is kept out for long by a program that writes without a pause."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import StoreError
from memtui.engine.jobs import indexer
from memtui.engine.records import NewMemory, Options
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import connection, history, memories, vectors

OPTIONS = Options(background=False, embedder="off")


def turn(text: str) -> NewMemory:
    return NewMemory(kind="episode", content=text, event_time=1, created_at=1, trust="user")


def longest_wait(busy: Memory, waiting: Memory, seconds: float) -> int:
    """How many small parts of a long operation of another connection came before a turn that waited, at most.

    Counted in parts and not in seconds, of which a slow machine needs more.
    """
    stop = threading.Event()
    parts = 0

    def work() -> None:
        nonlocal parts
        op_id = history.begin_long(busy._core.connections, time.time, "person", "import", "Busy")
        while not stop.is_set():
            with history.continue_long(busy._core.connections, op_id) as writer:
                writer.execute(
                    "INSERT INTO scratchpad(key, value, updated_at) VALUES (hex(randomblob(8)), '', 0)"
                )
                time.sleep(0.01)
            parts += 1
        history.finish_long(busy._core.connections, op_id, "Was busy")

    thread = threading.Thread(target=work)
    thread.start()
    waits, until = [], time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            before = parts
            waiting.record_turn("talk", "user", "may I?")
            waits.append(parts - before)
            time.sleep(0.01)
    finally:
        stop.set()
        thread.join()
    return max(waits)


def test_a_turn_gets_in_between_the_parts_of_a_long_operation(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as busy, Memory.open(place, options=OPTIONS) as waiting:
        assert longest_wait(busy, waiting, 2.0) < 80


def test_threads_of_one_program_get_in_between_as_well(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        assert longest_wait(memory, memory, 2.0) < 80


def test_who_waits_too_long_is_told_why(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
    with Memory.open(place, options=OPTIONS) as busy, Memory.open(place, options=OPTIONS) as waiting:
        with busy._core.connections.write():
            started = time.monotonic()
            with pytest.raises(StoreError, match="in use") as caught:
                waiting.remember("may I?")
            assert 0.15 < time.monotonic() - started < 25
            assert caught.value.hint
        waiting.remember("now I may")
        assert waiting.view.count() == 1


def test_readers_do_not_wait_for_a_writer(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as busy, Memory.open(place, options=OPTIONS) as reader:
        busy.remember("before")
        with busy._core.connections.write() as writer:
            writer.execute("DELETE FROM memories")
            started = time.monotonic()
            assert reader.view.count() == 1
            assert busy.view.count() == 1
            assert time.monotonic() - started < 10
            reader.data_version()
            busy.data_version()


def test_a_checkpoint_does_not_wait_for_a_writer_nor_the_other_way_round(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("before")
        with memory._core.connections.write() as writer:
            writer.execute("DELETE FROM memories")
            beside = threading.Thread(target=memory._core.connections.checkpoint)
            beside.start()
            beside.join(20)
            assert not beside.is_alive()


def test_linking_lets_go_of_the_lock_when_its_time_is_up(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "_HOLD_SECONDS", 0.0)
    with Memory.open(place, options=Options(embedder="off", background=False)) as memory:
        with memory._core.connections.write() as writer:
            memories.insert_all(writer, [turn(f"Ada Lovelace met Bosse {n} times.") for n in range(5)])
        commits = 0
        write_in_turn = memory._core.connections.write_in_turn

        def counted() -> AbstractContextManager[apsw.Connection]:
            nonlocal commits
            commits += 1
            return write_in_turn()

        monkeypatch.setattr(memory._core.connections, "write_in_turn", counted)
        memory._core.indexer.read_texts()
        assert commits == 5
        assert memory.stats().unlinked == 0


def test_the_statements_of_writers_stay_prepared_while_the_index_is_brought_up(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("talk", "user", "one")
        memory.record_turn("talk", "user", "two")
        with memory._core.connections.write() as writer:
            rids = memories.insert_all(writer, [turn(f"turn {n}") for n in range(600)])
            vectors.set_space(writer, VectorSpace("test", 8))
            vectors.store_vectors(
                writer,
                VectorSpace("test", 8),
                [(rid, bytes([1, n % 100] * 4)) for n, rid in enumerate(rids) if rid],
            )
        memory.record_turn("talk", "user", "three")
        with memory._core.connections.write() as writer:
            assert vectors.sync_index(writer) == 600
            prepared = writer.cache_stats()["misses"]
        memory.record_turn("talk", "user", "four")
        with memory._core.connections.write() as writer:
            assert writer.cache_stats()["misses"] == prepared
