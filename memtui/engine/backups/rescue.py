"""Restore a backup when the memory file cannot be used. The old files are set aside unchanged.

Nothing of it needs the memory to be open. What was erased for good since the backup is kept erased as far as the old
file can still be read.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path

import apsw
import msgspec

from memtui import operating_system, paths
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.clock import Clock, local_time, system_clock
from memtui.engine.errors import (
    CorruptFileError,
    DiskFullError,
    ForeignFileError,
    InputError,
    MemtuiError,
    OlderFileError,
    ReadOnlyError,
    StoreError,
)
from memtui.engine.records import Operation
from memtui.engine.records.backups import Backup, BackupContents, RescueResult
from memtui.engine.records.history import RestoreGap
from memtui.engine.store import backup, file, file_replacement, locks, migration
from memtui.engine.store.check import structure
from memtui.engine.store.connection import connect
from memtui.engine.store.sql import scalar

from .carry_over import copy_into_restored
from .reader import count_contents, describe_backup, prepare_for_restore

_PATIENCE = 10.0


class Rescue:
    """The backups of the memory at ``path``, whatever its own file is like."""

    def __init__(self, path: Path, clock: Clock = system_clock) -> None:
        self.path = path.expanduser().absolute()
        with suppress(OSError, RuntimeError, ValueError):  # a link to itself, a NUL: who opens it says so
            self.path = self.path.resolve()
        self._clock = clock

    def find_problem(self) -> MemtuiError | None:
        """Why the file cannot be used as it is, None if it can; nothing is written to it."""
        try:
            file.finish_exchange(self.path)
        except CorruptFileError as error:  # a restore makes a plan of its own
            return error
        if paths.is_surely_missing(self.path):
            return StoreError(
                f"There is no memory at {self.path}.",
                'memtui remember "..." or memtui import PATH begins one; memtui restore brings back a backup.',
            )
        if not os.access(self.path, os.W_OK):
            return ReadOnlyError(f"You have no permission to write {self.path}.", "Fix its permissions.")
        try:
            connections = file.open_file(self.path, readonly=True, allow_unsafe=True)
        except OlderFileError:
            return None  # who opens it to write brings it up to date
        except MemtuiError as error:
            return error
        try:
            with connections.read() as connection:
                damage = _find_damage(connection)
            return (
                CorruptFileError(f"{self.path} is damaged: {damage}.", "Restore a backup.")
                if damage
                else None
            )
        except MemtuiError as error:
            return error
        finally:
            connections.close()

    @property
    def has_backups(self) -> bool:
        return bool(backup.find_backups(self.path))

    def refuse_to_begin_anew(self) -> None:
        """Raise StoreError where the memory is gone and its backups are there: an empty one would hide the loss."""
        file_replacement.refuse_to_begin_anew(self.path)

    def remove_unused(self) -> bool:
        """Remove the memory where nothing was ever written to it; whether it was removed."""
        return file.remove_unused(self.path)

    def count_memories(self, backup: Backup) -> BackupContents:
        """How many memories a backup holds."""
        return count_contents(backup.path)

    def backups(self) -> list[tuple[Backup, BackupContents]]:
        """The backups that can be read, the latest first; their pages are checked by ``restore``."""
        counted = [(one, count_contents(one.path)) for one in backup.find_backups(self.path)]
        return [(one, what) for one, what in counted if not what.problem]

    def info(self, name: str | Path) -> Backup:
        """A backup by path, file name, place in the list or moment. Raises NotFoundError, InputError."""
        return describe_backup(backup.find_backups(self.path), name, self._clock())

    def restore(self, name: str | Path, *, actor: str = "person") -> RescueResult:
        """Set aside what is there, and put a backup in its place.

        Raises NotFoundError, ForeignFileError, NewerFileError or CorruptFileError for a backup that cannot be used,
        BusyError while an import, a job or an erase runs, DiskFullError: then all stays as it was.
        """
        chosen = self.info(name)
        if self.path.exists() and chosen.path.samefile(self.path):
            raise InputError("That is the memory itself, not a backup.", "memtui restore lists the backups.")
        with prepare_for_restore(chosen.path) as source, file.file_errors(self.path):
            paths.make_private_folder(self.path.parent)
            with locks.exclusive_work(self.path, _PATIENCE, "Nothing was restored."):
                return put_in_place(source, chosen, self.path, self._clock, actor)


def _find_damage(connection: apsw.Connection) -> str:
    """What is wrong with the pages, or which table is gone that nothing can make again; "" if nothing."""
    problem = str(scalar(connection, "PRAGMA quick_check(1)"))
    if problem != "ok":
        return problem.splitlines()[-1]
    if migration.file_version(connection) != migration.current_version():
        return ""  # an upgrade or a newer memtui knows what belongs into it
    have = structure.existing_schema(connection)
    lost = [
        name
        for kind, name in sorted(structure.expected_schema().keys() - have.keys())
        if not structure.can_be_made(kind, name, have)
    ]
    return f"the table {lost[0]} is missing" if lost else ""


def put_in_place(
    source: apsw.Connection, chosen: Backup, path: Path, clock: Clock, actor: str
) -> RescueResult:
    """Set aside what is at ``path``, and put ``source``, the content of a backup, there."""
    new = path.with_name(f".{path.name}.{os.urandom(4).hex()}.new")
    at = clock()
    aside = file_replacement.free_name(path, at)
    try:
        os.close(operating_system.create_private(new))
        with closing(connect(new, write=True)) as copied:
            backup.copy_into(source, copied)
            copied.pragma("journal_mode", "delete")  # one file to be put in place
            label = (
                f"Restored {local_time(chosen.at):%Y-%m-%d %H:%M} in place of a memory that could not be used"
            )
            gap = RestoreGap(start=chosen.at, end=int(at), backup=aside.name)
            operation, kept = _carry_over_readable(path, copied, gap, actor, label)
        if problem := backup.problem_of(new):
            raise StoreError(
                f"The copy of {chosen.path} could not be written completely: {problem}.", "Check the disk."
            )
        operating_system.flush_path(new)
        moved = file_replacement.replace_file(path, new, aside)
    finally:
        if not file_replacement.was_interrupted(path):
            new.unlink(missing_ok=True)
    return RescueResult(restored=chosen.path, aside=moved, operation=operation, kept_erased=kept)


def _carry_over_readable(
    path: Path, copied: apsw.Connection, gap: RestoreGap, actor: str, label: str
) -> tuple[Operation, bool]:
    """Carry over what can still be read of the file at ``path``: all of it, or nothing. Returns whether it could."""
    with suppress(apsw.Error, OSError, MemtuiError, ValueError):
        if path.stat().st_size:  # SQLite deletes the log of an empty file
            with closing(connect(path, write=False)) as live:
                if live.pragma("application_id") == APPLICATION_ID:
                    return copy_into_restored(live, copied, gap, actor, label), True
    return copy_into_restored(None, copied, gap, actor, label), False


def is_damage(error: Exception) -> bool:
    """Whether an error says that the live file cannot be used, and not that it is in use or that a disk is full."""
    cause = error.__cause__ if isinstance(error, MemtuiError) else error
    if isinstance(error, DiskFullError):
        return False
    damage = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError, msgspec.MsgspecError)
    return isinstance(error, (CorruptFileError, ForeignFileError)) or isinstance(cause, damage)
