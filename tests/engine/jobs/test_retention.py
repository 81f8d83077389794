"""Old turns go to the Trash once their facts are drawn: off by default, previewed, capped, one undo, never unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.jobs.timetable import JOBS
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.store import memories as rows
from msgspec.structs import replace
from night import make_scheduler

from clock import Clock

DAY = 86_400
START = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
OPTIONS = Options(background=False, embedder="off", retention_days=30, retention_cap=3, fade_share=0.0)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        yield memory


def talk(memory: Memory, session: str, count: int = 1) -> list[str]:
    """Turns of a session from which everything was drawn."""
    ids = [memory.record_turn(session, "user", f"Number {n} of {session} is odd").id for n in range(count)]
    asyncio.run(memory.consolidate(session))
    return ids


def gone(memory: Memory) -> set[str]:
    return {one.id for one in memory.view.page("is:trash kind:episode", limit=1_000)}


def run(memory: Memory, clock: Clock, dry: bool = False) -> tuple[str, dict[str, int]]:
    scheduler = make_scheduler(memory, clock)
    scheduler.accept_clock()
    report = scheduler.run_now("retention", dry_run=dry).report
    assert report is not None
    return report.summary, report.counts


def test_nothing_goes_unless_it_is_asked_for(memory: Memory, clock: Clock, place: Path) -> None:
    talk(memory, "a")
    clock.now += 400 * DAY
    with Memory.open(place, clock=clock, options=replace(OPTIONS, retention_days=0)) as off:
        summary, counts = run(off, clock)
        assert "retention.days" in summary and counts == {} and gone(off) == set()
        scheduler = make_scheduler(off, clock)
        (job,) = [one for one in scheduler.status().jobs if one.name == "retention"]
        assert (job.enabled, job.off) == (False, "retention.days is 0") and "retention" not in scheduler.due()
    (job,) = [one for one in make_scheduler(memory, clock).status().jobs if one.name == "retention"]
    assert job.enabled and not job.off


def test_the_oldest_go_first_within_the_cap_and_one_undo_brings_them_back(
    memory: Memory, clock: Clock
) -> None:
    ids = talk(memory, "a", 5)
    clock.now += 20 * DAY
    assert run(memory, clock)[1]["turns"] == 0
    clock.now += 20 * DAY
    young = talk(memory, "b")
    summary, counts = run(memory, clock, dry=True)
    assert (
        counts == {"turns": 3, "waiting": 2, "kept": 0, "cap": 3}
        and gone(memory) == set()
        and "would" in summary
    )
    assert run(memory, clock)[1]["turns"] == 3 and gone(memory) == set(ids[:3])
    assert run(memory, clock)[1]["turns"] == 0, "the cap is of a day"
    clock.now += DAY
    assert run(memory, clock)[1]["turns"] == 2 and not gone(memory) & set(young)
    operation = memory.view.operations()[0]
    assert operation.actor == "scheduler" and "2 turns" in operation.label
    memory.undo(operation.op_id)
    assert gone(memory) == set(ids[:3])
    clock.now += DAY
    assert run(memory, clock)[1]["turns"] == 0, "what was brought back is not taken again"


def test_turns_of_pending_sessions_stay(memory: Memory, clock: Clock) -> None:
    talk(memory, "a")
    memory.record_turn("a", "user", "And one more")
    memory.record_turn("never read", "user", "Nobody read this")
    clock.now += 60 * DAY
    assert run(memory, clock)[1]["turns"] == 0 and gone(memory) == set()


@pytest.mark.parametrize("how", ["confirm", "pin"])
def test_what_a_pinned_or_protected_fact_stands_on_stays_and_is_told(
    memory: Memory, clock: Clock, how: str
) -> None:
    [turn, other] = talk(memory, "a", 2)
    memory.actor = "agent:a"
    fact = memory.remember("The number is odd")
    memory.actor = "person"
    with memory._core.change("test", "Linked") as op:
        rows.update(op.connection, fact.rid, source_ids=[turn])
    getattr(memory, how)(fact.id)
    clock.now += 60 * DAY
    _, counts = run(memory, clock)
    assert counts["turns"] == 1 and counts["kept"] == 1 and gone(memory) == {other}


def test_what_was_imported_or_restored_lately_is_not_old(memory: Memory, clock: Clock) -> None:
    turn: MemoryRecord = memory.record_turn("a", "user", "Said long ago", event_time=START - 900 * DAY)
    asyncio.run(memory.consolidate("a"))
    assert run(memory, clock)[1]["turns"] == 0
    clock.now += 31 * DAY
    assert run(memory, clock)[1]["turns"] == 1
    memory.restore(turn.id)
    clock.now += DAY
    assert run(memory, clock)[1]["turns"] == 0


def test_it_waits_where_the_clock_is_not_believed() -> None:
    [job] = [job for job in JOBS if job.name == "retention"]
    assert job.by_the_clock and job.backed_up
