"""Jobs and their runs as lines: what ``memtui maintain`` tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.present.format import count, local_date, local_time, plural
from memtui.present.job import next_run, result, state
from memtui.present.lines import Part
from memtui.present.maintenance import growth_line, jobs_line, storage_line
from memtui.present.past import ago

from .errors import DEGRADED, OK
from .memory_lines import memory_line
from .output import emit, err, in_role, note, out, paint, row, table

if TYPE_CHECKING:
    from memtui.engine.jobs.scheduler import Scheduler
    from memtui.engine.memory import Memory
    from memtui.engine.records.jobs import JobRun, JobStatus
    from memtui.present.glyphs import Glyphs

_NAMED = 10
_FORECAST_DAYS = 30


def print_all(runs: list[JobRun], json: bool, more: Callable[[JobRun], None] = lambda run: None) -> int:
    """``more`` is told beneath each run. Returns the exit code: DEGRADED when one failed."""
    if json:
        emit({"runs": runs})
    else:
        for run in runs:
            print_run(run)
            more(run)
    return DEGRADED if any(run.state == "failed" for run in runs) else OK


def print_run(run: JobRun) -> None:
    """When it was, how it went, what it did, and how to take that back."""
    report = run.report
    when = paint(local_time(run.finished_at or run.started_at, time.time()), "dim")
    out(row(when, in_role(*state(run)), run.job, result(run)))
    for line in report.notes if report else ():
        out(row("   ", line))
    if run.op_id is not None:
        out(row("   ", paint(f"To undo it: memtui undo {run.op_id}", "dim")))


def print_what(memory: Memory, run: JobRun, dry_run: bool, signs: Glyphs) -> None:
    """The memories that a run is about; of fading also when the next ones follow."""
    ids = run.report.ids if run.report else ()
    for id in ids[:_NAMED]:
        out(memory_line(memory.get(id), signs, "   "))
    if (more := len(ids) - _NAMED) > 0:
        out(row("   ", paint(f"and {count(more)} more (--json names them)", "dim")))
    if dry_run and run.job == "decay":
        now = time.time()
        days = [
            f"{count(len(day.rids))} on {local_date(day.start, now)}"
            for day in memory.view.forecast(_FORECAST_DAYS).days
            if day.rids
        ]
        coming = ", ".join(days[:_NAMED]) if days else f"none within {_FORECAST_DAYS} days"
        note(f"next to fade, unless used or confirmed: {coming}")


def print_status(memory: Memory, json: bool) -> int:
    """The groups of Maintenance in a line each, then every job: when it runs, how its last run went."""
    scheduler = memory.jobs
    found = scheduler.status()
    if json:
        emit(found)
        return OK
    now, stats = time.time(), memory.stats()
    groups = (
        ("Jobs", jobs_line(found, now)),
        ("Health", "memtui health looks through the memories, memtui check through the file"),
        ("Growth", growth_line(stats, memory.view.forecast())),
        ("Storage", storage_line(stats, memory.backups.all(), now)),
    )
    for line in table([[paint(name, "bold"), text] for name, text in groups]):
        out(line)
    out("")
    for line in table([_status_row(job, now) for job in found.jobs]):
        out(line)
    if found.running is not None:
        where = "here" if found.running.here else "in another program"
        out(row(paint("running", "cyan"), found.running.job, where))
    warn_of_clock(scheduler)
    return OK


def warn_of_clock(scheduler: Scheduler) -> None:
    """On stderr: what is wrong with the clock, and how to say that it is right."""
    if clock := scheduler.status().clock:
        err(f"warning: {clock} (memtui maintain --accept-clock)")


def _status_row(job: JobStatus, now: float) -> list[str]:
    waits: Part = ("waits", "warning")
    due = in_role(*(waits if job.enabled and job.obstacle else next_run(job, now)))
    name, last = paint(job.name, "bold"), job.last
    if last is None:
        return [name, job.schedule, due, "it has not run yet", ""]
    ran = row(in_role(*state(last)), ago(last.finished_at or last.started_at, now), gap=" ")
    return [name, job.schedule, due, ran, result(last)]


def print_nothing_due(scheduler: Scheduler) -> None:
    coming = [job for job in scheduler.status().jobs if job.enabled and job.next_due is not None]
    out("nothing is due")
    if coming:
        first = min(coming, key=lambda job: job.next_due or 0.0)
        when = local_time(first.next_due or 0.0, time.time())
        note(
            f"next: {first.name}, {when}; --job {first.name} runs it now ({plural(len(coming), 'job')} by schedule)"
        )
