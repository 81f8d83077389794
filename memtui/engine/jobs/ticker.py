"""The ticker asks at intervals which jobs are due, also when the clock is changed.

One interval job of APScheduler and nothing else: what is due, and that it happens once, is read from the file. Never
imported at start (it takes 0.1 s): ``Scheduler.start`` does so in a thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any

from apscheduler.executors.base import BaseExecutor, run_job
from apscheduler.schedulers import base
from apscheduler.schedulers.background import BackgroundScheduler

# Its warnings (a look that takes longer than the interval) would be written over the screen.
logging.getLogger("apscheduler").addHandler(logging.NullHandler())
logging.getLogger("apscheduler").setLevel(logging.ERROR)
_MAX_DRIFT_INTERVALS = 2
"""Intervals: a next run that is further away was planned by another clock."""


class DaemonExecutor(BaseExecutor):  # type: ignore[misc]
    """Runs one job at a time in a thread that does not keep the program from ending, unlike those of a pool."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: SimpleQueue[tuple[Any, list[datetime]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work_loop, name="memtui-jobs", daemon=True)

    def start(self, scheduler: base.BaseScheduler, alias: str) -> None:
        super().start(scheduler, alias)
        self._thread.start()

    def shutdown(self, wait: bool = True) -> None:
        self._waiting.put(None)
        if wait:
            self._thread.join()

    def _do_submit_job(self, job: Any, run_times: list[datetime]) -> None:
        self._waiting.put((job, run_times))

    def _work_loop(self) -> None:
        while (given := self._waiting.get()) is not None:
            job, run_times = given
            events = run_job(job, job._jobstore_alias, run_times, self._logger.name)  # raises nothing
            self._run_job_success(job.id, events)


class SteadyScheduler(BackgroundScheduler):  # type: ignore[misc]
    """Keeps ticking when the clock is changed.

    The plain one waits for as long as the clock was put back, and makes up every tick over which it was put on.
    """

    def _process_jobs(self) -> float | None:
        now = base.datetime.now(UTC)
        with self._jobstores_lock:
            for store in self._jobstores.values():
                for job in store.get_all_jobs():
                    if abs(job.next_run_time - now) > _MAX_DRIFT_INTERVALS * job.trigger.interval:
                        job._modify(next_run_time=now)
                        store.update_job(job)
        waits: float | None = super()._process_jobs()
        return waits


def start_ticker(look: Callable[[], object], first: float, every: float) -> BackgroundScheduler:
    """Call ``look`` in a thread after ``first`` seconds, then ``every`` so many, never twice at once."""
    return start_ticker_with(SteadyScheduler, look, first, every)


def start_ticker_with(
    scheduler_class: type[BackgroundScheduler], look: Callable[[], object], first: float, every: float
) -> BackgroundScheduler:
    """``start`` with another class of scheduler."""
    scheduler = scheduler_class(timezone=UTC, executors={"default": DaemonExecutor()})
    scheduler.add_job(
        look, "interval", seconds=every, next_run_time=datetime.now(UTC) + timedelta(seconds=first), coalesce=True,
        max_instances=1, misfire_grace_time=None,
    )  # fmt: skip
    scheduler.start()
    return scheduler
