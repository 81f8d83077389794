"""Open backups for reading: checked, in the current format, and never written.

Not a byte is written beside a backup. An older one is upgraded in a copy that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from memtui.engine.errors import CorruptFileError, ForeignFileError, MemtuiError, NewerFileError
from memtui.engine.records.backups import BackupContents
from memtui.engine.store import backup, migration
from memtui.engine.store.connection import APPLICATION_ID, connect, translate
from memtui.engine.store.sql import scalar


def contents(path: Path) -> BackupContents:
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
def ready(chosen: Path) -> Iterator[apsw.Connection]:
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
                closing(_upgraded(source, Path(folder) / "old.db")) as current,
            ):
                yield current
    except apsw.Error as error:
        raise translate(error, chosen) from error


def _upgraded(source: apsw.Connection, place: Path) -> apsw.Connection:
    """A copy of an older backup in today's format."""
    place.touch(mode=0o600)
    copy = connect(place, write=True)
    backup.copy_into(source, copy)
    copy.execute("BEGIN IMMEDIATE")
    migration.apply_pending(copy)
    copy.execute("COMMIT")
    return copy
