"""``memtui maintain``: the night shift without the app; as a service, once, or one job now."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memtui.engine.errors import UsageError
from memtui.ui.format import count, local_date, local_time, plural, relative_time

from .errors import CANCELLED, DEGRADED, OK
from .lines import glyphs, memory_line
from .output import Style, emit, err, note, out, paint, row, table
from .progress import Meter
from .root import Command, json_option, pass_door

if TYPE_CHECKING:
    from memtui.engine.maintain.schedule.scheduler import JobStatus, Scheduler
    from memtui.engine.memory import Memory
    from memtui.engine.store.jobs import JobRun
    from memtui.ui.glyphs import Glyphs

    from .door import Door

T = TypeVar("T")
_COLOURS: dict[str, Style] = {"done": "green", "failed": "red", "cancelled": "yellow", "running": "cyan"}
_NAMED = 10
_FORECAST_DAYS = 30


@click.command("maintain", cls=Command)
@click.option("--once", is_flag=True, help="Run what is due now, and end.")
@click.option("--job", "names", metavar="JOB", multiple=True, help="Run this job now; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only say what --once or --job would do.")
@click.option("--status", is_flag=True, help="Show the jobs: when they run, how the last run went.")
@click.option("--runs", type=click.IntRange(1, 1_000), metavar="N", help="Show the latest runs.")
@click.option("--enable", metavar="JOB", multiple=True, help="Let a job run by its schedule again.")
@click.option("--disable", metavar="JOB", multiple=True, help="Keep a job from running by its schedule.")
@click.option("--accept-clock", is_flag=True, help="The time is right, although the clock jumped.")
@json_option
@pass_door
def maintain_command(
    door: Door, once: bool, names: tuple[str, ...], dry_run: bool, status: bool, runs: int | None,
    enable: tuple[str, ...], disable: tuple[str, ...], accept_clock: bool, json: bool,
) -> int:  # fmt: skip
    """Run the maintenance jobs: enrichment, consolidation, decay, reflection, history, embedding, backup.

    Without an option it stays and runs each job when it is due, until Ctrl+C or SIGTERM; with --json one
    line for each run. Several programs may do so at once: one of them leads. Exit code 5 when a job failed.
    """
    if once and names:
        raise UsageError("--once and --job exclude each other.", "Leave one out.")
    if dry_run and not (once or names):
        raise UsageError("--dry-run of what?", "Add --once, or --job decay.")
    looks = status or runs is not None or dry_run
    with door.existing(must_write=not looks or bool(enable or disable or accept_clock)) as memory:
        scheduler = memory.scheduler
        for name in enable:
            scheduler.enable(name)
        for name in disable:
            scheduler.enable(name, False)
        if accept_clock:
            scheduler.accept_clock()
        if names or once:
            return _run(memory, names, once, dry_run, json, glyphs(door))
        if runs is not None:
            return _tell_all(scheduler.runs(runs), json)
        if status or enable or disable or accept_clock:
            return _tell_status(scheduler, json)
        return _stay(memory, json)


def _run(memory: Memory, names: tuple[str, ...], once: bool, dry_run: bool, json: bool, signs: Glyphs) -> int:
    scheduler = memory.scheduler
    stopped = threading.Event()

    def work() -> list[JobRun]:
        if once and not dry_run:
            return scheduler.run_due()
        done = []
        for name in scheduler.due() if once else names:
            if not stopped.is_set():
                done.append(scheduler.run_now(name, dry_run=dry_run))
        return done

    def stop() -> None:
        stopped.set()
        scheduler.stop() if once else scheduler.cancel()

    if once and not dry_run and not scheduler.lead():
        note("another program maintains this memory; nothing is left to do here")
    with _on_signals(stop):
        found = _watched(work, scheduler)
    _warn_of_clock(scheduler)
    if once and not found and not json:
        _tell_nothing_due(scheduler)
        return OK
    code = _tell_all(found, json, lambda run: _tell_what(memory, run, dry_run, signs))
    return CANCELLED if stopped.is_set() else code


def _watched(work: Callable[[], T], scheduler: Scheduler) -> T:
    """Work in a thread, so that this one can show how far it is and hear signals."""
    meter = Meter()
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
                    share = f"  {count(running.done)} of {count(running.total)}" if running.total else ""
                    meter.show(f"{running.job}{share}  (Ctrl+C stops)")
            finally:
                if future.done():
                    meter.clear()


def _stay(memory: Memory, json: bool) -> int:
    """Be there until somebody says otherwise."""
    scheduler = memory.scheduler
    ended = threading.Event()

    def tell(_: object) -> None:
        (run,) = scheduler.runs(1)
        _tell_run(run, json, moment=True)

    memory.subscribe("job_finished", tell)
    with _on_signals(ended.set):
        if not json:
            leads = scheduler.lead()
            note(
                "maintaining; Ctrl+C ends it"
                if leads
                else "another program maintains this memory; standing by"
            )
        _warn_of_clock(scheduler)
        scheduler.start()
        while not ended.wait(0.5):
            pass
        scheduler.stop()
    return OK


@contextmanager
def _on_signals(call: Callable[[], None]) -> Iterator[None]:
    """Ctrl+C and SIGTERM ask; the second time they end the program."""

    def ask(number: int, _: Any) -> None:
        for one in before:
            signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
        # Not in the handler: it may interrupt whoever holds the lock that this call needs.
        threading.Thread(target=call, daemon=True).start()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_all(runs: list[JobRun], json: bool, more: Callable[[JobRun], None] = lambda run: None) -> int:
    if json:
        emit({"runs": runs})
    else:
        for run in runs:
            _tell_run(run, False, moment=True)
            more(run)
    return DEGRADED if any(run.state == "failed" for run in runs) else OK


def _tell_run(run: JobRun, json: bool, *, moment: bool = False) -> None:
    if json:
        emit(run)
        return
    report = run.report
    what = run.error or (report.summary if report else "")
    if report is not None and report.skipped:
        what = report.skipped
    if report is not None and (failed := report.counts.get("failed")):
        what += f"; {plural(failed, 'session')} failed"
    when = [paint(local_time(run.finished_at or run.started_at, time.time()), "dim")] if moment else []
    out(row(*when, _state(run), run.job, what))
    for line in report.notes if report else ():
        out(row("   ", line))
    if run.op_id is not None:
        out(row("   ", paint(f'"memtui undo {run.op_id}" takes it back', "dim")))


def _tell_what(memory: Memory, run: JobRun, dry_run: bool, signs: Glyphs) -> None:
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
        note(f"reach the threshold next, if nobody recalls or confirms them: {coming}")


def _tell_status(scheduler: Scheduler, json: bool) -> int:
    found = scheduler.status()
    if json:
        emit(found)
        return OK
    now = time.time()
    for line in table([_status_row(job, now) for job in found.jobs]):
        out(line)
    if found.running is not None:
        out(
            row(
                paint("running", "cyan"),
                found.running.job,
                "here" if found.running.here else "in another program",
            )
        )
    _warn_of_clock(scheduler)
    return OK


def _warn_of_clock(scheduler: Scheduler) -> None:
    """On stderr: what is wrong with the clock, and how to say that it is right."""
    if clock := scheduler.status().clock:
        err(f"warning: {clock} (memtui maintain --accept-clock)")


def _status_row(job: JobStatus, now: float) -> list[str]:
    next_due = (
        "" if job.next_due is None else "due now" if job.next_due <= now else local_time(job.next_due, now)
    )
    if not job.enabled:
        next_due = "off"
    elif job.obstacle:
        next_due = "waits"
    last = job.last
    if last is None:
        return [paint(job.name, "bold"), job.schedule, next_due, "never ran", ""]
    what = last.error or (last.report.skipped or last.report.summary if last.report else "")
    ago = relative_time(last.finished_at or last.started_at, now)
    return [
        paint(job.name, "bold"),
        job.schedule,
        next_due,
        row(_state(last), ago, gap=" "),
        what,
    ]


def _state(run: JobRun) -> str:
    if run.report is not None and run.report.skipped:
        return paint("skipped", "dim")
    return paint(run.state, _COLOURS.get(run.state, "dim"))


def _tell_nothing_due(scheduler: Scheduler) -> None:
    coming = [job for job in scheduler.status().jobs if job.enabled and job.next_due is not None]
    out("nothing is due")
    if coming:
        first = min(coming, key=lambda job: job.next_due or 0.0)
        when = local_time(first.next_due or 0.0, time.time())
        note(
            f"next: {first.name}, {when}; --job {first.name} runs it now ({plural(len(coming), 'job')} by schedule)"
        )
