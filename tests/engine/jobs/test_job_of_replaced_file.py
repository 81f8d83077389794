"""A job whose file is replaced while it runs writes nothing into the new one; a job that fails late has failed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import apsw
import msgspec
import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError, ReplacedFileError
from memtui.engine.jobs.job import Daily, Job, JobReport, Task
from memtui.engine.records import Options
from memtui.engine.store import history, jobs, metadata
from night import make_scheduler

from clock import Clock

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
HOUR = 3_600
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
TONIGHT = "2026-03-05"


def nightly(run: Callable[[Task], JobReport]) -> tuple[Job, ...]:
    return (Job(name="nightly", label="Nightly", about="", run=run, schedule=Daily(2)),)


def plain_end(task: Task) -> JobReport:
    return JobReport(summary="done")


def own_transaction(task: Task) -> JobReport:
    with task.connections.write() as connection:
        metadata.set_value(connection, "written by", "the job of the old file")
        task.finish(connection, JobReport(summary="done"))
    return JobReport(summary="done")


def chunk_then_failure(task: Task) -> JobReport:
    with task.connections.write() as connection:
        metadata.set_value(connection, "written by", "the job of the old file")
    raise DegradedError("The endpoint is gone.", "Try again.")


def failure(task: Task) -> JobReport:
    raise DegradedError("The endpoint is gone.", "Try again.")


def put_in_place(path: Path, other: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    other.replace(path)


@pytest.mark.parametrize("end", [plain_end, own_transaction, chunk_then_failure, failure])
@pytest.mark.parametrize(
    ("job", "period", "later"), [("nightly", TONIGHT, 0), ("nightly", TONIGHT, 5), ("other", TONIGHT, 0)]
)
def test_a_run_ends_in_its_own_file_only(
    end: Callable[[Task], JobReport], job: str, period: str, later: int, place: Path
) -> None:
    clock = Clock(NOON)
    inside, swapped = threading.Event(), threading.Event()

    def run(task: Task) -> JobReport:
        inside.set()
        assert swapped.wait(60)
        return end(task)

    other = place.with_name("other.db")
    with Memory.open(other, clock=clock, options=OPTIONS) as memory:
        memory.record_turn("s", "user", "from the other file")
        with memory._core.connections.write() as connection:
            begun = jobs.start(connection, job, period, int(clock.now + 14 * HOUR + later))
    raised: list[BaseException] = []

    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        scheduler = make_scheduler(memory, clock, UTC, timetable=nightly(run))
        scheduler.run_due()
        clock.now += 14 * HOUR

        def night() -> None:
            try:
                scheduler.run_due()
            except ReplacedFileError as error:
                raised.append(error)

        thread = threading.Thread(target=night)
        thread.start()
        assert inside.wait(60)
        put_in_place(place, other)
        memory.reopen()
        swapped.set()
        thread.join()
        assert len(raised) == 1, "it is told that the run was for nothing"
        assert scheduler.runs() == [begun]
        with memory._core.connections.read() as connection:
            assert metadata.get(connection, "written by") is None
        memory.record_turn("s", "user", "written after it")
        assert scheduler.running is None


def test_a_run_that_another_program_ended_is_not_ended_again(place: Path) -> None:
    clock = Clock(NOON)

    def run(task: Task) -> JobReport:
        with task.connections.write() as connection:  # as a program does that took it for dead
            jobs.end_dead_runs(connection, int(clock.now))
        with history.operation(task.connections, clock, "scheduler", "decay", "Faded") as op:
            metadata.set_value(op.connection, "effect", "of the run")
            task.finish(op.connection, JobReport(summary="done", op_id=op.op_id))
        return JobReport(summary="done")

    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        ended = make_scheduler(memory, clock, UTC, timetable=nightly(run)).run_now("nightly")
        assert ended.state == "failed"
        with memory._core.connections.read() as connection:
            assert metadata.get(connection, "effect") is None, "effect and end are committed together"


def test_a_job_that_fails_after_its_end_was_committed_has_failed_and_can_be_taken_back(place: Path) -> None:
    clock = Clock(NOON)

    def run(task: Task) -> JobReport:
        with history.operation(task.connections, clock, "scheduler", "decay", "Faded") as op:
            op.connection.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES ('a', 'b', 1)")
            task.finish(op.connection, JobReport(summary="faded one", op_id=op.op_id))
        raise DegradedError("The disk is gone.", "Look at it.")

    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        scheduler = make_scheduler(memory, clock, UTC, timetable=nightly(run))
        scheduler.run_due()
        clock.now += 14 * HOUR
        (ended,) = scheduler.run_due()
        assert (ended.state, ended.error) == ("failed", "The disk is gone.")
        assert ended.report is not None
        assert ended.report.summary == "faded one"
        assert ended.op_id is not None
        memory.undo(ended.op_id)
        clock.now += HOUR
        assert [one.state for one in scheduler.run_due()] == ["failed"], "it is tried again"


def test_an_end_that_was_rolled_back_is_written_at_the_end_of_the_job(place: Path) -> None:
    clock = Clock(NOON)

    def run(task: Task) -> JobReport:
        try:
            with task.connections.write() as connection:
                task.finish(connection, JobReport(summary="not yet"))
                raise apsw.ConstraintError("the last part did not fit")
        except Exception:  # it goes on without that part
            return JobReport(summary="most of it")

    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        ended = make_scheduler(memory, clock, UTC, timetable=nightly(run)).run_now("nightly")
        assert ended.state == "done"
        assert ended.report == JobReport(summary="most of it")


@pytest.mark.parametrize(
    ("job", "period", "at"), [("other", "p", 1), ("nightly", "q", 1), ("nightly", "p", 2)]
)
def test_the_number_of_a_run_alone_does_not_name_it(job: str, period: str, at: int, place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory, memory._core.connections.write() as connection:
        there = jobs.start(connection, job, period, at)
        mine = msgspec.structs.replace(there, job="nightly", period="p", started_at=1)
        with pytest.raises(jobs.RunGoneError):
            jobs.finish(connection, mine, "done", 9)
        with pytest.raises(jobs.RunGoneError):
            jobs.reload_run(connection, mine)
        assert not jobs.fail(connection, mine, 9, "no")
        assert jobs.reload_run(connection, there) == there
