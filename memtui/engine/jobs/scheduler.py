"""The scheduler runs each job once when it is due, in any process.

What is due is read from the file (due.py); a run and its effect are committed together; so it does not matter
how often anybody looks, who does, or who was killed. Of several processes the one that holds the lock
``<db>.lead`` looks; the kernel frees it when that process dies.

The ticker (ticker.py) only says when to look again.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError, ReadOnlyError, StoreError
from memtui.engine.records import Operation, Options
from memtui.engine.records.jobs import JobRun, JobStatus, RunningJob, SchedulerStatus
from memtui.engine.store import jobs, locks
from memtui.engine.store.connections import Connections
from memtui.log import error_outline

from . import clock_guard
from .clock_guard import ClockGuard, Monotonic
from .job import Job, JobReport, Services, Task
from .runner import Runner
from .timetable import JOBS

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler


import apsw

from memtui.engine.store import metadata

SINCE_KEY = "maintained_since"
_DISABLED_KEY = "job_disabled:"
MOST_FAILURES = 8
_FIRST_WAIT, _LONGEST_WAIT = 60, 6 * 3_600


def is_enabled(connection: apsw.Connection, job: Job) -> bool:
    return metadata.get(connection, _DISABLED_KEY + job.name) != "1"


def set_enabled(connection: apsw.Connection, job: Job, on: bool) -> None:
    """Inside the caller's transaction."""
    metadata.set_value(connection, _DISABLED_KEY + job.name, "0" if on else "1")


def due_period(job: Job, task: Task) -> str | None:
    """The period that ``job`` is due for at ``task.now``; None while it is not."""
    with task.connections.read() as connection:
        if (
            job.off(task.options)
            or not is_enabled(connection, job)
            or job_obstacle(connection, job, task.now)
        ):
            return None
        if job.schedule is not None:
            slot = job.schedule.current_slot(task.now, task.zone)
            if (
                slot is not None
                and slot.start >= first_maintained(connection, task.now)
                and not jobs.is_done(connection, job.name, slot.period, int(task.now))
                and _may_try(jobs.attempts_of_period(connection, job.name, slot.period), task.now)
            ):
                return slot.period
        failures = jobs.failures_in_a_row(connection, job.name)
    wanted = job.needed(task)
    if wanted is None or not _may_try(failures, task.now, give_up=False):
        return None
    with task.connections.read() as connection:
        return None if job.logged and jobs.is_done(connection, job.name, wanted, int(task.now)) else wanted


def next_due(connection: apsw.Connection, job: Job, now: float, zone: tzinfo | None) -> float | None:
    """When the job comes next by its schedule, ``now`` if it is due already; None when it has no fixed time."""
    if job.schedule is None:
        return None
    slot = job.schedule.current_slot(now, zone)
    if (
        slot is not None
        and slot.start >= first_maintained(connection, now)
        and not jobs.is_done(connection, job.name, slot.period, int(now))
        and not jobs.attempts_of_period(connection, job.name, slot.period).cancelled
    ):
        return now
    return job.schedule.next_start(now, zone)


def job_obstacle(connection: apsw.Connection, job: Job, now: float) -> str:
    """Why the job must not run although it may be due; "" if nothing is in its way."""
    return clock_guard.check_clock(connection, now).note if job.by_the_clock else ""


def first_maintained(connection: apsw.Connection, now: float) -> float:
    """When this file was first maintained: slots from before are not caught up."""
    stored = metadata.get(connection, SINCE_KEY)
    return float(stored) if stored is not None else now


def note_first_maintained(connection: apsw.Connection, now: float) -> None:
    """Inside the caller's transaction. A first time that lies ahead was a wrong clock's."""
    stored = metadata.get(connection, SINCE_KEY)
    if stored is None or float(stored) > now + clock_guard.BACK_SECONDS:
        metadata.set_value(connection, SINCE_KEY, str(int(now)))


def _may_try(so_far: jobs.Attempts, now: float, *, give_up: bool = True) -> bool:
    """Failures are retried after 1 minute, then 4, 16, ... up to 6 hours; what a person stopped waits for its next slot."""
    if so_far.cancelled or (give_up and so_far.failed >= MOST_FAILURES):
        return False
    if so_far.failed == 0 or (so_far.interrupted and so_far.failed < MOST_FAILURES):
        return True
    wait = min(_FIRST_WAIT * 4 ** (min(so_far.failed, 10) - 1), _LONGEST_WAIT)
    return not 0 <= now - so_far.last_failed_at < wait


