"""Simulated years of one to five processes in several time zones: sleep, kills, clocks that are put on and back.

Passes when no (job, period) has more than one effect, and each has one if anybody was awake for it.
Must fail on: a cron trigger (fires when the clock passes its hour, keeps no account of what is done).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from memtui import Memory
from memtui.engine.clock import local_time
from memtui.engine.jobs import scheduler
from memtui.engine.jobs.job import Daily, Job, Task
from memtui.engine.jobs.runner import Runner
from memtui.engine.jobs.scheduler import Scheduler
from shift import OPTIONS, KilledError, effects, make

pytestmark = pytest.mark.clock

HOUR, DAY = 3_600, 86_400
YEARS = 3 * 365
# Where, and two days shortly before the clocks change there.
ZONES = {
    "Europe/Berlin": ("2025-03-20", "2025-10-16"),
    "America/New_York": ("2025-02-28", "2025-10-24"),
    "Australia/Lord_Howe": ("2025-03-28", "2025-09-26"),  # by half an hour
    "Africa/Cairo": ("2025-04-16", "2025-10-22"),  # at midnight
    "America/Santiago": ("2025-03-28", "2025-08-29"),  # at midnight
    "Asia/Kolkata": ("2025-01-01", "2025-07-01"),  # never
}
_ALWAYS = ("Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo")


class World:
    """Processes on one file and one clock. ``now`` is what the clock shows; ``alive`` look in each round."""

    def __init__(self, place: Path, zone: str, seed: int, begin: float) -> None:
        self.dice = random.Random(seed)
        self.place = place
        self.zone = ZoneInfo(zone)
        self.now = begin
        self.alive: list[tuple[Memory, Scheduler]] = []
        self.expected: set[str] = set()
        self.since: float | None = None
        self.deadly = False

    def hire(self) -> None:
        memory = Memory.open(self.place, clock=lambda: self.now, options=OPTIONS)
        self.alive.append((memory, make(memory, lambda: self.now, self.zone, self.die)))

    def die(self, moment: str) -> None:
        if self.deadly and self.dice.random() < 0.15:
            raise KilledError(moment)

    def lose(self, index: int) -> None:
        """The process is gone; the kernel frees its locks."""
        memory, scheduler = self.alive.pop(index)
        if scheduler._lead is not None:
            scheduler._lead.release()
        memory.close()

    def look(self) -> None:
        """Everybody looks once; whoever is killed while looking is gone."""
        self.since = self.since if self.since is not None else self.now
        finished = False
        for entry in list(self.alive):
            try:
                entry[1].run_due()
                finished = finished or entry[1]._lead is not None
            except KilledError:
                self.lose(self.alive.index(entry))
        if finished:
            self.expected |= set(self._wanted())

    def _wanted(self) -> Iterator[str]:
        """What must have been done by now, worked out without the code under test."""
        local = datetime.fromtimestamp(self.now, self.zone)
        today = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        for name, hour in (("enrichment", 2), ("consolidation", 3), ("decay", 4)):
            if local.hour >= hour and today.replace(hour=hour).timestamp() >= (self.since or 0):
                yield f"{name} {local.date().isoformat()}"
        sunday = today - timedelta(days=(local.weekday() + 1) % 7)
        if sunday.date() == local.date() and local.hour < 3:
            sunday -= timedelta(days=7)
        if sunday.replace(hour=3).timestamp() >= (self.since or 0):
            yield f"reflection {sunday:%G-W%V}"

    def close(self) -> None:
        while self.alive:
            self.lose(0)


@pytest.fixture(autouse=True)
def as_a_kill_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process does not tidy up."""
    real = Runner._record_failure

    def fail(self: Runner, run_id: int, error: BaseException, task: Task) -> str:
        return "" if isinstance(error, KilledError) else real(self, run_id, error, task)

    monkeypatch.setattr(Runner, "_record_failure", fail)


def live(world: World, days: int) -> None:
    """Awake and asleep in turns, processes come and go, and now and then somebody puts the clock wrong."""
    dice, end = world.dice, world.now + days * DAY
    world.hire()
    while world.now < end:
        until = world.now + dice.uniform(1, 40) * HOUR
        while world.now < until:
            while len(world.alive) < 1 or (len(world.alive) < 5 and dice.random() < 0.1):
                world.hire()
            if len(world.alive) > 1 and dice.random() < 0.1:
                world.lose(dice.randrange(len(world.alive)))
            world.deadly = dice.random() < 0.2
            world.look()
            if dice.random() < 0.01:
                wrong = dice.uniform(-5, 20) * HOUR
                world.now += wrong
                world.look()
                world.now -= wrong
            world.now += dice.uniform(0.3, 1.5) * HOUR
        world.now += dice.choice((0, 2, 9, 30, 60)) * HOUR


