"""Run one job at a time across processes, and commit its end exactly once.

``<db>.jobs`` is held while a job runs, by the leader or by a process that was asked to run it now; the kernel frees it
when that process dies. Whoever holds it knows that a run which is still marked as running is dead.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import tzinfo

import apsw
from filelock import Timeout
from msgspec.structs import replace

from memtui.engine.backups.backups import Backups
from memtui.engine.clock import Clock
from memtui.engine.errors import MemtuiError
from memtui.engine.memories import validation
from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import Operation, Options
from memtui.engine.records.jobs import JobReport, JobRun, RunningJob
from memtui.engine.store import jobs, locks, operations
from memtui.engine.store.connections import Connections
from memtui.engine.store.jobs import INTERRUPTED
from memtui.log import error_outline

from .job import ACTOR, Job, Services, Task

_log = logging.getLogger("memtui.maintain")


class Runner:
    """Runs jobs of one file. ``running`` is what runs in this process; ``stopping`` is set when it ends.

    ``on_run`` and ``on_change`` are called in the thread of the run.
    """

    def __init__(
        self, connections: Connections, clock: Clock, options: Options, services: Services,
        zone: tzinfo | None, on_run: Callable[[JobRun], None], on_change: Callable[[Operation], None],
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._options = options
        self._services = services
        self.zone = zone
        self._on_run = on_run
        self._on_change = on_change
        self.running: RunningJob | None = None
        self.stopping = threading.Event()
        self._cancel = threading.Event()
        self._busy = threading.Lock()

    def cancel(self) -> None:
        self._cancel.set()

    def wait(self, seconds: float) -> None:
        """Until the run under way has ended, at most so long."""
        if self._busy.acquire(timeout=seconds):
            self._busy.release()

    def run(self, job: Job, period: str) -> JobRun | None:
        """None when another job is running, or somebody was quicker."""
        with self._exclusive_run() as alone:
            if not alone:
                return None
            self._close_dead_runs()
            now = self._clock()
            if not jobs.is_manual(period) and job.logged:
                with self._connections.read() as connection:
                    if jobs.is_done(connection, job.name, period, int(now)):
                        return None
            logged = job.logged or jobs.is_manual(period)
            started = JobRun(run_id=0, job=job.name, period=period, state="running", started_at=int(now))
            with self._connections.pin_file():
                if logged:
                    with self._connections.write() as connection:
                        started = jobs.start(connection, job.name, period, int(now))
                self.running = RunningJob(job=job.name, started_at=int(now))
                try:
                    run = self._run_job(job, started, now)
                finally:
                    self.running = None
        self._notify_subscribers(run)
        return run

    def _run_job(self, job: Job, started: JobRun, now: float) -> JobRun:
        asked: list[bool] = []

        def cancelled() -> bool:
            if self._cancel.is_set() or self.stopping.is_set():
                asked.append(True)
            return bool(asked)

        def finish(connection: apsw.Connection, report: JobReport, stopped: bool = False) -> None:
            if not started.run_id:
                return
            report = task.with_model_cost(report)
            # Stopped by the person: not again before its next time. Stopped by the end of the program: soon again.
            if not stopped:
                jobs.finish(connection, started, "done", int(self._clock()), report=report)
            elif self._cancel.is_set():
                jobs.finish(connection, started, "cancelled", int(self._clock()), report=report)
            else:
                jobs.finish(
                    connection, started, "failed", int(self._clock()), report=report, error=INTERRUPTED
                )

        task = dataclasses.replace(
            self.make_task(job, started.period), now=now, cancelled=cancelled, on_finish=finish
        )
        try:
            if job.backed_up:
                Backups(self._connections, self._clock, self.zone).ensure("maintenance")
            report = job.run(task)
            if not started.run_id:
                return replace(started, state="done", report=report)
            if self._current_run(started).state == "running":
                with self._connections.write() as connection:
                    finish(connection, report, bool(asked))
        except BaseException as error:
            text = self._record_failure(started, error, task)
            if not isinstance(error, Exception):
                raise
            if not started.run_id:
                return replace(started, state="failed", error=text)
        return self._current_run(started)

    def _current_run(self, run: JobRun) -> JobRun:
        with self._connections.read() as connection:
            return jobs.reload_run(connection, run)

    def _record_failure(self, started: JobRun, error: BaseException, task: Task) -> str:
        if isinstance(error, MemtuiError):
            text = validation.without_secrets(error.message)
        elif isinstance(error, Exception):
            _log.error("a maintenance job failed", exc_info=error)
            text = error_outline(error)
        else:
            text = INTERRUPTED
        if started.run_id:
            with self._connections.write() as connection:
                report = task.with_model_cost(JobReport(summary="failed")) if task.spending.calls else None
                if not jobs.fail(connection, started, int(self._clock()), text, report):
                    raise error
        return text

    def make_task(self, job: Job, period: str, *, dry_run: bool = False) -> Task:
        return Task(
            connections=self._connections, clock=self._clock, options=self._options, services=self._services,
            spending=TokenBudget(self._options.llm.budget_tokens),
            now=self._clock(), period=period, dry_run=dry_run, zone=self.zone, actor=ACTOR,
            cancelled=self._cancel.is_set, progress=self._report_progress,
        )  # fmt: skip

    def _report_progress(self, done: int, total: int) -> None:
        if self.running is not None:
            self.running = replace(self.running, done=done, total=total)

    @contextmanager
    def _exclusive_run(self) -> Iterator[bool]:
        """Whether this is the one place where a job of this file runs."""
        if not self._busy.acquire(blocking=False):
            yield False
            return
        try:
            self._cancel.clear()
            path = self._connections.path
            if path is None:
                yield True
                return
            lock = locks.work_lock(path, "jobs")
            try:
                lock.acquire()
            except Timeout:
                yield False
                return
            try:
                yield True
            finally:
                lock.release()
        finally:
            self._busy.release()

    def _close_dead_runs(self) -> None:
        """Close the runs that a killed process left open. The lock proves that no other process runs a job."""
        with self._connections.read() as connection:
            if jobs.running(connection) is None:
                return
        with self._connections.write() as connection:
            jobs.end_dead_runs(connection, int(self._clock()))

    def _notify_subscribers(self, run: JobRun) -> None:
        if run.op_id is not None:
            with self._connections.read() as connection:
                operation = operations.get(connection, run.op_id)
            self._on_change(operation)
        if run.run_id:
            self._on_run(run)

    def runs_in_other_process(self) -> bool:
        if self._connections.path is None or self._connections.readonly:
            return self._connections.path is not None
        lock = locks.work_lock(self._connections.path, "jobs")
        try:
            lock.acquire()
        except Timeout:
            return True
        lock.release()
        return False
