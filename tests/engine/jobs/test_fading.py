"""Pruning: the weakest first, at most the cap in a local date, never what is protected, one undoable operation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from memtui import Memory
from memtui.engine.jobs import clock_guard, decay
from memtui.engine.jobs.runner import Runner
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.records import Options
from memtui.engine.store.connections import Connections
from night import make_scheduler

from clock import Clock

pytestmark = pytest.mark.decay

DAY = 86_400
START = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
OPTIONS = Options(background=False, embedder="off", fade_cap=5, fade_share=0.0)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, actor="agent:a", clock=clock, options=OPTIONS) as memory:
        yield memory


def facts(memory: Memory, count: int, confidence: float = 0.5) -> list[str]:
    return [memory.remember(f"fact number {n}", confidence=confidence - n / 10_000).id for n in range(count)]


def pruned(memory: Memory) -> set[str]:
    return {row.id for row in memory.view.page("is:trash", limit=1_000) if row.ended_by == "faded"}


def night(memory: Memory, clock: Clock, days: float) -> Scheduler:
    """A scheduler of a process that has been awake all those days."""
    scheduler = make_scheduler(memory, clock)
    scheduler.run_due()
    clock.now += days * DAY
    scheduler.accept_clock()
    return scheduler


def test_the_weakest_fade_first_and_no_more_than_the_cap(memory: Memory, clock: Clock) -> None:
    ids = facts(memory, 12)
    scheduler = night(memory, clock, 60)
    run = scheduler.run_now("decay")
    assert run.report is not None
    assert run.report.counts == {"faded": 5, "waiting": 7, "cap": 5}
    assert "7 more are fading" in run.report.notes[0]
    assert pruned(memory) == set(ids[-5:])
    assert scheduler.run_now("decay").report.counts["faded"] == 0  # type: ignore[union-attr]
    clock.now += DAY
    scheduler.run_now("decay")
    assert pruned(memory) == set(ids[-10:])


def test_it_is_one_operation_by_the_scheduler_and_undo_takes_it_back(memory: Memory, clock: Clock) -> None:
    facts(memory, 3)
    run = night(memory, clock, 60).run_now("decay")
    assert run.op_id is not None
    operation = memory.view.operation(run.op_id)
    assert (operation.actor, operation.label, operation.run_id) == (
        "scheduler",
        "Faded 3 facts",
        str(run.run_id),
    )
    assert memory.undo(run.op_id).restored == 3  # type: ignore[union-attr]
    assert pruned(memory) == set()


def test_what_an_undo_brought_back_is_not_taken_again_but_waits(memory: Memory, clock: Clock) -> None:
    facts(memory, 3)
    scheduler = night(memory, clock, 60)
    memory.undo(scheduler.run_now("decay").op_id)
    clock.now += DAY
    run = scheduler.run_now("decay")
    assert run.report is not None
    assert run.report.counts["faded"] == 0
    assert run.report.counts["waiting"] == 3
    assert run.op_id is None


def test_what_the_person_restored_may_fade_again(memory: Memory, clock: Clock) -> None:
    (id,) = facts(memory, 1)
    scheduler = night(memory, clock, 60)
    scheduler.run_now("decay")
    memory.restore(id)
    clock.now += 60 * DAY
    scheduler.accept_clock()
    run = scheduler.run_now("decay")
    assert run.report is not None
    assert (run.report.counts["faded"], run.report.counts["waiting"]) == (1, 0)


def test_confirmed_facts_and_other_kinds_never_fade(place: Path, clock: Clock) -> None:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        memory.remember("the person said so", confidence=0.2)
        memory.record_turn("s", "user", "a turn")
        scheduler = night(memory, clock, 4_000)
        assert scheduler.run_now("decay").report.counts == {"faded": 0, "waiting": 0, "cap": 5}  # type: ignore[union-attr]
        assert memory.files.check(deep=True).ok


def test_a_dry_run_changes_nothing_and_says_what_would_go(memory: Memory, clock: Clock) -> None:
    ids = facts(memory, 8)
    scheduler = night(memory, clock, 60)
    before = memory.view.count_operations()
    run = scheduler.run_now("decay", dry_run=True)
    assert run.report is not None
    assert set(run.report.ids) == set(ids[-5:])
    assert run.report.summary == "would fade 5 facts"
    assert pruned(memory) == set()
    assert memory.view.count_operations() == before
    assert [r.job for r in scheduler.runs() if r.job == "decay"] == []


@pytest.mark.parametrize("moments", [(4.0,), (0.5, 4.0, 9.0, 23.9), tuple(range(0, 24, 3)), ()])
def test_the_number_of_runs_in_a_day_makes_no_difference(
    place: Path, clock: Clock, moments: tuple[float, ...]
) -> None:
    """Whether it runs at no, one or every hour of the first days: after the last night the same have faded."""
    with Memory.open(place, actor="agent:a", clock=clock, options=OPTIONS) as memory:
        first_midnight = START + 12 * 3_600
        for n in range(30):
            clock.now = START + n * 3_600
            memory.remember(f"fact number {n}", confidence=0.5)
        scheduler = make_scheduler(memory, clock, UTC)
        for day in range(20, 40):
            for hour in moments if day < 36 else (4.0,):
                clock.now = first_midnight + day * DAY + hour * 3_600
                scheduler.accept_clock()
                scheduler.run_now("decay")
        gone = {row.content for row in memory.view.page("is:trash", limit=1_000)}
    # Nothing ran for long, so the cap holds back: but what the cap lets go is the same whenever it ran.
    expected = {f"fact number {n}" for n in range(20 if not moments else 30)}
    assert gone == expected


def test_two_runs_of_one_date_share_its_cap_across_restarts(place: Path, clock: Clock) -> None:
    with Memory.open(place, actor="agent:a", clock=clock, options=OPTIONS) as memory:
        facts(memory, 20)
        night(memory, clock, 60).run_now("decay")
    with Memory.open(place, actor="agent:a", clock=clock, options=OPTIONS) as memory:
        make_scheduler(memory, clock).run_now("decay")
        assert len(pruned(memory)) == 5


def test_the_cap_of_a_date_holds_after_many_dates(memory: Memory, clock: Clock) -> None:
    scheduler = night(memory, clock, 0)
    for number in range(16):
        memory.remember(f"an early fact {number}", confidence=0.05)
        clock.now += DAY
        scheduler.accept_clock()
        scheduler.run_now("decay")
    facts(memory, 20)
    clock.now += 60 * DAY
    scheduler.accept_clock()
    before = len(pruned(memory))
    for _ in range(2):
        scheduler.run_now("decay")
    assert len(pruned(memory)) - before == 5


def test_travelling_back_to_a_date_does_not_open_its_cap_again(memory: Memory, clock: Clock) -> None:
    facts(memory, 20)
    night(memory, clock, 60)
    clock.now = datetime(2026, 5, 2, 1, tzinfo=UTC).timestamp()
    for zone in ("Asia/Tokyo", "America/Los_Angeles", "Asia/Tokyo"):
        scheduler = make_scheduler(memory, clock, ZoneInfo(zone))
        scheduler.accept_clock()
        scheduler.run_now("decay")
    assert len(pruned(memory)) == 10  # 2 May in Tokyo, 1 May in Los Angeles


def test_a_share_of_many_facts_is_more_than_the_least(place: Path, clock: Clock) -> None:
    options = Options(background=False, embedder="off", fade_cap=2, fade_share=0.1)
    with Memory.open(place, actor="agent:a", clock=clock, options=options) as memory:
        facts(memory, 60)
        scheduler = night(memory, clock, 60)
        assert scheduler.run_now("decay").report.counts["faded"] == 6  # type: ignore[union-attr]
        # The share is of what was there before the first run of the date.
        assert scheduler.run_now("decay").report.counts["faded"] == 0  # type: ignore[union-attr]


def test_a_run_that_dies_in_the_middle_leaves_nothing_and_comes_again(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts(memory, 4)
    scheduler = night(memory, clock, 60)
    real = decay._end_facts

    def die(*given: Any) -> list[str]:
        real(*given)
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(decay, "_end_facts", die)
        # As a kill leaves it: nothing more is written.
        patched.setattr(Runner, "_record_failure", lambda *_: "")
        with pytest.raises(SystemExit):
            scheduler.run_due()
    assert pruned(memory) == set()
    assert [run.state for run in scheduler.runs(job="decay")] == ["running"]
    scheduler.run_due()
    assert len(pruned(memory)) == 4
    assert [(run.state, run.error) for run in scheduler.runs(job="decay")] == [
        ("done", None),
        ("failed", "interrupted: the program ended"),
    ]
    assert memory.files.check(deep=True).ok


def test_a_clock_that_went_back_lets_nothing_fade(memory: Memory, clock: Clock) -> None:
    facts(memory, 3)
    scheduler = night(memory, clock, 60)
    clock.now -= 3_600
    assert scheduler.run_due() is not None
    assert pruned(memory) == set()
    status = scheduler.status()
    assert "went back by 60 minutes" in status.clock
    assert next(row for row in status.jobs if row.name == "decay").obstacle == status.clock
    with pytest.raises(Exception, match="went back"):
        scheduler.run_now("decay")
    clock.now += 2 * DAY
    scheduler.run_due()
    assert len(pruned(memory)) == 3


def test_a_clock_that_jumped_waits_for_the_person(memory: Memory, clock: Clock) -> None:
    facts(memory, 3)
    scheduler = make_scheduler(memory, clock)
    scheduler.run_due()
    clock.now += 60 * DAY
    for _ in range(5):
        scheduler.run_due()
        clock.now += 3_600
    assert pruned(memory) == set()
    assert "moved on by 60 days" in scheduler.status().clock
    scheduler.accept_clock()
    assert scheduler.status().clock == ""
    scheduler.run_due()
    assert len(pruned(memory)) == 3


def test_days_that_pass_while_it_looks_are_no_jump(memory: Memory, clock: Clock) -> None:
    facts(memory, 3)
    scheduler = make_scheduler(memory, clock)
    for _ in range(40):
        scheduler.run_due()
        clock.now += DAY
    assert len(pruned(memory)) == 3


def test_the_mark_of_the_clock_is_not_written_at_every_look(memory: Memory, clock: Clock) -> None:
    scheduler = make_scheduler(memory, clock)
    scheduler.run_due()
    with Memory.open(memory.path or "", options=OPTIONS) as other:
        version = other.data_version()
        for _ in range(10):
            clock.now += 45
            scheduler.run_due()
        assert other.data_version() == version


def test_the_forecast_names_the_day_on_which_each_fact_fades(memory: Memory, clock: Clock) -> None:
    ids = facts(memory, 6)
    with Connections.read(memory._core.connections) as connection:
        told = decay.forecast_fading(connection, OPTIONS, clock.now, 40, UTC)
    assert told.overdue == ()
    assert len(told.days) == 40
    # ln(0.5 / 0.05) / 0.1 = 23.03 days after noon of 2 March.
    (day,) = [day for day in told.days if day.rids]
    assert day.date == "2026-03-25"
    assert {memory.view.rows([rid])[0].id for rid in day.rids} == set(ids)
    assert sum(told.histogram) == 6
    assert told.protected == (0,) * 10
    for row in memory.view.rows(day.rids):
        clock.now = day.start + DAY
        assert memory.get(row.id).effective < OPTIONS.fade_threshold


def test_the_days_of_a_forecast_follow_the_clocks(memory: Memory, clock: Clock) -> None:
    with memory._core.connections.read() as connection:
        told = decay.forecast_fading(connection, OPTIONS, clock.now, 60, ZoneInfo("Europe/Berlin"))
    lengths = {
        day.date: after.start - day.start for day, after in zip(told.days, told.days[1:], strict=False)
    }
    assert lengths["2026-03-29"] == 23 * 3_600
    assert set(lengths.values()) == {DAY, 23 * 3_600}


def test_what_is_below_the_threshold_already_is_overdue(memory: Memory, clock: Clock) -> None:
    facts(memory, 4)
    clock.now += timedelta(days=50).total_seconds()
    with memory._core.connections.read() as connection:
        told = decay.forecast_fading(connection, OPTIONS, clock.now, 7)
        planned = decay.plan_fading(connection, OPTIONS, clock.now)
    assert set(told.overdue) == set(planned.fading)
    assert told.histogram[0] == 4


def test_the_look_at_the_clock_never_lowers_its_mark(memory: Memory, clock: Clock) -> None:
    with memory._core.connections.write() as connection:
        clock_guard.advance_mark(connection, START)
        clock_guard.advance_mark(connection, START - 100)
        assert clock_guard.check_clock(connection, START).seconds == 0
