"""Copies of the live file, made through SQLite's backup interface only.

Copying the file itself would miss the write-ahead log and drop the locks of this process.
"""

from __future__ import annotations

import glob
import os
import re
import time
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import tzinfo
from pathlib import Path

import apsw

from memtui import operating_system, paths
from memtui.engine.clock import local_time
from memtui.engine.errors import CorruptFileError, InputError, StoreError
from memtui.engine.records.backups import Backup

FOLDER = "backups"
# A copy that was begun so long ago was left by a crash.
_LEFTOVER_SECONDS = 86_400
_STAMP = "%Y%m%dT%H%M%SZ"
_usable_reason = re.compile(r"[A-Za-z]\w{0,29}", re.ASCII).fullmatch


_PAGES_PER_STEP = 2_000


def copy_into(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy a whole database, a slice at a time, so that a writer is never kept waiting long."""
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_PER_STEP)


def back_up(
    connection: apsw.Connection,
    path: Path,
    *,
    reason: str,
    folder: Path | None = None,
    at: float | None = None,
    before_repair: bool = False,
) -> Path:
    """Write a verified copy beside the file and return its path.

    The copy is checked, flushed to disk and only then gets its name, so that whatever carries a
    backup's name is a good one. ``at``: Unix seconds for the name, now if None. ``before_repair``: indexes may be
    damaged, they are about to be made anew. Raises CorruptFileError when the copy does not pass its check, InputError for
    a reason that is no word.
    """
    if not _usable_reason(reason):
        raise InputError(
            "This reason cannot be in the name of a backup.",
            "Give one word of at most 30 letters, as in manual.",
        )
    folder = folder or path.parent / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target, partial = _new_names(folder, path.stem, reason, time.time() if at is None else at)
    except OSError as error:
        raise paths.disk_full_error(error, folder) or StoreError(
            f"No backup can be made in {folder}: {error.strerror or error}.",
            "Check its permissions; where it is a link, see where it leads, or move it away.",
        ) from error
    try:
        copied = apsw.Connection(str(partial))
        try:
            copy_into(connection, copied)
            copied.pragma("journal_mode", "delete")  # one self-contained file
        finally:
            copied.close()
        problem = problem_of(partial, indexes=not before_repair)
        if problem:
            raise CorruptFileError(
                f"The backup of {path} failed its check: {problem}.", "Run memtui check on the memory file."
            )
        operating_system.flush_path(partial)
        operating_system.rename(partial, target)
        operating_system.flush_path(folder)
    finally:
        partial.unlink(missing_ok=True)
    return target


@contextmanager
def private_copy(source: apsw.Connection, path: Path, reason: str, at: float) -> Iterator[apsw.Connection]:
    """A copy beside the backups of ``path`` that may be written, and is gone afterwards. Raises StoreError."""
    folder = path.parent / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _, partial = _new_names(folder, path.stem, reason, at)
    except OSError as error:
        raise paths.disk_full_error(error, folder) or StoreError(
            f"Nothing can be written in {folder}: {error.strerror or error}.",
            "Check its permissions; where it is a link, see where it leads, or move it away.",
        ) from error
    try:
        with closing(apsw.Connection(str(partial))) as copied:
            copy_into(source, copied)
            copied.pragma("journal_mode", "delete")  # no log beside it
            copied.pragma("journal_mode", "memory")  # not needed after a crash
            copied.pragma("synchronous", 0)
            yield copied
    finally:
        partial.unlink(missing_ok=True)


def find_backups(path: Path) -> list[Backup]:
    """The backups of the memory at ``path``, the latest first."""
    named = re.compile(re.escape(path.stem) + r"-(\d{8}T\d{6}Z)-(?:\d+-)?([A-Za-z]\w*)\.db")
    backups = []
    try:
        entries = sorted((path.parent / FOLDER).iterdir(), reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:  # a circular link, no permission
        raise StoreError(
            f"The folder of backups {path.parent / FOLDER} cannot be read: {error.strerror or error}.",
            "Check its permissions; where it is a link, see where it leads, or move it away.",
        ) from error
    for entry in entries:
        match = named.fullmatch(entry.name)
        if match and entry.is_file() and not entry.is_symlink():
            at = timegm(time.strptime(match[1], _STAMP))
            backups.append(Backup(path=entry, at=at, reason=match[2], size=entry.stat().st_size))
    return sorted(backups, key=lambda backup: backup.at, reverse=True)


def files_in_backup_folder(path: Path) -> list[Path]:
    """Everything in the folder of backups that has the name of the memory at ``path``, sorted.

    What has the longer name of another memory beside it ("memory-work" beside "memory") belongs to that one.
    """
    folder = path.parent / FOLDER
    if not folder.is_dir():
        return []
    others = tuple(
        f"{other.stem}-"
        for other in path.parent.glob(f"{glob.escape(path.stem)}-*{glob.escape(path.suffix)}")
    )
    return sorted(
        one
        for one in folder.iterdir()
        if one.name.startswith(f"{path.stem}-") and not (others and one.name.startswith(others))
    )


def clear_leftovers(path: Path) -> None:
    """Delete copies of the memory at ``path`` that a crash left half-made more than a day ago."""
    for partial in (path.parent / FOLDER).glob(f"{glob.escape(path.stem)}-*.partial"):
        if not partial.is_symlink() and time.time() - partial.stat().st_mtime > _LEFTOVER_SECONDS:
            partial.unlink(missing_ok=True)


def _new_names(folder: Path, stem: str, reason: str, at: float) -> tuple[Path, Path]:
    """Unique names: of the backup, and of the file that is written first, which is created."""
    stamp = time.strftime(_STAMP, time.gmtime(at))
    serial = 0
    while True:
        serial += 1
        target = folder / f"{stem}-{stamp}-{f'{serial}-' if serial > 1 else ''}{reason}.db"
        partial = target.with_suffix(".partial")
        try:
            os.close(operating_system.create_private(partial))
        except FileExistsError:  # another program's, or left by a crash
            continue
        if not target.exists():
            return target, partial
        partial.unlink()


def problem_of(path: Path, *, indexes: bool = True) -> str:
    """What is wrong with a database as it stands on disk, "" if nothing is; without ``indexes`` they do not count."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            for (problem,) in connection.execute(f"PRAGMA quick_check({1 if indexes else 1_000})"):
                text = str(problem)
                if text != "ok" and (indexes or not (is_full_text_problem(text) or is_index_problem(text))):
                    return text
        finally:
            connection.close()
    except apsw.Error as error:
        return str(error)
    return ""


def is_full_text_problem(problem: str) -> bool:
    """Whether SQLite's check speaks of a full-text index, which is made from the texts."""
    return "FTS5 table" in problem or "fts5" in problem


def is_index_problem(problem: str) -> bool:
    """Whether it speaks of an index that does not match its table, which is whole."""
    return "index" in problem and problem.startswith(("row ", "wrong # of entries", "non-unique entry"))


ALL_SECONDS = 3 * 3_600
HOURLY_SECONDS = 2 * 86_400
DAYS, WEEKS, MONTHS = 7, 4, 6
MOST_BYTES = 5_000_000_000
MOST_SHARE_OF_FREE = 0.2


def backups_to_keep(backups: Iterable[Backup], now: float, zone: tzinfo | None = None) -> list[Backup]:
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
            backup
            for backup in rest
            if backup.at < chosen[-1].at and not _in_same_period(period, backup, chosen[-1])
        ]
    return keep


def backups_within(backups: Sequence[Backup], most_bytes: float) -> list[Backup]:
    """Those that fit into ``most_bytes``, the latest first; the latest one always."""
    fitting: list[Backup] = []
    used = 0
    for backup in sorted(backups, key=lambda backup: backup.at, reverse=True):
        used += backup.size
        if fitting and used > most_bytes:
            break
        fitting.append(backup)
    return fitting


def backup_budget(free: int, used: int) -> float:
    """Bytes that backups may take, where they take ``used`` now and ``free`` are left beside them."""
    return min(MOST_BYTES, MOST_SHARE_OF_FREE * (free + used))


def _latest_of_each(backups: Sequence[Backup], period: Callable[[Backup], object]) -> list[Backup]:
    latest: dict[object, Backup] = {}
    for backup in backups:
        latest.setdefault(period(backup), backup)
    return list(latest.values())


def _in_same_period(period: Callable[[Backup], object], one: Backup, other: Backup) -> bool:
    return period(one) == period(other)
