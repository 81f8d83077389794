"""Choose which backups to keep: many of the last hours, fewer of older times, within a size budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo

from memtui.engine.clock import local_time
from memtui.engine.records.backups import Backup

ALL_SECONDS = 3 * 3_600
HOURLY_SECONDS = 2 * 86_400
DAYS, WEEKS, MONTHS = 7, 4, 6
MOST_BYTES = 5_000_000_000
MOST_SHARE_OF_FREE = 0.2


def kept(backups: Iterable[Backup], now: float, zone: tzinfo | None = None) -> list[Backup]:
    """All of 3 hours, then one an hour for 2 days, then 7 daily, 4 weekly, 6 monthly ones; the latest first.

    Of an hour, day, week or month the latest is kept. One dated after ``now`` is kept: the clock is wrong.
    """
    rest = sorted(backups, key=lambda backup: backup.at, reverse=True)
    keep = [backup for backup in rest if now - backup.at <= ALL_SECONDS]
    recent = [backup for backup in rest if ALL_SECONDS < now - backup.at <= HOURLY_SECONDS]
    keep += _latest_of_each(recent, lambda backup: backup.at // 3_600)
    rest = [backup for backup in rest if now - backup.at > HOURLY_SECONDS]
    for number, period in (
        (DAYS, lambda backup: local_time(backup.at, zone).date()),
        (WEEKS, lambda backup: local_time(backup.at, zone).isocalendar()[:2]),
        (MONTHS, lambda backup: local_time(backup.at, zone).timetuple()[:2]),
    ):
        chosen = _latest_of_each(rest, period)[:number]
        keep += chosen
        if len(chosen) < number:
            break
        rest = [
            backup for backup in rest if backup.at < chosen[-1].at and not _same(period, backup, chosen[-1])
        ]
    return keep


def within(backups: Sequence[Backup], most_bytes: float) -> list[Backup]:
    """Those that fit into ``most_bytes``, the latest first; the latest one always."""
    fitting: list[Backup] = []
    used = 0
    for backup in sorted(backups, key=lambda backup: backup.at, reverse=True):
        used += backup.size
        if fitting and used > most_bytes:
            break
        fitting.append(backup)
    return fitting


def budget(free: int, used: int) -> float:
    """Bytes that backups may take, where they take ``used`` now and ``free`` are left beside them."""
    return min(MOST_BYTES, MOST_SHARE_OF_FREE * (free + used))


def _latest_of_each(backups: Sequence[Backup], period: Callable[[Backup], object]) -> list[Backup]:
    latest: dict[object, Backup] = {}
    for backup in backups:
        latest.setdefault(period(backup), backup)
    return list(latest.values())


def _same(period: Callable[[Backup], object], one: Backup, other: Backup) -> bool:
    return period(one) == period(other)
