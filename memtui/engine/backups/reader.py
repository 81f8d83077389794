"""Open backups for reading: checked, in the current format, and never written.

Not a byte is written beside a backup. An older one is upgraded in a copy that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import tzinfo
from pathlib import Path

import apsw

from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.clock import local_time
from memtui.engine.errors import (
    CorruptFileError,
    ForeignFileError,
    MemtuiError,
    NewerFileError,
    NotFoundError,
)
from memtui.engine.records.backups import Backup, BackupContents
from memtui.engine.search.time_expressions import parse_past_time
from memtui.engine.store import backup, migration
from memtui.engine.store.connection import connect, translate_error
from memtui.engine.store.sql import scalar


def count_contents(path: Path) -> BackupContents:
    """Count what is in a backup; its pages are not checked, which takes reading them all."""
    stamp = 0
    try:
        stamp = path.stat().st_mtime_ns
        with closing(connect(path, write=False, immutable=not _has_log(path))) as connection:
            problem = _why_unusable(connection, path)
            if problem is not None:
                return BackupContents(problem=problem.message, stamp=stamp)
            notes = connection.execute(
                "SELECT kind, count(*) FROM memories WHERE valid_until IS NULL AND kind <> 'episode' GROUP BY kind"
            )
            counts = {str(kind): int(str(number)) for kind, number in notes}
            active = scalar(connection, "SELECT count(*) FROM memories WHERE valid_until IS NULL")
            ended = scalar(connection, "SELECT count(*) FROM memories WHERE valid_until IS NOT NULL")
    except (apsw.Error, MemtuiError, OSError) as error:
        return BackupContents(problem=str(error), stamp=stamp)
    counts = {"episode": active - sum(counts.values()), **counts, "trash": ended}
    return BackupContents(counts=counts, stamp=stamp)


def _has_log(path: Path) -> bool:
    """Only a copy with a log of its own needs to be opened in full."""
    return path.with_name(path.name + "-wal").exists()


def _why_unusable(connection: apsw.Connection, path: Path) -> MemtuiError | None:
    if connection.pragma("application_id") != APPLICATION_ID:
        return ForeignFileError(f"{path} is not a memory file.", "memtui backup list shows the backups.")
    if migration.file_version(connection) > migration.current_version():
        return NewerFileError(f"{path} was written by a newer memtui.", "Update memtui, then restore it.")
    return None


@contextmanager
def prepare_for_restore(chosen: Path) -> Iterator[apsw.Connection]:
    """A checked backup to restore from, in today's format.

    Raises CorruptFileError, ForeignFileError, NewerFileError for one that cannot be used.
    """
    try:
        problem = backup.problem_of(chosen)
        if problem:
            raise CorruptFileError(
                f"The backup {chosen} is damaged: {problem}.",
                "Choose another: memtui backup list shows them.",
            )
        with closing(connect(chosen, write=False, immutable=not _has_log(chosen))) as source:
            unusable = _why_unusable(source, chosen)
            if unusable is not None:
                raise unusable
            if migration.file_version(source) == migration.current_version():
                yield source
                return
            with (
                tempfile.TemporaryDirectory(prefix="memtui-restore-") as folder,
                closing(_upgrade_copy(source, Path(folder) / "old.db")) as current,
            ):
                yield current
    except apsw.Error as error:
        raise translate_error(error, chosen) from error


def _upgrade_copy(source: apsw.Connection, path: Path) -> apsw.Connection:
    """A copy of an older backup in today's format."""
    path.touch(mode=0o600)
    copied = connect(path, write=True)
    backup.copy_into(source, copied)
    copied.execute("BEGIN IMMEDIATE")
    migration.apply_pending(copied)
    copied.execute("COMMIT")
    return copied


def find_backup(backups: Sequence[Backup], name: str | Path, now: float, zone: tzinfo | None = None) -> Path:
    """The backup with this path or file name; ``latest``; a place in the list (``3``); or the last one until a moment.

    ``there``: all that there are, the latest first. Raises NotFoundError, InputError.
    """
    text = str(name).strip()
    for candidate in backups:
        if candidate.path.name == text:
            return candidate.path
    given = Path(name).expanduser()
    if given.is_file():
        return given
    if text == "latest" or (text.isascii() and text.isdigit() and len(text) < 4):
        index = 0 if text == "latest" else int(text) - 1
        if 0 <= index < len(backups):
            return backups[index].path
        raise NotFoundError(f"There is no backup {text!r}.", "memtui backup list shows them.")
    if given.suffix or len(given.parts) > 1:
        raise NotFoundError(f"There is no backup {text!r}.", "memtui backup list shows them.")
    at = parse_past_time(text, now, zone)
    for candidate in backups:
        if candidate.at <= at:
            return candidate.path
    oldest = f"The oldest is of {local_time(backups[-1].at, zone):%Y-%m-%d %H:%M}: " if backups else ""
    raise NotFoundError(
        f"There is no backup from {text!r} or before.",
        f"{oldest}memtui restore lists all backups.",
    )


def describe_backup(
    backups: Sequence[Backup], name: str | Path, now: float, zone: tzinfo | None = None
) -> Backup:
    """The backup that ``find`` finds; one that lies elsewhere has the time of its file, and the reason ``file``."""
    path = find_backup(backups, name, now, zone)
    for one in backups:
        if one.path == path:
            return one
    status = path.stat()
    return Backup(path=path, at=int(status.st_mtime), reason="file", size=status.st_size)
