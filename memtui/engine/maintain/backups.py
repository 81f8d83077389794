"""Backups in time: made when something changed, thinned out with age, restored into the live file.

A copy only gets its name after it passed its check, so a fresh backup proves the live file too; only then
are older ones let go. Copies are read from one snapshot: writers neither wait nor make it start over.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import tzinfo
from pathlib import Path

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import (
    CorruptFileError,
    ForeignFileError,
    InputError,
    NewerFileError,
    NotFoundError,
    ReadOnlyError,
)
from memtui.engine.records import Record
from memtui.engine.store import backup, metadata, migrate, rotation
from memtui.engine.store.connection import APPLICATION_ID, Connections, connect, translate
from memtui.engine.store.sql import scalar

from .jobs import JobReport, Task

RECENT_SECONDS = 600
EVERY_SECONDS = 1_800
_MARK_KEY = "backup_mark"
_PAGES_PER_STEP = 2_000


class Restored(Record):
    """``restored`` is in the live file now; what was there before is in ``before``."""

    restored: Path
    before: backup.Backup


class Backups:
    """The backups of one memory file, in a folder beside it."""

    def __init__(
        self, connections: Connections, clock: Clock, zone: tzinfo | None = None, *,
        on_restore: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._zone = zone
        self._on_restore = on_restore

    def all(self) -> list[backup.Backup]:
        """The backups that are there, the latest first."""
        return [] if self._connections.path is None else backup.find_backups(self._connections.path)

    def make(self, reason: str = "manual") -> backup.Backup:
        """Make a verified backup now.

        Raises InputError for an in-memory memory, CorruptFileError when the copy does not pass its check,
        DiskFullError when there is no space for it.
        """
        path = self._path()
        with self._connections.read() as connection:
            # The first read pins the snapshot: what others write meanwhile cannot make the copy start over.
            mark = change_mark(connection)
            made = backup.back_up(connection, path, reason=reason, at=self._clock())
        with self._connections.write() as connection:
            metadata.put(connection, _MARK_KEY, mark)
        return next(found for found in self.all() if found.path == made)

    def ensure(self, reason: str) -> backup.Backup | None:
        """A backup from before what comes now: made unless one is younger than 10 minutes or nothing changed since."""
        if self._connections.path is None:
            return None
        latest = next(iter(self.all()), None)
        if latest is not None and (
            0 <= self._clock() - latest.at < RECENT_SECONDS or not self.changed_since_latest()
        ):
            return latest
        return self.make(reason)

    def changed_since_latest(self) -> bool:
        with self._connections.read() as connection:
            return change_mark(connection) != metadata.get(connection, _MARK_KEY)

    def rotate(self) -> list[Path]:
        """Delete what is too much. Call it only right after a backup passed its check. Returns what went."""
        path = self._path()
        there = self.all()
        kept = rotation.kept(there, self._clock(), self._zone)
        used = sum(one.size for one in there)
        free = shutil.disk_usage(path.parent / backup.FOLDER).free
        names = {one.path for one in rotation.within(kept, rotation.budget(free, used))}
        gone = [one.path for one in there if one.path not in names]
        for old in gone:
            old.unlink(missing_ok=True)
        return gone

    def find(self, name: str | Path) -> Path:
        """The backup with this path or file name, ``latest`` for the latest. Raises NotFoundError."""
        there = self.all()
        if str(name) == "latest" and there:
            return there[0].path
        given = Path(name).expanduser()
        for found in there:
            if found.path.name == str(name):
                return found.path
        if given.is_file():
            return given
        raise NotFoundError(f"There is no backup {str(name)!r}.", "memtui backup list shows them.")

    def restore(self, name: str | Path) -> Restored:
        """Put a backup into the live file, as one commit, after a backup of what is there now.

        Other programs that have the file open go on with the restored content. Raises NotFoundError,
        ForeignFileError, NewerFileError or CorruptFileError for a backup that cannot be used; then the live
        file stays as it was.
        """
        path = self._path()
        chosen = self.find(name)
        if chosen.samefile(path):
            raise InputError(
                "That is the memory itself, not a backup.", "memtui backup list shows the backups."
            )
        with (
            _ready(chosen) as source,
            self._connections.exclusive() as writer,
            writer.backup("main", source, "main") as copying,
        ):
            # The first page takes the write lock: nothing can be committed between the backup and the restore.
            copying.step(1)
            with self._connections.read() as live:
                scalar(live, "SELECT 1 FROM sqlite_schema")
                before = backup.back_up(live, path, reason="restore", at=self._clock())
            while not copying.done:
                copying.step(_PAGES_PER_STEP)
        self._on_restore()
        return Restored(restored=chosen, before=next(b for b in self.all() if b.path == before))

    def _path(self) -> Path:
        if self._connections.path is None:
            raise InputError("This memory lives in this process only: it has no backups.", "Open a file.")
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.",
                "Open it without --readonly to back it up or restore it.",
            )
        return self._connections.path


def change_mark(connection: apsw.Connection) -> str:
    """Changes with everything worth a backup. What maintenance notes about itself is not."""
    return str(
        scalar(
            connection,
            "SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name NOT IN ('job_runs', 'ops')",
        )
    )


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
    gone = backups.rotate()
    return JobReport(
        summary=f"backed up {made.size / 1e6:,.1f} MB", counts={"bytes": made.size, "let_go": len(gone)}
    )


@contextmanager
def _ready(chosen: Path) -> Iterator[apsw.Connection]:
    """A checked, current copy of a backup to restore from; the backup itself is not written."""
    try:
        problem = backup.problem_of(chosen)
        if problem:
            raise CorruptFileError(
                f"The backup {chosen} is damaged: {problem}.",
                "Choose another: memtui backup list shows them.",
            )
        # Not a byte is written beside a backup; only a copy with a log of its own needs to be opened in full.
        has_log = chosen.with_name(chosen.name + "-wal").exists()
        with closing(connect(chosen, write=False, immutable=not has_log)) as source:
            version = migrate.file_version(source)
            if source.pragma("application_id") != APPLICATION_ID:
                raise ForeignFileError(
                    f"{chosen} is not a memory file.", "memtui backup list shows the backups."
                )
            if version > migrate.current_version():
                raise NewerFileError(
                    f"{chosen} was written by a newer memtui.", "Update memtui, then restore it."
                )
            if version == migrate.current_version():
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
    migrate.apply_pending(copy)
    copy.execute("COMMIT")
    return copy