def verdict(world: World) -> tuple[list[str], set[str]]:
    """(what happened more than once, what did not happen although somebody was awake)."""
    world.deadly = False
    with Memory.open(world.place, options=OPTIONS) as memory:
        done = effects(memory)
        report = memory.files.check()
    assert report.ok, report.findings
    return [name for name, count in Counter(done).items() if count > 1], world.expected - set(done)


@pytest.mark.parametrize(
    "zone",
    [pytest.param(zone, marks=[] if zone in _ALWAYS else [pytest.mark.long]) for zone in ZONES],
)
def test_every_job_has_one_effect_for_each_date_on_which_somebody_was_awake(
    zone: str, place: Path, full: bool
) -> None:
    days = ZONES[zone][:1] if full else ZONES[zone]
    for number, day in enumerate(days):
        begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
        world = World(place.with_name(f"{number}.db"), zone, number, begin.timestamp())
        live(world, YEARS if full else 21)
        world.close()
        twice, missed = verdict(world)
        assert len(world.expected) > (1_000 if full else 20)
        assert twice == []
        assert missed == set()


def test_a_traveller_never_gets_a_date_twice(place: Path, sized: Callable[[int], int]) -> None:
    world = World(place, "Asia/Tokyo", 7, datetime(2025, 5, 1, tzinfo=UTC).timestamp())
    world.hire()
    for _ in range(sized(3_000)):
        if world.dice.random() < 0.1:
            zone = world.dice.choice(
                ("Pacific/Auckland", "America/Los_Angeles", "Europe/London", "Pacific/Apia")
            )
            for _, scheduler in world.alive:
                scheduler._runner.zone = ZoneInfo(zone)
        world.look()
        world.now += world.dice.uniform(0.5, 9) * HOUR
    world.close()
    twice, _ = verdict(world)
    assert twice == []


def test_what_ran_by_a_clock_that_was_years_ahead_does_not_stop_the_jobs(place: Path) -> None:
    world = World(place, "Europe/Berlin", 1, datetime(2025, 5, 1, tzinfo=UTC).timestamp())
    world.hire()
    world.look()
    world.now += 2 * DAY
    world.look()
    world.now += 4 * 365 * DAY
    world.look()
    world.now -= 4 * 365 * DAY
    for _ in range(5):
        world.now += DAY
        world.look()
    world.close()
    assert verdict(world) == ([], set())


def cron(job: Job, task: Task, last: dict[tuple[int, str], float]) -> str | None:
    """The mutant: fires when the hour of the job comes by while it looks, and keeps no account of what is done."""
    key = (id(task.clock), job.name)
    before, last[key] = last.get(key, task.now), task.now
    day = local_time(task.now, task.zone).date()
    if isinstance(job.schedule, Daily):
        for fold in (0, 1):
            moment = datetime(
                day.year, day.month, day.day, job.schedule.hour, fold=fold, tzinfo=task.zone
            ).timestamp()
            if before < moment <= task.now and task.now - before < 2 * HOUR:
                return f"manual:{day.isoformat()}"
    return None


def test_the_harness_catches_a_cron_trigger(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last: dict[tuple[int, str], float] = {}
    monkeypatch.setattr(scheduler, "due_period", lambda job, task: cron(job, task, last))
    world = World(place, "Europe/Berlin", 3, datetime(2025, 10, 10, tzinfo=UTC).timestamp())
    live(world, 20)
    world.close()
    _, missed = verdict(world)
    assert missed, "it sleeps through nights"


def test_the_harness_catches_a_cron_trigger_in_the_night_that_has_an_hour_twice(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last: dict[tuple[int, str], float] = {}
    monkeypatch.setattr(scheduler, "due_period", lambda job, task: cron(job, task, last))
    world = World(place, "Europe/Berlin", 3, datetime(2025, 10, 25, tzinfo=UTC).timestamp())
    world.hire()
    for _ in range(48):
        world.look()
        world.now += HOUR
    world.close()
    assert verdict(world)[0] == ["enrichment manual:2025-10-26"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the crowd is forked")
def test_processes_that_are_killed_while_they_work_do_nothing_twice(place: Path, full: bool) -> None:
    here = Path(__file__).parent
    start = datetime(2025, 10, 20, tzinfo=UTC).timestamp()
    given: dict[str, Any] = {
        "path": str(place), "processes": 5, "seconds": 40 if full else 5, "seed": 11, "start": start, "speed": 2 * DAY,
    }  # fmt: skip
    ways = [
        str(here.parents[1]),
        str(here.parent),
        str(here),
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
    ]
    done = subprocess.run(
        [sys.executable, str(here / "shift.py"), json.dumps(given)],
        capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, ways))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["errors"] == []
    assert told["kills"] >= 10
    world = World(place, "UTC", 0, start)
    world.since = min(told["seen"])
    for world.now in told["seen"]:
        world.expected |= set(world._wanted())
    assert len(world.expected) > 10
    twice, missed = verdict(world)
    assert twice == []
    assert missed == set()
