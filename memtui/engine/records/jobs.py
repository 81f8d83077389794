"""Maintenance jobs: runs, status, and the forecast of fading."""

from __future__ import annotations

from typing import Literal

from .base import Record

RunState = Literal["running", "done", "failed", "cancelled"]
MANUAL_PERIOD = "manual:"
"""Beginning of the period of a run that a person started."""


class JobReport(Record):
    """The result of a run, in words and numbers.

    ``skipped``: why it did nothing. ``ids``: changed memories, at most 1,000. ``op_id``: its operation, if it has one.
    """

    summary: str
    counts: dict[str, int] = {}
    skipped: str = ""
    notes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    op_id: int | None = None


class JobRun(Record):
    """One run of a job. ``op_id``: the operation to undo; None when the run changed nothing."""

    run_id: int
    job: str
    period: str
    state: RunState
    started_at: int
    finished_at: int | None = None
    op_id: int | None = None
    report: JobReport | None = None
    error: str | None = None

    @property
    def manual(self) -> bool:
        return self.period.startswith(MANUAL_PERIOD)


class RunningJob(Record):
    """A running job: ``done`` of ``total`` (0: not known yet). ``here``: in this process, so it can be cancelled."""

    job: str
    started_at: int
    done: int = 0
    total: int = 0
    here: bool = True


class JobStatus(Record):
    """A job and its last run. ``next_due``: Unix seconds, None for a job without fixed times (see ``schedule``).

    ``obstacle``: why it will not run although it may be due. ``off``: the setting that switches it off, as in
    "retention.days is 0"; then it is not ``enabled`` either.
    """

    name: str
    label: str
    about: str
    schedule: str
    enabled: bool
    next_due: float | None
    last: JobRun | None
    obstacle: str = ""
    off: str = ""


class SchedulerStatus(Record):
    """State of the scheduler. ``leading``: this process starts the jobs. ``clock``: what is wrong with the clock, else ""."""

    leading: bool
    running: RunningJob | None
    jobs: tuple[JobStatus, ...]
    clock: str = ""
    problem: str = ""


class FadingDay(Record):
    """The facts (by key) that reach the threshold during a local date; it begins at ``start`` (Unix seconds)."""

    date: str
    start: int
    rids: tuple[int, ...]


class FadingForecast(Record):
    """Which facts fade if none is recalled or confirmed.

    ``days[0]`` is today; ``overdue`` facts (by key) reached the threshold before it. ``histogram`` and ``protected``: active
    facts by effective confidence in ten equal steps from 0 to 1, those that may fade and those that may not.
    """

    overdue: tuple[int, ...]
    days: tuple[FadingDay, ...]
    histogram: tuple[int, ...]
    protected: tuple[int, ...]
