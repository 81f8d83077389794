"""The job Backup: a copy every half hour if something changed, and fewer of them the older they are."""

from __future__ import annotations

from memtui.engine.backups.backups import Backups

from .job import JobReport, Task

EVERY_SECONDS = 1_800


def slot(task: Task) -> str | None:
    """The period of a scheduled backup, None while none is due."""
    backups = Backups(task.connections, task.clock, task.zone)
    if task.connections.path is None or not backups.changed_since_latest():
        return None
    latest = next(iter(backups.all()), None)
    if latest is not None and 0 <= task.now - latest.at < EVERY_SECONDS:
        return None
    return f"slot:{int(task.now) // EVERY_SECONDS}"


def run(task: Task) -> JobReport:
    """Make a backup and let go of what has become too many."""
    backups = Backups(task.connections, task.clock, task.zone)
    if task.connections.path is None:
        return JobReport(summary="nothing to back up", skipped="this memory lives in this process only")
    if task.dry_run:
        due = backups.changed_since_latest()
        return JobReport(summary="would make a backup" if due else "nothing changed since the latest backup")
    made = backups.make("scheduled")
    rotated = backups.rotate()
    kept = "; older ones are kept, as the file does not pass its check" if rotated.findings else ""
    return JobReport(
        summary=f"backed up {made.size / 1e6:,.1f} MB{kept}",
        counts={"bytes": made.size, "let_go": len(rotated.gone), "findings": len(rotated.findings)},
        notes=tuple(finding.message for finding in rotated.findings),
    )
