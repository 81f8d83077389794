"""Jobs whose effect can be counted, for the harness of the clock: each run leaves one fact that names job and period.

As a program it lets forked processes share the night shift of a file while they are killed at random:

    PYTHONPATH=.:tests:tests/harness python tests/harness/shift.py '{"path": ..., "seconds": ...}'
"""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import Any

from memtui import Memory
from memtui.engine.jobs.job import SUNDAY, Daily, Job, JobReport, Services, Task, Weekly
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.records import Options
from memtui.engine.store import history, memories

DAY = 86_400
DAYS, KILLS = 6, 20
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


class KilledError(BaseException):
    """Stands for SIGKILL in one process: nothing after it runs."""


def _nothing(task: Task) -> JobReport:
    return JobReport(summary="nothing")


SERVICES = Services(
    index=lambda limit: 0,
    consolidate=lambda *given, **more: None,
    enrich=_nothing,
    reflect=_nothing,
    sync=_nothing,
)


def counted(name: str, die: Callable[[str], None]) -> Callable[[Task], JobReport]:
    """A job that leaves a fact; ``die`` is called at the moments at which a kill is interesting."""

    def run(task: Task) -> JobReport:
        die("before")
        report = JobReport(summary="left a fact")
        with history.operation(task.connections, task.clock, task.actor, name, name) as op:
            memories.insert(
                op.connection, kind="fact", content=f"{name} {task.period}", event_time=int(task.now),
                created_at=int(task.now), trust="model",
            )  # fmt: skip
            task.finish(op.connection, report)
            die("within")
        die("after")
        return report

    return run


def timetable(die: Callable[[str], None] = lambda moment: None) -> tuple[Job, ...]:
    return tuple(
        Job(name=name, label=name, about="", schedule=schedule, run=counted(name, die))
        for name, schedule in (
            ("enrichment", Daily(2)), ("consolidation", Daily(3)), ("decay", Daily(4)),
            ("reflection", Weekly(SUNDAY, 3)),
        )
    )  # fmt: skip


def make(
    memory: Memory, clock: Callable[[], float], zone: tzinfo, die: Callable[[str], None] = lambda moment: None
) -> Scheduler:
    return Scheduler(memory._core.connections, clock, OPTIONS, SERVICES, zone=zone, timetable=timetable(die))


def effects(memory: Memory) -> list[str]:
    """``job period`` of every effect, in the order in which they came."""
    with memory._core.connections.read() as connection:
        return [str(text) for (text,) in connection.execute("SELECT content FROM memories ORDER BY rid")]


# Real processes


def _work(path: str, wall: Callable[[], float], seed: int, report: Callable[..., None]) -> None:
    """Look again and again; report the time of each look that was made while leading."""
    dice = random.Random(seed)
    now = 0.0

    def linger(moment: str) -> None:
        time.sleep(dice.uniform(0, 0.004))  # a longer target for the kill

    with Memory.open(path, options=OPTIONS) as memory:
        scheduler = make(memory, lambda: now, UTC, linger)
        while True:
            # A process that dies may let go of the lead before it lets go of its job.
            if scheduler.lead() and not scheduler._runner.runs_in_other_process():
                # Stands still during a look, so that what was due then is certain; asked for only now, since
                # others may have led, and days gone by, while this process waited for its turn.
                now = wall()
                scheduler.run_due()
                report(seen=now)
            time.sleep(0.005)


def crowd(path: str, processes: int, seconds: float, seed: int, start: float, speed: float) -> dict[str, Any]:
    """Keep ``processes`` workers alive for ``seconds``, killing one every now and then; all see one clock that races.

    On a slow machine they live longer, and it goes on until something was looked at on ``DAYS`` dates.
    """
    from crew import Worker  # forks

    dice = random.Random(seed)
    began = time.monotonic()

    def wall() -> float:
        return start + (time.monotonic() - began) * speed

    def hire() -> Worker:
        number = dice.getrandbits(31)
        return Worker(lambda report: _work(path, wall, number, report))

    Memory.open(path, options=OPTIONS).close()
    workers = [hire() for _ in range(processes)]
    lines: list[dict[str, Any]] = []
    dates: set[int] = set()
    kills, longest = 0, 0.12
    while time.monotonic() - began < seconds or len(dates) < DAYS or kills < KILLS:
        time.sleep(dice.uniform(0.01, longest))
        victim = workers.pop(dice.randrange(len(workers)))
        victim.kill()
        told = victim.lines()
        longest = max(0.12, longest / 1.2) if told else min(5.0, longest * 1.2)
        dates |= {int(line["seen"] // DAY) for line in told if "seen" in line}
        lines += told
        kills += 1
        workers.append(hire())
    for worker in workers:
        worker.kill()
        lines += worker.lines()
    return {"seen": [line["seen"] for line in lines if "seen" in line], "kills": kills,
            "errors": [line["error"] for line in lines if "error" in line]}  # fmt: skip


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    json.dump(crowd(**json.loads(sys.argv[1])), sys.stdout)
