"""A maintenance job, and the services that it gets when it runs.

A job does its work in short transactions, asks ``cancelled`` between them, and returns a report. Where its
effect is history, it commits the last of it together with the end of the run (``Task.finish``): then a run
that was killed at any moment is either done, or did not happen and comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple, Protocol

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.clock import Clock, local_time
from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import Options
from memtui.engine.records.jobs import JobReport
from memtui.engine.store import metadata
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import json_text

SUNDAY = 6


class Slot(NamedTuple):
    """``period`` names it in ``job_runs``; it is due from ``start`` (Unix seconds) on."""

    period: str
    start: float


class Schedule(Protocol):
    def current_slot(self, now: float, zone: tzinfo | None) -> Slot | None:
        """The slot that is due at ``now``, done or not; None before the first one of the day."""
        ...

    def next_start(self, now: float, zone: tzinfo | None) -> float:
        """When the next slot begins (Unix seconds), after ``now``."""
        ...

    @property
    def words(self) -> str: ...


class Daily(NamedTuple):
    """Every local date, from ``hour`` on."""

    hour: int

    @property
    def words(self) -> str:
        return f"daily {self.hour:02}:00"

    def current_slot(self, now: float, zone: tzinfo | None) -> Slot | None:
        local = local_time(now, zone)
        if local.hour < self.hour:
            return None
        return Slot(local.date().isoformat(), _hour_timestamp(local.date(), self.hour, zone))

    def next_start(self, now: float, zone: tzinfo | None) -> float:
        day = local_time(now, zone).date()
        while (start := _hour_timestamp(day, self.hour, zone)) <= now:
            day += timedelta(days=1)
        return start


class Weekly(NamedTuple):
    """Once a week, from ``hour`` of ``weekday`` (Monday is 0) on, until the same moment a week later."""

    weekday: int
    hour: int

    @property
    def words(self) -> str:
        return f"{('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')[self.weekday]} {self.hour:02}:00"

    def current_slot(self, now: float, zone: tzinfo | None) -> Slot | None:
        local = local_time(now, zone)
        days_back = (local.weekday() - self.weekday) % 7
        if days_back == 0 and local.hour < self.hour:
            days_back = 7
        day = local.date() - timedelta(days=days_back)
        year, week, _ = day.isocalendar()
        return Slot(f"{year}-W{week:02}", _hour_timestamp(day, self.hour, zone))

    def next_start(self, now: float, zone: tzinfo | None) -> float:
        day = local_time(now, zone).date()
        while day.weekday() != self.weekday or (start := _hour_timestamp(day, self.hour, zone)) <= now:
            day += timedelta(days=1)
        return start


def _hour_timestamp(day: date, hour: int, zone: tzinfo | None) -> float:
    """The Unix time of an hour of a day; of an hour that is skipped, the moment at which the clocks jump over it."""
    return datetime.combine(day, time(hour), zone).timestamp()


__all__ = ["ACTOR", "ConsolidateFunction", "Job", "JobReport", "Services", "Task"]

ACTOR = "scheduler"


class ConsolidateFunction(Protocol):
    """Consolidates one session, or all that are due, as the scheduler; returns a ``Consolidation``."""

    def __call__(
        self, session_id: str | None, *, preview: bool, progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool], spending: TokenBudget,
    ) -> Any: ...  # fmt: skip


@dataclass(frozen=True)
class Services:
    """What jobs need of the memory beyond its file.

    ``index`` makes at most so many missing links and vectors and returns how many vectors it made.
    """

    index: Callable[[int], int]
    consolidate: ConsolidateFunction
    enrich: Callable[[Task], JobReport]
    reflect: Callable[[Task], JobReport]
    sync: Callable[[Task], JobReport]


@dataclass(frozen=True)
class Task:
    """One run under way. ``now`` is when it began, ``period`` what it stands for; ``actor`` signs what it changes.

    ``spending``: the account of the run, for whatever asks a language model.
    """

    connections: Connections
    clock: Clock
    options: Options
    services: Services
    spending: TokenBudget
    now: float
    period: str = ""
    dry_run: bool = False
    zone: tzinfo | None = None
    actor: str = ACTOR
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, total: None
    on_finish: Callable[[apsw.Connection, JobReport], None] = lambda connection, report: None

    def with_model_cost(self, report: JobReport) -> JobReport:
        """The report with what the run cost, if a language model was asked."""
        if not self.spending.calls:
            return report
        cost = {"calls": self.spending.calls, "tokens": self.spending.tokens}
        return replace(report, counts=report.counts | cost)

    def finish(self, connection: apsw.Connection, report: JobReport) -> None:
        """The run is done with the transaction of ``connection``: call it inside."""
        self.on_finish(connection, report)


@dataclass(frozen=True)
class Job:
    """A row of the timetable.

    ``schedule`` None: the job runs whenever ``needed`` names a period. ``backed_up``: a backup is made
    before. ``by_the_clock``: it takes something away because of the time, so the clock must be believable.
    ``logged``: its scheduled runs are kept as rows; a continuous job would flood them. ``off``: the setting that switches
    it off; "" while it is on.
    """

    name: str
    label: str
    about: str
    run: Callable[[Task], JobReport]
    schedule: Schedule | None = None
    needed: Callable[[Task], str | None] = lambda task: None
    backed_up: bool = False
    by_the_clock: bool = False
    logged: bool = True
    off: Callable[[Options], str] = lambda options: ""


_DATES_KEPT = 14


def used_today(connection: apsw.Connection, key: str, date: str) -> int:
    """How many went on a local date; ``key`` names the count."""
    return _stored_counts(connection, key).get(date, 0)


def count_today(connection: apsw.Connection, key: str, date: str, number: int) -> None:
    """So many more went; inside the caller's transaction."""
    counts = _stored_counts(connection, key)
    counts[date] = counts.get(date, 0) + number
    metadata.set_value(connection, key, json_text(dict(sorted(counts.items())[-_DATES_KEPT:])))


def _stored_counts(connection: apsw.Connection, key: str) -> dict[str, int]:
    stored = metadata.get(connection, key)
    return msgspec.json.decode(stored, type=dict[str, int]) if stored else {}
