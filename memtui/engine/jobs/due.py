"""Which jobs are due now and next. It is read from the file, so every process gets the same answer."""

from __future__ import annotations

from datetime import tzinfo

import apsw

from memtui.engine.store import jobs, metadata

from . import clock_guard
from .job import Job, Task

SINCE_KEY = "maintained_since"
_DISABLED_KEY = "job_disabled:"
MOST_FAILURES = 8
_FIRST_WAIT, _LONGEST_WAIT = 60, 6 * 3_600


def enabled(connection: apsw.Connection, job: Job) -> bool:
    return metadata.get(connection, _DISABLED_KEY + job.name) != "1"


def enable(connection: apsw.Connection, job: Job, on: bool) -> None:
    """Inside the caller's transaction."""
    metadata.put(connection, _DISABLED_KEY + job.name, "0" if on else "1")


def period(job: Job, task: Task) -> str | None:
    """The period that ``job`` is due for at ``task.now``; None while it is not."""
    with task.connections.read() as connection:
        if job.off(task.options) or not enabled(connection, job) or obstacle(connection, job, task.now):
            return None
        if job.schedule is not None:
            slot = job.schedule.current(task.now, task.zone)
            if (
                slot is not None
                and slot.start >= since(connection, task.now)
                and not jobs.is_done(connection, job.name, slot.period, int(task.now))
                and _may_try(jobs.attempts(connection, job.name, slot.period), task.now)
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
    slot = job.schedule.current(now, zone)
    if (
        slot is not None
        and slot.start >= since(connection, now)
        and not jobs.is_done(connection, job.name, slot.period, int(now))
        and not jobs.attempts(connection, job.name, slot.period).cancelled
    ):
        return now
    return job.schedule.after(now, zone)


def obstacle(connection: apsw.Connection, job: Job, now: float) -> str:
    """Why the job must not run although it may be due; "" if nothing is in its way."""
    return clock_guard.look(connection, now).note if job.by_the_clock else ""


def since(connection: apsw.Connection, now: float) -> float:
    """When this file was first maintained: slots from before are not caught up."""
    stored = metadata.get(connection, SINCE_KEY)
    return float(stored) if stored is not None else now


def note_since(connection: apsw.Connection, now: float) -> None:
    """Inside the caller's transaction. A first time that lies ahead was a wrong clock's."""
    stored = metadata.get(connection, SINCE_KEY)
    if stored is None or float(stored) > now + clock_guard.BACK_SECONDS:
        metadata.put(connection, SINCE_KEY, str(int(now)))


def _may_try(so_far: jobs.Attempts, now: float, *, give_up: bool = True) -> bool:
    """Failures are retried after 1 minute, then 4, 16, ... up to 6 hours; what a person stopped waits for its next slot."""
    if so_far.cancelled or (give_up and so_far.failed >= MOST_FAILURES):
        return False
    if so_far.failed == 0 or (so_far.interrupted and so_far.failed < MOST_FAILURES):
        return True
    wait = min(_FIRST_WAIT * 4 ** (min(so_far.failed, 10) - 1), _LONGEST_WAIT)
    return not 0 <= now - so_far.last_failed_at < wait
