"""Maintenance jobs and their runs as text: result, period, next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import local_time, plural
from .lines import Part, Role

if TYPE_CHECKING:
    from memtui.engine.records.jobs import JobRun, JobStatus

_STATES: dict[str, Role] = {
    "done": "success", "failed": "error", "cancelled": "warning", "running": "accent"
}  # fmt: skip


def outcome(run: JobRun | None) -> str:
    """The result of a run, in a line that also says if it was skipped."""
    if run is None:
        return ""
    if run.report is not None and run.report.skipped and not run.error:
        return f"skipped: {run.report.skipped}"
    return result(run) or run.state


def result(run: JobRun) -> str:
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


def state(run: JobRun) -> Part:
    """``done``, ``skipped``, ``failed``, ``cancelled`` or ``running``."""
    if run.report is not None and run.report.skipped:
        return "skipped", "dim"
    return run.state, _STATES[run.state]


def role(run: JobRun | None) -> Role:
    """The colour of a result: a failure stands out, also when only a part failed."""
    if run is not None and run.state == "failed":
        return "error"
    return "warning" if run is not None and run.report and run.report.counts.get("failed") else "text"


def period(run: JobRun) -> str:
    """Why a run started: asked for, by itself, or for a date."""
    if run.manual:
        return "asked for"
    return "by itself" if run.period.startswith("slot:") else f"for {run.period}"


def next_run(job: JobStatus, now: float) -> Part:
    """When the job will run next."""
    if job.off:
        return f"off: {job.off}", "dim"
    if not job.enabled:
        return "switched off", "warning"
    if job.next_due is None:
        return "whenever there is something to do", "text"
    return ("due now", "accent") if job.next_due <= now else (local_time(job.next_due, now), "text")
