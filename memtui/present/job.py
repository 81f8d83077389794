"""Maintenance as text: jobs and their runs, and a line for each group (jobs, health, growth, storage)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from .backup import list_total
from .format import file_size, format_count, local_time, plural
from .text import Part, Role

if TYPE_CHECKING:
    from memtui.engine.records import Stats
    from memtui.engine.records.backups import Backup
    from memtui.engine.records.jobs import FadingForecast, JobRun, JobStatus, SchedulerStatus


Group = Literal["Jobs", "Health", "Growth", "Storage"]
GROUPS: tuple[Group, ...] = get_args(Group)
_WEEK = 7


def jobs_line(status: SchedulerStatus, now: float) -> str:
    """Which job runs or failed, how many are on, and which is next."""
    running = [f"{status.running.job} is running"] if status.running is not None else []
    failed = [job.label for job in status.jobs if job.last is not None and job.last.state == "failed"]
    parts = [*running, *([f"{', '.join(failed)} failed"] if failed else [])]
    on = [job for job in status.jobs if job.enabled]
    off = len(status.jobs) - len(on)
    if not parts:
        parts = [f"{len(on)} on, {off} off" if off else "all on"]
    due = [job for job in on if job.next_due is not None]
    if due:
        first = min(due, key=lambda job: job.next_due or 0.0)
        at = first.next_due or 0.0
        parts.append(f"{first.label} {'is due now' if at <= now else f'next, {local_time(at, now)}'}")
    return "; ".join(parts)


def growth_line(stats: Stats, forecast: FadingForecast) -> str:
    """How many memories there are, and how many fade soon."""
    turns = stats.by_kind.get("episode", 0)
    fading = len(forecast.overdue) + sum(len(day.rids) for day in forecast.days[:_WEEK])
    parts = [plural(stats.active - turns, "memory", "memories"), plural(turns, "turn")]
    return ", ".join([*parts, *([f"{format_count(fading)} fade this week"] if fading else [])])


def storage_line(stats: Stats, backups: Sequence[Backup], now: float) -> str:
    """The sizes of the file and of its backups."""
    kept = f"backups {list_total(backups, now)}" if backups else "no backup yet"
    return f"file {file_size(stats.file_bytes)}; {kept}"


_STATES: dict[str, Role] = {
    "done": "success", "failed": "error", "cancelled": "warning", "running": "accent"
}  # fmt: skip


def run_outcome_line(run: JobRun | None) -> str:
    """The result of a run, in a line that also says if it was skipped."""
    if run is None:
        return ""
    if run.report is not None and run.report.skipped and not run.error:
        return f"skipped: {run.report.skipped}"
    return run_result_text(run) or run.state


def run_result_text(run: JobRun) -> str:
    """What a run did, or why it did nothing. Shown beside its state. Empty while it is running."""
    if run.error or run.report is None:
        return run.error or ""
    if run.report.skipped:
        return run.report.skipped
    failed = run.report.counts.get("failed", 0)
    if not failed:
        return run.report.summary
    failures = f"{plural(failed, 'session')} failed"
    return f"{run.report.summary}; {failures}" if run.report.counts.get("sessions") else failures


def run_state(run: JobRun) -> Part:
    """``done``, ``skipped``, ``failed``, ``cancelled`` or ``running``."""
    if run.report is not None and run.report.skipped:
        return "skipped", "dim"
    return run.state, _STATES[run.state]


def run_result_role(run: JobRun | None) -> Role:
    """The colour of a result: a failure stands out, also when only a part failed."""
    if run is not None and run.state == "failed":
        return "error"
    return "warning" if run is not None and run.report and run.report.counts.get("failed") else "text"


def run_trigger_text(run: JobRun) -> str:
    """Why a run started: asked for, by itself, or for a date."""
    if run.manual:
        return "asked for"
    return "by itself" if run.period.startswith("slot:") else f"for {run.period}"


def next_run_text(job: JobStatus, now: float) -> Part:
    """When the job will run next."""
    if job.off:
        return f"off: {job.off}", "dim"
    if not job.enabled:
        return "switched off", "warning"
    if job.next_due is None:
        return "whenever there is something to do", "text"
    return ("due now", "accent") if job.next_due <= now else (local_time(job.next_due, now), "text")
