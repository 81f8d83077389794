"""The ticker asks on when the clock is changed by days; the plain scheduler of the library stops or makes up for all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from apscheduler.schedulers import base
from apscheduler.schedulers.background import BackgroundScheduler
from memtui.engine.jobs import ticker

EVERY = 45.0


class Moved(datetime):
    """A clock that was changed by ``by``."""

    by = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.by


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "datetime", Moved)
    monkeypatch.setattr(Moved, "by", timedelta())


@contextmanager
def stopped(kind: type[BackgroundScheduler]) -> Iterator[tuple[BackgroundScheduler, threading.Semaphore]]:
    """A scheduler whose own thread does nothing: the test says when it looks at its jobs."""
    ticked = threading.Semaphore(0)
    scheduler = ticker.start_ticker_with(kind, ticked.release, 1_000_000.0, EVERY)
    scheduler.pause()
    try:
        yield scheduler, ticked
    finally:
        scheduler.shutdown()


def look(scheduler: BackgroundScheduler) -> float:
    """What its thread does when it wakes up; returns for how long it would sleep then."""
    scheduler.state = base.STATE_RUNNING
    waits = scheduler._process_jobs()
    scheduler.state = base.STATE_PAUSED
    assert waits is not None
    return float(waits)


@pytest.mark.parametrize("days", [-3, 8, -400, 400, 0])
def test_a_changed_clock_costs_no_tick(days: int) -> None:
    with stopped(ticker.SteadyScheduler) as (scheduler, ticked):
        look(scheduler)
        assert ticked.acquire(timeout=60)
        Moved.by = timedelta(days=days)
        if not days:
            Moved.by = timedelta(seconds=EVERY)
        for _ in range(3):
            assert 0 < look(scheduler) <= EVERY
            assert ticked.acquire(timeout=60)
            Moved.by += timedelta(seconds=EVERY)


def test_the_plain_scheduler_stops_when_the_clock_goes_back_by_days() -> None:
    with stopped(BackgroundScheduler) as (scheduler, ticked):
        scheduler.get_jobs()[0].modify(next_run_time=datetime.now(UTC))
        look(scheduler)
        assert ticked.acquire(timeout=60)
        Moved.by = timedelta(days=-3)
        assert look(scheduler) > timedelta(days=2).total_seconds()


def test_it_ticks_in_a_thread_never_twice_at_once() -> None:
    ticked, together, most = threading.Semaphore(0), [], []

    def tick() -> None:
        together.append(1)
        most.append(len(together))
        ticked.release()
        together.pop()

    scheduler = ticker.start_ticker(tick, 0.0, 0.01)
    for days in (0, -3, 8):
        Moved.by = timedelta(days=days)
        for _ in range(3):
            assert ticked.acquire(timeout=60)
    scheduler.shutdown()
    assert set(most) == {1}