FIRST_SECONDS = 10.0
TICK_SECONDS = 45.0
_LEAVE_SECONDS = 1.0
_log = logging.getLogger("memtui.maintain")


class Scheduler:
    """The jobs of one memory file. ``start`` makes this process look for what is due until ``stop``.

    ``on_run`` hears of each run that ended, ``on_change`` of each operation that a run left behind; both are
    called in the thread of the run. ``zone``: where local time is, None for that of this computer.
    """

    def __init__(
        self, connections: Connections, clock: Clock, options: Options, services: Services, *,
        on_run: Callable[[JobRun], None] = lambda run: None,
        on_change: Callable[[Operation], None] = lambda operation: None,
        zone: tzinfo | None = None, timetable: tuple[Job, ...] = JOBS, monotonic: Monotonic = time.monotonic,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._options = options
        self._clock = clock
        self._jobs = timetable
        self._runner = Runner(connections, clock, options, services, zone, on_run, on_change)
        self._stop = self._runner.stopping
        self._guard = ClockGuard(connections, monotonic)
        self._starting: threading.Thread | None = None
        self._ticker: BackgroundScheduler | None = None
        self._looking = 0  # the thread that looks, by its identity
        self._lead: FileLock | None = None
        self._problem = ""

    # Looking

    def start(self) -> None:
        """Look for what is due, in a thread. Raises ReadOnlyError for a memory that is open for reading only."""
        self._assert_writable()
        if self._starting is None:
            self._stop.clear()
            atexit.register(self._stop_at_exit)
            self._starting = threading.Thread(target=self._run_due, name="memtui-scheduler", daemon=True)
            self._starting.start()

    def stop(self) -> None:
        """Stop looking. A run under way ends at its next pause and goes on another time."""
        self._stop.set()
        atexit.unregister(self._stop_at_exit)
        if self._starting is not None:
            self._starting.join()
        if self._ticker is not None:
            self._ticker.shutdown(wait=self._looking != threading.get_ident())
        self._starting = self._ticker = None
        if self._lead is not None:
            self._lead.release()
            self._lead = None

    def _stop_at_exit(self) -> None:
        """The program ends without ``stop``: a run may end at its next pause, but the program does not wait for long."""
        self._stop.set()
        self._runner.wait(_LEAVE_SECONDS)

    def _run_due(self) -> None:
        from . import ticker  # slow to import

        if not self._stop.is_set():
            self._ticker = ticker.start_ticker(self._check_due, FIRST_SECONDS, TICK_SECONDS)

    def _check_due(self) -> None:
        if self._stop.is_set():
            return
        self._looking = threading.get_ident()
        try:
            self.run_due()
            self._problem = ""
        except MemtuiError as error:
            self._problem = error.message
        except Exception as error:  # the scheduler goes on; the fault is reported and logged
            self._problem = f"maintenance failed: {error_outline(error)}"
            _log.exception("maintenance failed")
        finally:
            self._looking = 0

    def lead(self) -> bool:
        """Whether this process is the one that looks: it becomes so unless another one is, until ``stop``."""
        if self._connections.path is None or self._lead is not None:
            return True
        lock = locks.work_lock(self._connections.path, "lead")
        try:
            lock.acquire()
        except Timeout:
            return False
        self._lead = lock
        return True

    def run_due(self) -> list[JobRun]:
        """Run what is due now, if this process leads; returns the runs that were made."""
        self._assert_writable()
        if not self.lead():
            return []
        now = self._clock()
        with self._connections.read() as connection:
            first = first_maintained(connection, now) >= now
        if first:
            with self._connections.write() as connection:
                note_first_maintained(connection, now)
        self._guard.observe(now)
        made = []
        for job in self._jobs:
            if self._stop.is_set():
                break
            period = due_period(job, self._runner.make_task(job, ""))
            if period is not None and (run := self._runner.run(job, period)) is not None:
                made.append(run)
        return made

    # Running

    def run_now(self, name: str, *, dry_run: bool = False) -> JobRun:
        """Run a job in this thread, whatever its schedule says, and return its run.

        ``dry_run`` changes nothing and leaves no row (``run_id`` 0), but for what a language model was paid.
        Raises InputError for a job that does not exist or must not run now (see ``accept_clock``), StoreError
        while another job is running.
        """
        job = self._find_job(name)
        if dry_run:
            now = int(self._clock())
            task = self._runner.make_task(job, "dry run", dry_run=True)
            try:
                report = task.with_model_cost(job.run(task))
            finally:
                self._log_dry_run(task, job)
            return JobRun(
                run_id=0,
                job=name,
                period="dry run",
                state="done",
                started_at=now,
                finished_at=now,
                report=report,
            )
        self._assert_writable()
        with self._connections.read() as connection:
            obstacle = job_obstacle(connection, job, self._clock())
        if obstacle:
            raise InputError(
                f"{job.label} cannot run: {obstacle}.",
                "If the time is right: memtui maintain --accept-clock",
            )
        run = self._runner.run(job, jobs.manual_period())
        if run is None:
            raise StoreError(
                "Another maintenance job is running.", "Wait for it, or cancel it, and try again."
            )
        return run

    def _log_dry_run(self, task: Task, job: Job) -> None:
        if not task.spending.calls or self._connections.readonly:
            return
        report = task.with_model_cost(JobReport(summary="dry run"))
        with self._connections.write() as connection:
            run = jobs.start(connection, job.name, jobs.preview_period(), int(task.now))
            jobs.finish(connection, run, "done", int(self._clock()), report=report)

    def cancel(self) -> None:
        """Ask the job that runs in this process to end at its next pause; what it did until then stays, undoable."""
        self._runner.cancel()

    # Looking at it

    @property
    def running(self) -> RunningJob | None:
        """What runs in this process, and how far it is."""
        return self._runner.running

    def due(self) -> list[str]:
        """The names of the jobs that are due now, in the order in which they would run."""
        return [
            job.name for job in self._jobs if due_period(job, self._runner.make_task(job, "")) is not None
        ]

    def status(self) -> SchedulerStatus:
        """The jobs, what runs, what is wrong."""
        now, off = self._clock(), {job.name: job.off(self._options) for job in self._jobs}
        with self._connections.read() as connection:
            rows = tuple(
                JobStatus(
                    name=job.name, label=job.label, about=job.about,
                    schedule=job.schedule.words if job.schedule else "when needed",
                    enabled=not off[job.name] and is_enabled(connection, job), off=off[job.name],
                    next_due=next_due(connection, job, now, self._runner.zone),
                    last=jobs.latest(connection, job.name), obstacle=job_obstacle(connection, job, now),
                )
                for job in self._jobs
            )  # fmt: skip
            elsewhere = jobs.running(connection)
            clock = clock_guard.check_clock(connection, now).note
        running = self._runner.running
        if running is None and elsewhere is not None and self._runner.runs_in_other_process():
            running = RunningJob(job=elsewhere.job, started_at=elsewhere.started_at, here=False)
        leading = self._lead is not None or (self._starting is not None and self._connections.path is None)
        return SchedulerStatus(
            leading=leading, running=running, jobs=rows, clock=clock, problem=self._problem
        )

    def runs(self, limit: int = 100, *, job: str | None = None) -> list[JobRun]:
        """Runs, the latest first, with their reports. Undo of ``op_id`` takes a run back."""
        with self._connections.read() as connection:
            return jobs.page(connection, job=job, limit=limit)

    def enable(self, name: str, on: bool = True) -> None:
        """Switch a job's scheduled runs on or off; "run now" works either way. Raises InputError."""
        self._assert_writable()
        job = self._find_job(name)
        with self._connections.write() as connection:
            set_enabled(connection, job, on)

    def accept_clock(self) -> None:
        """The person says that the time is right: what waits because of a jump may run."""
        self._assert_writable()
        with self._connections.write() as connection:
            clock_guard.accept_time(connection, self._clock())

    def _find_job(self, name: str) -> Job:
        for job in self._jobs:
            if job.name == name:
                return job
        raise InputError(f"There is no job {name!r}.", f"Jobs: {', '.join(job.name for job in self._jobs)}.")

    def _assert_writable(self) -> None:
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to maintain it."
            )
