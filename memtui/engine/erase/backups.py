"""Erase in the backups, also in those made meanwhile. Each is rewritten, checked and put in place.

A copy keeps its name and its format: a backup from before a migration stays one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
from msgspec.structs import replace

from memtui import operating_system
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.errors import CorruptFileError, StoreError
from memtui.engine.records.backups import Backup
from memtui.engine.records.erase import BackupState, EraseProgress, EraseRequest
from memtui.engine.store import backup, full_text, memories, migration
from memtui.engine.store.connection import connect, load_vec0, translate_error
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import as_json, scalar

from .closure import ErasedRows
from .columns import columns_of
from .rows import delete_closure, planned_steps, settle_indexes
from .selection import select_erased_rows

_SIDECARS = ("-wal", "-shm", "-journal")
_COPY, _NEW = ".erasing", ".erased"
_STALE_SECONDS = 600


def state_of(backup: Backup, ids: frozenset[str]) -> BackupState:
    """Whether a backup can be written anew, and how many of these memories it holds."""
    state = BackupState(path=backup.path, at=backup.at, reason=backup.reason, size=backup.size)
    try:
        with _open_backup(backup.path) as connection:
            holds = scalar(
                connection,
                "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (as_json(ids),),
            )
    except (apsw.Error, StoreError) as error:
        why = error.message if isinstance(error, StoreError) else str(error)
        return BackupState(
            path=backup.path, at=backup.at, reason=backup.reason, size=backup.size, problem=why
        )
    return BackupState(path=state.path, at=state.at, reason=state.reason, size=state.size, holds=int(holds))


@contextmanager
def _open_backup(path: Path) -> Iterator[apsw.Connection]:
    has_log = path.with_name(path.name + "-wal").exists()
    with closing(connect(path, write=False, immutable=not has_log)) as connection:
        if connection.pragma("application_id") != APPLICATION_ID:
            raise StoreError("it is not a memory file")
        if migration.file_version(connection) > migration.current_version():
            raise StoreError("it was written by a newer memtui")
        yield connection


def rewrite(
    path: Path, find: Callable[[apsw.Connection], ErasedRows], *, actor: str, now: int, count: int
) -> ErasedRows:
    """Write a backup anew without what ``find`` names in it; returns that. The old one stays until the new one is good.

    Raises StoreError and its kin, DiskFullError among them: then the backup is as it was.
    """
    copy_path, new_path = path.with_suffix(_COPY), path.with_suffix(_NEW)
    try:
        _merge_logs(path)
        for file in (copy_path, new_path):
            file.unlink(missing_ok=True)
            os.close(operating_system.create_private(file))
        with closing(connect(copy_path, write=True)) as copied:
            with _open_backup(path) as source:
                backup.copy_into(source, copied)
            missing = load_vec0(copied)
            _assert_writable_index(copied, missing)
            copied.pragma("journal_mode", "memory")  # this file is not needed after a crash
            copied.pragma("synchronous", 0)
            copied.execute("BEGIN IMMEDIATE")
            closure = find(copied)
            steps = planned_steps(copied, closure)
            delete_closure(copied, closure, steps, actor=actor, now=now, count=count)
            settle_indexes(copied, closure, vec0=not missing)
            for table in full_text.TABLES:
                if columns_of(copied, table):
                    full_text.forget_deleted(copied, table)
            copied.execute("COMMIT")
            copied.execute("VACUUM INTO ?", (str(new_path),))
        if problem := backup.problem_of(new_path):
            raise CorruptFileError(
                f"The backup {path.name} could not be rewritten: {problem}.", "It was left as it was."
            )
        operating_system.flush_path(new_path)
        operating_system.replace(new_path, path)
        operating_system.flush_path(path.parent)
    except apsw.Error as error:
        raise translate_error(error, path) from error
    except OSError as error:
        raise StoreError(f"The backup {path.name} cannot be rewritten: {error.strerror or error}.") from error
    finally:
        for file in (copy_path, new_path):
            for name in (file, *(file.with_name(file.name + end) for end in _SIDECARS)):
                name.unlink(missing_ok=True)
    return closure


def _merge_logs(path: Path) -> None:
    """A log beside a backup belongs to it: what it holds goes into the backup, and it goes."""
    beside = [path.with_name(path.name + end) for end in _SIDECARS]
    if any(file.exists() for file in beside):
        with closing(connect(path, write=True)) as connection:
            scalar(connection, "SELECT count(*) FROM sqlite_schema")
            connection.pragma("journal_mode", "delete")
        for file in beside:
            file.unlink(missing_ok=True)


def _assert_writable_index(connection: apsw.Connection, missing: str) -> None:
    """Without its extension nothing can be taken out of a vector index."""
    has_vectors = scalar(
        connection, "SELECT 1 FROM sqlite_schema WHERE name IN ('vec_memories_a', 'vec_memories_b')"
    )
    if missing and has_vectors:
        raise StoreError(f"The vector index of a backup cannot be written: {missing}.", "Run memtui doctor.")


def delete(path: Path) -> None:
    """Delete a backup that cannot be written anew, and what lies beside it."""
    for file in (path, *(path.with_name(path.name + end) for end in _SIDECARS)):
        file.unlink(missing_ok=True)


def delete_leftovers(path: Path) -> list[Path]:
    """Delete what interrupted backups and erases of the memory at ``path`` left; returns what may still be written."""
    fresh = []
    for file in backup.files_in_backup_folder(path):
        if file.is_symlink():
            continue
        name = file.name
        for end in _SIDECARS:
            name = name.removesuffix(end)
        if name.endswith((_COPY, _NEW)):
            file.unlink(missing_ok=True)
        elif name.endswith(".partial"):
            if time.time() - file.stat().st_mtime < _STALE_SECONDS:
                fresh.append(file)
            else:
                file.unlink(missing_ok=True)
    return fresh


_ROUNDS = 5

ProgressCallback = Callable[[EraseProgress], None]


def backups_of(connections: Connections, ids: frozenset[str]) -> tuple[BackupState, ...]:
    """Every backup of the memory, with how many of these memories it holds."""
    path = connections.path
    return () if path is None else tuple(state_of(one, ids) for one in backup.find_backups(path))


class BackupCleaner:
    """Writes backups anew without what one erase takes. ``written``: how many so far.

    ``delete_damaged``: delete those that cannot be written anew. ``at``: when the erase was begun, Unix seconds.
    """

    def __init__(
        self, connections: Connections, request: EraseRequest, ids: Sequence[str], *, actor: str, at: int,
        delete_damaged: bool, progress: ProgressCallback,
    ) -> None:  # fmt: skip
        self.written = 0
        self._connections = connections
        self._request = replace(request, ids=tuple(ids), also=())
        self._ids = frozenset(ids)
        self._actor = actor
        self._at = at
        self._delete_damaged = delete_damaged
        self._progress = progress
        self._done: set[tuple[Path, int, int]] = set()

    def clean(self, texts: Sequence[str]) -> list[str]:
        """Write every backup anew that may hold any of it; returns the texts that only backups had.

        ``texts``: what is known to go. Raises as ``rewrite``.
        """
        path = self._connections.path
        if path is None:
            return []
        delete_leftovers(path)
        more: list[str] = []
        for _ in range(_ROUNDS):  # somebody may make one meanwhile
            waiting = [one for one in self.current_states() if _file_signature(one.path) not in self._done]
            if not waiting:
                break
            for number, one in enumerate(waiting):
                self._progress(
                    EraseProgress(doing=f"backup {one.path.name}", done=number, total=len(waiting))
                )
                if one.problem and self._delete_damaged:
                    delete(one.path)
                    continue
                if not one.problem:
                    more += self._rewrite_backup(one.path, texts)
                    self.written += 1
                self._done.add(_file_signature(one.path))
        return more

    def current_states(self) -> tuple[BackupState, ...]:
        """How the backups are now."""
        return backups_of(self._connections, self._ids)

    def _rewrite_backup(self, path: Path, texts: Sequence[str]) -> list[str]:
        with self._connections.read() as live:

            def stays(id: str) -> bool:
                return id not in self._ids and memories.memory_exists(live, id)

            outcome = rewrite(
                path,
                lambda copied: select_erased_rows(copied, self._request, stays=stays, elsewhere=texts, backup=True),
                actor=self._actor, now=self._at, count=len(self._ids),
            )  # fmt: skip
        known = set(texts)
        return [text for text in outcome.contents if text not in known]


def _file_signature(path: Path) -> tuple[Path, int, int]:
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size
