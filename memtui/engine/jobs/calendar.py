"""When a job is due in local time. It is a function of the time, so no alarm can be missed.

A slot begins at its local time and stays due until it is done or the next one begins. So a night that was
slept through is caught up, an hour that the clocks skip is not waited for, and one that they repeat is
not run twice, because the slot's key is its date.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple, Protocol

from memtui.engine.clock import local_time

SUNDAY = 6


class Slot(NamedTuple):
    """``period`` names it in ``job_runs``; it is due from ``start`` (Unix seconds) on."""

    period: str
    start: float


class Schedule(Protocol):
    def current(self, now: float, zone: tzinfo | None) -> Slot | None:
        """The slot that is due at ``now``, done or not; None before the first one of the day."""
        ...

    def after(self, now: float, zone: tzinfo | None) -> float:
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

    def current(self, now: float, zone: tzinfo | None) -> Slot | None:
        local = local_time(now, zone)
        if local.hour < self.hour:
            return None
        return Slot(local.date().isoformat(), _moment(local.date(), self.hour, zone))

    def after(self, now: float, zone: tzinfo | None) -> float:
        day = local_time(now, zone).date()
        while (start := _moment(day, self.hour, zone)) <= now:
            day += timedelta(days=1)
        return start


class Weekly(NamedTuple):
    """Once a week, from ``hour`` of ``weekday`` (Monday is 0) on, until the same moment a week later."""

    weekday: int
    hour: int

    @property
    def words(self) -> str:
        return f"{('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')[self.weekday]} {self.hour:02}:00"

    def current(self, now: float, zone: tzinfo | None) -> Slot | None:
        local = local_time(now, zone)
        back = (local.weekday() - self.weekday) % 7
        if back == 0 and local.hour < self.hour:
            back = 7
        day = local.date() - timedelta(days=back)
        year, week, _ = day.isocalendar()
        return Slot(f"{year}-W{week:02}", _moment(day, self.hour, zone))

    def after(self, now: float, zone: tzinfo | None) -> float:
        day = local_time(now, zone).date()
        while day.weekday() != self.weekday or (start := _moment(day, self.hour, zone)) <= now:
            day += timedelta(days=1)
        return start


def _moment(day: date, hour: int, zone: tzinfo | None) -> float:
    """The Unix time of an hour of a day; of an hour that is skipped, the moment at which the clocks jump over it."""
    return datetime.combine(day, time(hour), zone).timestamp()
