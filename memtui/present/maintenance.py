"""The four groups of Maintenance, each as one line: jobs, health, growth, storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from .backup import list_total
from .format import count, file_size, local_time, plural

if TYPE_CHECKING:
    from memtui.engine.records import Stats
    from memtui.engine.records.backups import Backup
    from memtui.engine.records.jobs import FadingForecast, SchedulerStatus

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
    return ", ".join([*parts, *([f"{count(fading)} fade this week"] if fading else [])])


def storage_line(stats: Stats, backups: Sequence[Backup], now: float) -> str:
    """The sizes of the file and of its backups."""
    kept = f"backups {list_total(backups, now)}" if backups else "no backup yet"
    return f"file {file_size(stats.file_bytes)}; {kept}"
