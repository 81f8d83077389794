"""``memtui maintain``: the maintenance jobs without the app: as a service, once, or one job now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, TypeVar

import click

from memtui.engine.errors import UsageError
from memtui.present.format import format_count, local_date, local_time, plural
from memtui.present.job import growth_line, jobs_line, next_run_text, run_result_text, run_state, storage_line
from memtui.present.past import time_ago
from memtui.present.text import Part

from .errors import CANCELLED, DEGRADED, OK
from .memory_lines import memory_line, shown_glyphs
from .output import err, next_step, out, paint, paint_role, print_json, print_note, row, table
from .progress import ProgressMeter, on_signals
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.jobs.scheduler import Scheduler
    from memtui.engine.memory import Memory
    from memtui.engine.records.jobs import JobRun, JobStatus
    from memtui.present.glyphs import Glyphs

    from .invocation import Invocation


_NAMED = 10
_FORECAST_DAYS = 30


def print_runs(runs: list[JobRun], json: bool, more: Callable[[JobRun], None] = lambda run: None) -> int:
    """Print the runs; ``more`` prints something below each. Returns the exit code: DEGRADED when one failed."""
    if json:
        print_json({"runs": runs})
    else:
        for run in runs:
            print_run(run)
            more(run)
    return DEGRADED if any(run.state == "failed" for run in runs) else OK


def print_run(run: JobRun) -> None:
    """Print one run: its time, result and changes, and how to undo them."""
    report = run.report
    when = paint(local_time(run.finished_at or run.started_at, time.time()), "dim")
    out(row(when, paint_role(*run_state(run)), run.job, run_result_text(run)))
    for line in report.notes if report else ():
        out(row("   ", line))
    if run.op_id is not None:
        out(row("   ", next_step(f"To undo it: memtui undo {run.op_id}")))


def print_run_memories(memory: Memory, run: JobRun, dry_run: bool, signs: Glyphs) -> None:
    """Print the memories that a run is about. For decay also when the next ones fade."""
    ids = run.report.ids if run.report else ()
    for id in ids[:_NAMED]:
        out(memory_line(memory.get(id), signs, "   "))
    if (more := len(ids) - _NAMED) > 0:
        out(row("   ", paint(f"and {format_count(more)} more (--json names them)", "dim")))
    if dry_run and run.job == "decay":
        now = time.time()
        days = [
            f"{format_count(len(day.rids))} on {local_date(day.start, now)}"
            for day in memory.view.forecast(_FORECAST_DAYS).days
            if day.rids
        ]
        coming = ", ".join(days[:_NAMED]) if days else f"none within {_FORECAST_DAYS} days"
        print_note(f"next to fade, unless used or confirmed: {coming}")


def print_maintenance_status(memory: Memory, json: bool) -> int:
    """The groups of Maintenance in a line each, then every job: when it runs, how its last run went."""
    scheduler = memory.jobs
    status = scheduler.status()
    if json:
        print_json(status)
        return OK
    now, stats = time.time(), memory.stats()
    groups = (
        ("Jobs", jobs_line(status, now)),
        ("Health", "memtui health looks through the memories, memtui check through the file"),
        ("Growth", growth_line(stats, memory.view.forecast())),
        ("Storage", storage_line(stats, memory.backups.all(), now)),
    )
    for line in table([[paint(name, "bold"), text] for name, text in groups]):
        out(line)
    out("")
    for line in table([_status_row(job, now) for job in status.jobs]):
        out(line)
    if status.running is not None:
        where = "here" if status.running.here else "in another program"
        out(row(paint("running", "cyan"), status.running.job, where))
    warn_of_clock(scheduler)
    return OK


def warn_of_clock(scheduler: Scheduler) -> None:
    """Say on stderr what is wrong with the clock, and how to confirm the time."""
    if clock := scheduler.status().clock:
        err(f"warning: {clock} (memtui maintain --accept-clock)")


def _status_row(job: JobStatus, now: float) -> list[str]:
    waits: Part = ("waits", "warning")
    due = paint_role(*(waits if job.enabled and job.obstacle else next_run_text(job, now)))
    name, last = paint(job.name, "bold"), job.last
    if last is None:
        return [name, job.schedule, due, "it has not run yet", ""]
    ran = row(paint_role(*run_state(last)), time_ago(last.finished_at or last.started_at, now), gap=" ")
    return [name, job.schedule, due, ran, run_result_text(last)]


def print_nothing_due(scheduler: Scheduler) -> None:
    coming = [job for job in scheduler.status().jobs if job.enabled and job.next_due is not None]
    out("nothing is due")
    if coming:
        first = min(coming, key=lambda job: job.next_due or 0.0)
        when = local_time(first.next_due or 0.0, time.time())
        print_note(
            f"next: {first.name}, {when}; --job {first.name} runs it now ({plural(len(coming), 'job')} by schedule)"
        )


T = TypeVar("T")


@click.command("maintain", cls=Command, option_of_words="--job")
@click.option("--once", is_flag=True, help="Run the jobs that are due, and end.")
@click.option("--job", "names", metavar="JOB", multiple=True, help="Run this job now; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only show what --once or --job would do.")
@click.option("--status", is_flag=True, help="Show growth, storage, and each job with its last run.")
@click.option("--runs", type=click.IntRange(1, 1_000), metavar="N", help="Show the latest runs.")
@click.option("--enable", metavar="JOB", multiple=True, help="Let a job run on its schedule again.")
@click.option("--disable", metavar="JOB", multiple=True, help="Stop a job from running on its schedule.")
@click.option("--accept-clock", is_flag=True, help="The time is right, although the clock jumped.")
@json_option
@pass_invocation
def maintain_command(
    invocation: Invocation, once: bool, names: tuple[str, ...], dry_run: bool, status: bool, runs: int | None,
    enable: tuple[str, ...], disable: tuple[str, ...], accept_clock: bool, json: bool,
) -> int:  # fmt: skip
    """Run the maintenance jobs: enrichment, consolidation, decay, retention, reflection, history, embedding, backup.

    Without an option it keeps running, and runs each job when it is due, until Ctrl+C or SIGTERM. With --json it prints
    one line for each run. Several programs can do so at the same time: one of them leads. Exit code 5 when a job failed.
    """
    if once and names:
        raise UsageError("--once and --job exclude each other.", "Leave one out.")
    if dry_run and not (once or names):
        raise UsageError(
            "--dry-run needs --once or --job.", "For example: memtui maintain --job decay --dry-run"
        )
    looks = status or runs is not None or dry_run
    with invocation.open_existing(must_write=not looks or bool(enable or disable or accept_clock)) as memory:
        scheduler = memory.jobs
        for name in enable:
            scheduler.enable(name)
        for name in disable:
            scheduler.enable(name, False)
        if accept_clock:
            scheduler.accept_clock()
        if names or once:
            return _run_jobs(memory, names, once, dry_run, json, shown_glyphs(invocation))
        if runs is not None:
            return print_runs(scheduler.runs(runs), json)
        if status or enable or disable or accept_clock:
            return print_maintenance_status(memory, json)
        return _run_until_signal(memory, json)


def _run_jobs(
    memory: Memory, names: tuple[str, ...], once: bool, dry_run: bool, json: bool, signs: Glyphs
) -> int:
    scheduler = memory.jobs
    stopped = threading.Event()

    def run_jobs() -> list[JobRun]:
        if once and not dry_run:
            return scheduler.run_due()
        done = []
        for name in scheduler.due() if once else names:
            if not stopped.is_set():
                done.append(scheduler.run_now(name, dry_run=dry_run))
        return done

    def stop_jobs() -> None:
        stopped.set()
        scheduler.stop() if once else scheduler.cancel()

    if once and not dry_run and not scheduler.lead():
        print_note("Another program runs the jobs of this memory. There is nothing to do here.")
    with on_signals(stop_jobs):
        results = _run_with_progress(run_jobs, scheduler)
    warn_of_clock(scheduler)
    if once and not results and not json:
        print_nothing_due(scheduler)
        return OK
    code = print_runs(results, json, lambda run: print_run_memories(memory, run, dry_run, signs))
    return CANCELLED if stopped.is_set() else code


def _run_with_progress(work: Callable[[], T], scheduler: Scheduler) -> T:
    """Work in a thread, so that this one can show how far it is and hear signals."""
    meter = ProgressMeter()
    with ThreadPoolExecutor(1, "memtui-maintain") as pool:
        future = pool.submit(work)
        while True:
            try:
                return future.result(timeout=0.1)
            except NotYet:
                if future.done():
                    raise
                running = scheduler.running
                if running is not None:
                    share = (
                        f"  {format_count(running.done)} of {format_count(running.total)}"
                        if running.total
                        else ""
                    )
                    meter.show(f"{running.job}{share}  (Ctrl+C stops)")
            finally:
                if future.done():
                    meter.clear()


def _run_until_signal(memory: Memory, json: bool) -> int:
    """Run the jobs when they are due, until a signal ends it."""
    scheduler = memory.jobs
    ended = threading.Event()

    def print_latest_run(_: object) -> None:
        (run,) = scheduler.runs(1)
        print_json(run) if json else print_run(run)

    memory.subscribe("job_finished", print_latest_run)
    with on_signals(ended.set):
        if not json:
            leads = scheduler.lead()
            others = "Another program runs the jobs of this memory. Waiting to take over; Ctrl+C ends it."
            print_note("Running the jobs when they are due. Ctrl+C ends it." if leads else others)
        warn_of_clock(scheduler)
        scheduler.start()
        while not ended.wait(0.5):
            pass
        scheduler.stop()
    return OK
