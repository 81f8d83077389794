"""A machine that was off is no clock that jumped: nothing stops for good, and a clock that jumped is not believed at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.jobs import clock_guard
from memtui.engine.jobs.clock_guard import ClockGuard
from memtui.engine.jobs.job import Daily, Job, JobReport, Task
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.records import Options
from night import make_scheduler

pytestmark = pytest.mark.clock

HOUR, DAY = 3_600, 86_400
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
OPTIONS = Options(background=False, embedder="off")


class Machine:
    """A machine with a clock on the wall and a processor that counts while it is awake. ``faded``: dates of decay."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.now = MONDAY
        self.counted = 0.0
        self.faded: list[str] = []
        job = Job(name="decay", label="", about="", run=self._fade, schedule=Daily(4), by_the_clock=True)
        self._make = lambda: make_scheduler(
            memory, lambda: self.now, UTC, timetable=(job,), monotonic=lambda: self.counted
        )
        self.now -= 15 * HOUR  # it was first maintained on the evening before
        self.process: Scheduler = self._make()
        self.process.run_due()
        self.now += 15 * HOUR
        self.start()

    def _fade(self, task: Task) -> JobReport:
        self.faded.append(self.date)
        return JobReport(summary="faded")

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.now, UTC).date().isoformat()

    def start(self) -> None:
        self.process.stop()
        self.process = self._make()

    def awake(self, hours: float) -> None:
        """Looks every half hour, at the end as well."""
        end = self.now + hours * HOUR
        self.process.run_due()
        while self.now < end:
            self.now += HOUR / 2
            self.counted += HOUR / 2
            self.process.run_due()

    def asleep(self, hours: float) -> None:
        self.now += hours * HOUR


@pytest.fixture
def machine(place: Path) -> Iterator[Machine]:
    with Memory.open(place, options=OPTIONS) as memory:
        machine = Machine(memory)
        yield machine
        machine.process.stop()


def workdays(weeks: int) -> list[datetime]:
    first = datetime.fromtimestamp(MONDAY, UTC)
    return [first + timedelta(days=day) for day in range(7 * weeks) if day % 7 < 5]


def office(machine: Machine, weeks: int) -> list[str]:
    """On from 9 to 18, Monday to Friday; returns the dates."""
    for day in workdays(weeks):
        machine.now = day.timestamp()
        machine.start()
        machine.awake(9)
    return [day.date().isoformat() for day in workdays(weeks)]


def jump_for_a_moment(machine: Machine) -> list[str]:
    """Ten years ahead for two hours and back; returns the dates of what faded meanwhile."""
    machine.awake(9)
    before = len(machine.faded)
    machine.now += 3_650 * DAY
    machine.awake(2)
    machine.now -= 3_650 * DAY
    return machine.faded[before:]


def test_an_office_fades_on_every_workday_for_months(machine: Machine) -> None:
    dates = office(machine, 13)
    assert machine.faded == dates
    assert machine.process.status().clock == ""


@pytest.mark.parametrize("weekends", [True, False])
def test_a_run_a_day_fades_every_week(machine: Machine, weekends: bool) -> None:
    """``memtui maintain --once``, by cron: a process of one look."""
    days = workdays(8) if not weekends else [workdays(1)[0] + timedelta(days=day) for day in range(56)]
    for day in days:
        machine.now = day.timestamp()
        machine.start()
        machine.process.run_due()
    weeks = [datetime.fromisoformat(date).isocalendar().week for date in machine.faded]
    assert {week: weeks.count(week) for week in weeks} == dict.fromkeys(
        range(10, 18), 7 if weekends else 3
    ) | ({} if weekends else {10: 5})


def test_a_run_a_week_fades_now_and_then(machine: Machine) -> None:
    for week in range(12):
        machine.now = MONDAY + week * 7 * DAY
        machine.start()
        machine.process.run_due()
    assert len(machine.faded) >= 4


def test_work_by_the_same_clock_some_hours_ago_is_believed(machine: Machine) -> None:
    machine.process.run_due()
    machine.now += 5 * DAY
    machine.process.run_due()
    assert len(machine.faded) == 1
    with machine.memory._core.connections.write() as connection:
        connection.execute(
            "INSERT INTO ops(at, actor, kind, label) VALUES (?, 'agent:a', 'x', 'x')", (machine.now,)
        )
    for hours, times in ((1, 1), (3, 2)):
        machine.now += hours * HOUR
        machine.start()  # a process that has not run for long
        machine.process.run_due()
        assert len(machine.faded) == times


def test_a_laptop_that_slept_for_weeks_fades_after_some_hours(machine: Machine) -> None:
    machine.awake(2)
    machine.asleep(21 * 24)
    machine.awake(2.5)
    assert machine.faded == ["2026-03-02"]
    assert "the clock moved on by 21 days" in machine.process.status().clock
    machine.awake(1)
    assert machine.faded == ["2026-03-02", "2026-03-23"]


def test_a_laptop_that_is_awake_for_an_hour_a_day_fades_from_the_third_day_on(machine: Machine) -> None:
    machine.awake(1)
    machine.asleep(10 * 24)
    for _ in range(5):
        machine.awake(1)
        machine.asleep(23)
    assert machine.faded == ["2026-03-02", "2026-03-14", "2026-03-15", "2026-03-16"]


def test_a_clock_that_is_ahead_for_a_moment_is_not_believed(machine: Machine) -> None:
    assert jump_for_a_moment(machine) == []
    machine.awake(24)
    assert machine.faded == ["2026-03-02", "2026-03-03"]


def test_a_clock_that_was_believed_and_goes_back_stops_nothing_for_good(machine: Machine) -> None:
    machine.awake(9)
    machine.now += 3_650 * DAY
    machine.awake(4)
    assert machine.faded == ["2026-03-02", "2036-02-28"]
    machine.now -= 3_650 * DAY
    assert "went back by" in machine.process.status().clock
    machine.awake(2)
    assert len(machine.faded) == 2
    machine.awake(24 * 3)
    assert machine.faded[2:] == ["2026-03-03", "2026-03-04", "2026-03-05"]
    assert machine.process.status().clock == ""


def never(connection: object, now: float) -> bool:
    return False


def test_the_harness_catches_a_guard_that_waits_for_the_person(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_guard, "STEADY_SECONDS", 1e12)
    monkeypatch.setattr(clock_guard, "DAYS", 1_000)
    monkeypatch.setattr(clock_guard, "_did_work_recently", never)
    dates = office(machine, 4)
    assert machine.faded == dates[:5], "nothing after the first weekend"


def test_the_harness_catches_a_guard_that_counts_sleep_as_running(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: dict[int, float] = {}

    def since_start(self: ClockGuard, now: float) -> float:
        return now - began.setdefault(id(self), now)

    monkeypatch.setattr(ClockGuard, "_steady_for", since_start)
    assert jump_for_a_moment(machine) != []


def test_the_trouble_is_logged_once(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    machine.awake(1)
    machine.asleep(72)
    machine.awake(2)
    assert [record.message[:27] for record in caplog.records if record.levelname == "WARNING"] == [
        "the clock moved on by 3 day"
    ]
