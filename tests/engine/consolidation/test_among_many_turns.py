"""What looks at facts alone goes through the facts, not through the turns among which they are few."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw
import pytest
from memtui import Memory
from memtui.engine.records import NewMemory, Options
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.review import near_duplicates
from memtui.engine.store import memories, vectors

NOW = 1_763_812_800
TURNS = 2_000
SPACE = VectorSpace("test", 8)


def turn(time: int) -> NewMemory:
    return NewMemory(kind="episode", content=f"turn {time}", event_time=time, created_at=NOW, trust="user")


@pytest.fixture
def memory() -> Iterator[Memory]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=lambda: NOW, options=options) as opened:
        with opened._core.connections.write() as connection:
            vectors.set_space(connection, SPACE)
            for start in range(0, TURNS, 500):
                times = range(start, start + 500)
                rids = memories.insert_all(connection, [turn(time) for time in times])
                vectors.store_vectors(connection, SPACE, [(rid, bytes([1, 2] * 4)) for rid in rids if rid])
        for text in ("The ferry leaves at nine", "Ada likes walnuts", "Otto moved to Ghent"):
            fact = opened.remember(text)
            with opened._core.connections.write() as connection:
                vectors.store_vectors(connection, SPACE, [(fact.rid, bytes([2, 1] * 4))])
        yield opened


def longest(memory: Memory, work: Callable[[], object]) -> tuple[int, str]:
    """The most steps that one statement of the work took in SQLite, and that statement."""
    found = [(0, "")]

    def note(event: dict[str, object]) -> None:
        status = event["stmt_status"]
        assert isinstance(status, dict)
        found.append((status["SQLITE_STMTSTATUS_VM_STEP"], str(event["sql"])))

    with memory._core.connections.read() as connection:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    work()
    with memory._core.connections.read() as connection:
        connection.trace_v2(0)
    return max(found)


def test_counting_what_waits_in_review(memory: Memory) -> None:
    steps, statement = longest(memory, memory.review.inbox)
    # The full-text index looks words up with one statement again and again; reading the turns takes several steps each.
    assert steps < 2 * TURNS, statement


def test_looking_for_facts_that_are_near_each_other(memory: Memory) -> None:
    with memory._core.connections.read() as connection:
        steps, statement = longest(memory, lambda: near_duplicates.duplicate_pairs(connection))
    assert steps < TURNS, statement


def test_counting_facts_that_are_stale(memory: Memory) -> None:
    steps, statement = longest(memory, lambda: memory.view.count("is:stale"))
    assert steps < TURNS, statement
