"""The scheduler: what is due, in which order, who runs it, how runs fail, stop and are told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError, InputError, ReadOnlyError, StoreError
from memtui.engine.jobs import scheduler as module
from memtui.engine.jobs.job import SUNDAY, Daily, Job, JobReport, Task, Weekly
from memtui.engine.records import Changes, Options
from memtui.engine.records.jobs import JobRun
from memtui.engine.store import jobs as store_jobs
from night import make_scheduler

from clock import Clock

HOUR, DAY = 3_600, 86_400
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()  # a Wednesday
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        yield memory


def job(name: str, run: Callable[[Task], JobReport], hour: int = 2) -> Job:
    return Job(name=name, label=name.title(), about="", run=run, schedule=Daily(hour))


def quick(task: Task) -> JobReport:
    return JobReport(summary="done")


def names(runs: list[JobRun]) -> list[str]:
    return [run.job for run in runs]


def test_what_was_slept_through_is_caught_up_in_order_and_once(memory: Memory, clock: Clock) -> None:
    scheduler = make_scheduler(memory, clock, UTC)
    assert [name for name in names(scheduler.run_due()) if name != "backup"] == []
    clock.now += 20 * HOUR
    assert names(scheduler.run_due())[:3] == ["enrichment", "consolidation", "decay"]
    clock.now += HOUR
    assert scheduler.run_due() == []


def test_jobs_wait_for_their_hour(memory: Memory, clock: Clock) -> None:
    scheduler = make_scheduler(memory, clock, UTC)
    scheduler.run_due()
    ran = {}
    for _ in range(24):
        clock.now += HOUR
        for name in names(scheduler.run_due()):
            ran[name] = datetime.fromtimestamp(clock.now, UTC).hour
    assert {name: ran[name] for name in ("enrichment", "consolidation", "decay")} == {
        "enrichment": 2, "consolidation": 3, "decay": 4,
    }  # fmt: skip


def test_the_week_ends_on_sunday_and_may_be_caught_up_until_the_next(memory: Memory, clock: Clock) -> None:
    scheduler = make_scheduler(memory, clock, UTC, timetable=(
        Job(name="reflection", label="R", about="", run=quick, schedule=Weekly(SUNDAY, 3)),))  # fmt: skip
    days = []
    for _ in range(30):
        clock.now += DAY
        if scheduler.run_due():
            days.append(datetime.fromtimestamp(clock.now, UTC).strftime("%a %d"))
    assert days == ["Sun 08", "Sun 15", "Sun 22", "Sun 29"]
    clock.now += 9 * DAY  # asleep over a Sunday, awake on Sunday the 12th at noon
    assert [run.period for run in scheduler.run_due()] == ["2026-W15"]


def test_a_failed_job_is_tried_again_after_a_while_and_at_last_given_up(memory: Memory, clock: Clock) -> None:
    def fail(task: Task) -> JobReport:
        raise DegradedError("The endpoint is gone.", "Try again.")

    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("fails", fail),))
    scheduler.run_due()
    clock.now += 14 * HOUR
    times = []
    for _ in range(21 * 60):
        if scheduler.run_due():
            times.append(clock.now)
        clock.now += 60
    gaps = [round((after - before) / 60) for before, after in pairwise(times)]
    assert gaps == [1, 4, 16, 64, 256, 360, 360][: len(gaps)]
    assert len(times) in (7, 8)
    (latest, *_) = scheduler.runs()
    assert (latest.state, latest.error) == ("failed", "The endpoint is gone.")
    clock.now += 3 * HOUR
    scheduler.run_due()
    assert scheduler.runs()[0].period == "2026-03-06"


def test_a_job_without_fixed_times_waits_after_each_failure_and_is_never_given_up(
    memory: Memory, clock: Clock
) -> None:
    def fail(task: Task) -> JobReport:
        raise DegradedError("The endpoint is gone.", "Try again.")

    fails = Job(name="fails", label="Fails", about="", run=fail, needed=lambda task: "slot:1")
    scheduler = make_scheduler(memory, clock, UTC, timetable=(fails,))
    assert names(scheduler.run_due()) == ["fails"]
    clock.now -= HOUR  # the clock is put right: who waited by the wrong one need not
    assert names(scheduler.run_due()) == ["fails"]
    assert scheduler.run_due() == []
    for _ in range(10):
        clock.now += 6 * HOUR
        assert names(scheduler.run_due()) == ["fails"]
        assert scheduler.run_due() == []


def test_what_brings_the_program_down_again_and_again_is_not_tried_at_once(
    memory: Memory, clock: Clock
) -> None:
    one = Job(name="one", label="One", about="", run=quick, needed=lambda task: "slot:1")
    scheduler = make_scheduler(memory, clock, UTC, timetable=(one,))
    for count in range(8):
        assert scheduler.due() == ["one"], f"interrupted {count} times, it is tried again at once"
        with memory._core.connections.write() as connection:
            run = store_jobs.start(connection, "one", "slot:1", int(clock.now))
            error = store_jobs.INTERRUPTED
            store_jobs.finish(connection, run, "failed", int(clock.now), error=error)
    assert scheduler.due() == []
    clock.now += 6 * HOUR
    assert scheduler.due() == ["one"]


def test_after_an_interruption_and_another_failure_it_waits(memory: Memory, clock: Clock) -> None:
    def fail(task: Task) -> JobReport:
        raise DegradedError("The endpoint is gone.", "Try again.")

    one = Job(name="one", label="One", about="", run=fail, needed=lambda task: "slot:1")
    scheduler = make_scheduler(memory, clock, UTC, timetable=(one,))
    with memory._core.connections.write() as connection:
        store_jobs.start(connection, "one", "slot:1", int(clock.now))
        store_jobs.end_dead_runs(connection, int(clock.now))
    assert names(scheduler.run_due()) == ["one"]
    assert scheduler.run_due() == []


def test_a_clock_that_was_far_ahead_for_a_while_keeps_no_job_from_its_days(
    memory: Memory, clock: Clock
) -> None:
    clock.now += 100 * DAY
    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("j", quick),))
    scheduler.run_due()
    clock.now += DAY
    assert names(scheduler.run_due()) == ["j"]
    clock.now -= 100 * DAY
    scheduler.run_due()
    for _ in range(2):
        clock.now += DAY
        assert names(scheduler.run_due()) == ["j"]


def test_what_stops_the_program_begins_no_further_job(memory: Memory, clock: Clock) -> None:
    def leave(task: Task) -> JobReport:
        scheduler.stop()
        return JobReport(summary="done")

    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("first", leave), job("second", quick)))
    scheduler.run_due()
    clock.now += DAY
    assert names(scheduler.run_due()) == ["first"]


def test_a_run_of_a_process_that_is_gone_is_not_running(memory: Memory, clock: Clock) -> None:
    with memory._core.connections.write() as connection:
        store_jobs.start(connection, "j", "2026-03-04", int(clock.now))
    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("j", quick),))
    assert scheduler.status().running is None


def test_whoever_comes_second_does_not_run_it_again(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("j", quick),))
    scheduler.run_due()
    clock.now += DAY
    assert names(scheduler.run_due()) == ["j"]
    # As it looked to another process a moment ago.
    monkeypatch.setattr(module, "due_period", lambda *_: "2026-03-05")
    assert scheduler.run_due() == []
    assert len(scheduler.runs()) == 1


def test_a_backup_is_made_before_the_jobs_that_ask_for_one(memory: Memory, clock: Clock) -> None:
    memory.remember("Ada lives in Lisbon")
    reasons: list[list[str]] = []

    def look(task: Task) -> JobReport:
        reasons.append([one.reason for one in memory.backups.all()])
        return JobReport(summary="done")

    timetable = (job("plain", look), replace(job("careful", look), backed_up=True))
    scheduler = make_scheduler(memory, clock, UTC, timetable=timetable)
    scheduler.run_now("plain")
    scheduler.run_now("careful")
    assert reasons == [[], ["maintenance"]]


def test_one_failing_job_does_not_stop_the_others(memory: Memory, clock: Clock) -> None:
    def fail(task: Task) -> JobReport:
        raise ZeroDivisionError("a bug, with text of the memory in it")

    scheduler = make_scheduler(memory, clock, UTC, timetable=(job("fails", fail), job("works", quick)))
    scheduler.run_due()
    clock.now += 14 * HOUR
    assert [(run.job, run.state) for run in scheduler.run_due()] == [("fails", "failed"), ("works", "done")]
    assert "text of the memory" not in (scheduler.runs(job="fails")[0].error or "")


def test_only_one_of_several_processes_leads_until_it_is_gone(place: Path, clock: Clock) -> None:
    with Memory.open(place, options=OPTIONS) as one, Memory.open(place, options=OPTIONS) as two:
        first, second = (make_scheduler(m, clock, UTC, timetable=(job("j", quick),)) for m in (one, two))
        first.run_due()
        clock.now += 14 * HOUR
        assert second.run_due() == []
        assert not second.status().leading
        first.stop()
        assert names(second.run_due()) == ["j"]
        assert second.status().leading


def test_a_job_runs_in_one_place_at_a_time(place: Path, clock: Clock) -> None:
    inside, leave = threading.Event(), threading.Event()

    def slow(task: Task) -> JobReport:
        inside.set()
        task.progress(3, 10)
        assert leave.wait(120)
        return JobReport(summary="done")

    with Memory.open(place, options=OPTIONS) as one, Memory.open(place, options=OPTIONS) as two:
        table = (job("slow", slow),)
        first, second = (
            make_scheduler(one, clock, timetable=table),
            make_scheduler(two, clock, timetable=table),
        )
        thread = threading.Thread(target=first.run_now, args=("slow",))
        thread.start()
        assert inside.wait(60)
        try:
            running = first.status().running
            assert running is not None
            assert (running.job, running.done, running.total, running.here) == ("slow", 3, 10, True)
            elsewhere = second.status().running
            assert elsewhere is not None
            assert not elsewhere.here
            for scheduler in (first, second):
                with pytest.raises(StoreError, match="Another maintenance job"):
                    scheduler.run_now("slow")
        finally:
            leave.set()
            thread.join()
        assert second.run_now("slow").state == "done"
        assert second.status().running is None


def test_a_stopped_job_is_over_for_the_day_when_a_person_stopped_it_but_not_when_the_program_ended(
    place: Path, clock: Clock
) -> None:
    asked: list[str] = []

    def patient(task: Task) -> JobReport:
        if asked:
            {"cancel": scheduler.cancel, "stop": scheduler._stop.set}[asked.pop()]()
        return JobReport(summary="part of it" if task.cancelled() else "all of it")

    with Memory.open(place, options=OPTIONS) as memory:
        scheduler = make_scheduler(memory, clock, UTC, timetable=(job("patient", patient),))
        scheduler.run_due()
        clock.now += 14 * HOUR
        asked.append("stop")
        (run,) = scheduler.run_due()
        assert (run.state, run.error) == ("failed", "interrupted: the program ended")
        scheduler._stop.clear()
        clock.now += 60
        assert [run.state for run in scheduler.run_due()] == ["done"]
        clock.now += DAY
        asked.append("cancel")
        assert [run.state for run in scheduler.run_due()] == ["cancelled"]
        clock.now += HOUR
        assert scheduler.status().jobs[0].next_due == NOON + 2 * DAY + 14 * HOUR
        assert scheduler.run_due() == []
        assert scheduler.run_now("patient").state == "done"
        clock.now += DAY
        assert [run.state for run in scheduler.run_due()] == ["done"]


def test_a_job_that_is_switched_off_stays_so_and_can_still_be_run_by_hand(place: Path, clock: Clock) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        make_scheduler(memory, clock, timetable=(job("j", quick),)).enable("j", False)
    with Memory.open(place, options=OPTIONS) as memory:
        scheduler = make_scheduler(memory, clock, UTC, timetable=(job("j", quick),))
        scheduler.run_due()
        clock.now += 14 * HOUR
        assert scheduler.run_due() == []
        assert not scheduler.status().jobs[0].enabled
        assert scheduler.run_now("j").manual
        scheduler.enable("j")
        assert names(scheduler.run_due()) == ["j"]


def test_status_tells_when_a_job_comes_next_in_local_time(memory: Memory, clock: Clock) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    clock.now = datetime(2026, 3, 28, 12, tzinfo=berlin).timestamp()  # the clocks change the next night
    scheduler = make_scheduler(memory, clock, berlin, timetable=(job("j", quick, 4),))
    scheduler.run_due()
    next_due = scheduler.status().jobs[0].next_due
    assert next_due == datetime(2026, 3, 29, 4, tzinfo=berlin).timestamp()
    assert next_due == clock.now + 15 * HOUR
    clock.now = next_due + 60
    assert scheduler.status().jobs[0].next_due == clock.now
    scheduler.run_due()
    status = scheduler.status().jobs[0]
    assert status.next_due == datetime(2026, 3, 30, 4, tzinfo=berlin).timestamp()
    assert status.last is not None
    assert status.last.state == "done"
    assert status.schedule == "daily 04:00"


def test_an_unknown_job_is_named_with_those_that_there_are(memory: Memory, clock: Clock) -> None:
    with pytest.raises(InputError, match="no job 'dacey'") as caught:
        make_scheduler(memory, clock).run_now("dacey")
    assert "decay" in caught.value.hint


def test_a_memory_for_reading_only_is_never_maintained(place: Path, clock: Clock) -> None:
    Memory.open(place, options=OPTIONS).close()
    with Memory.open(place, readonly=True, options=OPTIONS) as memory:
        scheduler = memory.jobs
        for call in (
            scheduler.start, scheduler.run_due, scheduler.accept_clock,
            lambda: scheduler.run_now("decay"), lambda: scheduler.enable("decay"),
        ):  # fmt: skip
            with pytest.raises(ReadOnlyError):
                call()
        assert scheduler.run_now("decay", dry_run=True).report is not None
        assert len(scheduler.status().jobs) == 9
    assert [path.name for path in place.parent.iterdir() if "lead" in path.name or "jobs" in path.name] == []


def test_the_thread_looks_by_itself_and_ends_with_the_memory(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(module, "TICK_SECONDS", 0.01)
    told: list[Changes] = []
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("something to back up")
        memory.subscribe("job_finished", told.append)
        memory.jobs.start()
        memory.jobs.start()
        deadline = time.monotonic() + 60
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
        threads = [thread for thread in threading.enumerate() if thread.name == "APScheduler"]
        assert len(threads) == 1
    assert told[0].tables == {"job_runs"}
    assert not threads[0].is_alive()


def test_a_fault_while_looking_is_told_and_looking_goes_on(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = make_scheduler(memory, clock)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(module, "TICK_SECONDS", 0.01)
    looks = []

    def run_due() -> list[JobRun]:
        looks.append(1)
        raise StoreError("The disk is full.")

    monkeypatch.setattr(scheduler, "run_due", run_due)
    scheduler.start()
    deadline = time.monotonic() + 60
    while len(looks) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert scheduler.status().problem == "The disk is full."
    scheduler.stop()


def test_a_memory_without_a_file_has_a_night_shift_too(clock: Clock) -> None:
    with Memory.open(":memory:", actor="agent:a", clock=clock, options=OPTIONS) as memory:
        memory.remember("one", confidence=0.1)
        scheduler = make_scheduler(memory, clock, UTC)
        for _ in range(20):
            scheduler.run_due()
            clock.now += DAY
        assert memory.view.count("is:trash") == 1


def test_a_conversation_of_today_is_consolidated_when_it_is_over_and_an_imported_one_at_night(
    memory: Memory, clock: Clock
) -> None:
    scheduler = memory.jobs
    scheduler.run_due()
    memory.record_turn("old", "user", "I live in Lisbon.", clock.now - 90 * DAY)
    memory.record_turn("live", "user", "I work at the harbour office.")
    clock.now += 60
    assert "consolidation" not in names(scheduler.run_due())
    clock.now += HOUR
    (run,) = (run for run in scheduler.run_due() if run.job == "consolidation")
    assert run.report is not None
    assert run.report.counts["sessions"] == 1
    assert [session.session_id for session in memory.pending_sessions()] == ["old"]
    clock.now += DAY
    (run,) = (run for run in scheduler.run_due() if run.job == "consolidation")
    assert run.report is not None
    assert run.report.counts["sessions"] == 1
    assert memory.pending_sessions() == []
    assert run.op_id is not None
    assert memory.view.operation(run.op_id).actor == "scheduler"
    assert memory.history.next_undo() is not None
    assert memory.history.next_undo().actor == "person"  # type: ignore[union-attr]


def test_what_other_programs_wrote_is_indexed_without_filling_the_list_of_runs(
    place: Path, clock: Clock
) -> None:
    with Memory.open(place, options=OPTIONS) as other, Memory.open(place, options=OPTIONS) as memory:
        memory.jobs.run_due()
        with other._core.connections.write() as connection:
            connection.execute(
                "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
                "VALUES ('fact_0123456789ab', 'fact', 'Ada met Grace', '0', 'user', 0, 0)"
            )
        assert memory.stats().unlinked == 1
        memory.jobs.run_due()
        assert memory.stats().unlinked == 0
        assert "embedding" not in names(memory.jobs.runs())
        assert memory.jobs.run_now("embedding").run_id


def test_without_an_embedder_nothing_waits_for_vectors_and_with_one_again_they_are_made(
    place: Path, clock: Clock
) -> None:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        memory.remember("Ada met Grace")
        memory.jobs.run_due()
        assert memory.jobs.due() == []
        stats = memory.stats()
        assert (stats.unlinked, stats.unembedded, stats.vectors) == (0, 0, "switched off")
        run = memory.jobs.run_now("embedding")
        assert run.report is not None and run.report.counts["left"] == 0
    with Memory.open(place, clock=clock, options=Options(background=False)) as memory:
        assert memory.jobs.due() == ["embedding"]
        memory.jobs.run_due()
        assert (memory.stats().unembedded, memory.stats().embedded) == (0, 1)
