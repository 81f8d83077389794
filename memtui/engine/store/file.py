"""Open or create the memory file.

A new file appears under its name only when it is complete. A file that is not a memory, or newer,
or damaged, is refused with the reason, and its bytes stay as they are.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memtui import operating_system, paths
from memtui.engine.application_id import APPLICATION_ID
from memtui.engine.errors import (
    CorruptFileError,
    ForeignFileError,
    InputError,
    NewerFileError,
    OlderFileError,
    ReadOnlyError,
    StoreError,
)
from memtui.engine.wording import plural

from . import file_replacement, locks, migration
from .connection import assert_sqlite, connect, translate_error
from .connections import Connections

MEMORY = ":memory:"
OWN_TABLES = frozenset(("memories", "ops", "changes", "index_queue", "memory_metadata"))
"""No other program's file has all of them."""


def open_file(where: Path | str, *, readonly: bool = False, allow_unsafe: bool = False) -> Connections:
    """The connections to a memory file, created when it is not there (not when ``readonly``).

    Raises StoreError and its kin; see errors.py.
    """
    assert_sqlite()
    if str(where) == MEMORY:
        return _open_in_memory()
    if "\0" in str(where):
        raise InputError("A path cannot contain a NUL character.", "Choose another path with --db.")
    try:
        os.fsencode(where)
    except UnicodeEncodeError:
        raise InputError(
            "The path has a character that no file name can have (half of a surrogate pair).",
            "Choose another path with --db.",
        ) from None
    path = Path(where).expanduser().absolute()
    paths.check_memory_place(path, allow_unsafe=allow_unsafe)
    with file_errors(path):
        finish_exchange(path)
        if not path.exists():
            if readonly:
                raise StoreError(
                    f"There is no memory at {path}.", "Open it once without --readonly to create it."
                )
            _create_file(path)
        path = path.resolve()
        _refuse_unusable(path, readonly=readonly)
        probe, immutable = _refuse_foreign_file(path, readonly=readonly)
        connections = Connections(path, readonly=readonly, immutable=immutable, first=probe)
        if not readonly:
            _upgrade_schema(connections, path)
    return connections


def reopen(connections: Connections) -> None:
    """Go on with the file that is at the path now. Never creates one.

    Raises StoreError and its kin for a file that cannot be used; ``reopen`` may be tried again then.
    """
    path = connections.path
    if path is None:
        return
    with file_errors(path), connections.replace_file() as hand_over:
        finish_exchange(path)
        if not path.exists():
            raise StoreError(
                f"There is no memory at {path}.", "Put it back, or restore a backup: memtui restore."
            )
        _refuse_unusable(path, readonly=connections.readonly)
        hand_over(*_refuse_foreign_file(path, readonly=connections.readonly))
    if not connections.readonly:
        with file_errors(path), connections.exclusive() as writer:
            migration.upgrade_schema(writer, path)


def remove_unused(path: Path) -> bool:
    """Remove the memory at ``path`` with its log and locks, if nothing was ever written to it; whether it was removed.

    Another program that has it open is refused its next write, because the file is not the one that it opened.
    """
    if not path.is_file():
        return False
    connection = connect(path, write=True)
    try:
        with file_errors(path):
            connection.execute("BEGIN EXCLUSIVE")
            used = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM ops), EXISTS (SELECT 1 FROM memories)"
            ).get
            if any(used):
                return False
            for suffix in ("", *file_replacement.SIDECARS, *(f".{kind}" for kind in locks.KINDS)):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            return True
    finally:
        connection.close()


def finish_exchange(path: Path) -> None:
    """A restore that was killed between two steps is finished before anybody looks at the file."""
    resolved = path.resolve()
    if file_replacement.was_interrupted(resolved):
        file_replacement.finish_interrupted(resolved)


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """What goes wrong with the file at ``path``, as an error of memtui."""
    try:
        yield
    except apsw.Error as error:
        raise translate_error(error, path) from error
    except PermissionError as error:
        raise StoreError(
            f"No permission for {error.filename or path}.", "Fix its permissions or choose --db."
        ) from error
    except OSError as error:
        raise paths.disk_full_error(error, path) or StoreError(
            f"{path} cannot be used: {error.strerror or error}.", "Choose another path with --db."
        ) from error


def _upgrade_schema(connections: Connections, path: Path) -> None:
    try:
        with connections.exclusive() as writer:
            migration.upgrade_schema(writer, path)
    except BaseException:
        connections.close()
        raise


def _open_in_memory() -> Connections:
    connections = Connections(None)
    with connections.write() as writer:
        _initialise_schema(writer)
    return connections


def _initialise_schema(connection: apsw.Connection) -> None:
    migration.create_schema(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    rows = {
        "file_id": os.urandom(16).hex(),
        "erase_salt": os.urandom(16).hex(),
        "created_at": str(int(time.time())),
        "fts_tokenizer": "porter unicode61",
        "vector_index": "a",
    }
    connection.executemany("INSERT INTO memory_metadata(key, value) VALUES (?, ?)", list(rows.items()))


def _create_file(path: Path) -> None:
    """Build the file under another name and link it into place, so that no process sees an incomplete file."""
    paths.make_private_folder(path.parent)
    partial = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.new")
    os.close(operating_system.create_private(partial))
    try:
        _build_empty_file(partial)
        try:
            path.hardlink_to(partial)
        except FileExistsError:
            return  # another process made it first: theirs is as good
        except OSError:  # a file system without hard links
            if not path.exists():
                operating_system.rename(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    operating_system.flush_path(path.parent)


def _build_empty_file(path: Path) -> None:
    """Make the empty file at ``path`` a memory without rows."""
    connection = connect(path, write=True)
    try:
        connection.execute("BEGIN IMMEDIATE")
        _initialise_schema(connection)
        connection.execute("COMMIT")
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _refuse_unusable(path: Path, *, readonly: bool) -> None:
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{path} is a folder.", "Give the path of a file, for example memory.db inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{path} is not a regular file.", "Choose another path with --db.")
    if status.st_size == 0:
        raise ForeignFileError(
            f"{path} is empty (0 bytes): not a memory file, or one whose content was lost.",
            "Restore a backup over it, or delete it to begin a new memory.",
        )
    if not os.access(path, os.R_OK):
        raise StoreError(f"No permission to read {path}.", "Fix its permissions or choose another with --db.")
    if not readonly and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise ReadOnlyError(
            f"{path} or its folder cannot be written.", "Open it with --readonly, or fix permissions."
        )


def _refuse_foreign_file(path: Path, *, readonly: bool) -> tuple[apsw.Connection, bool]:
    """Refuse what is not ours before anything is written.

    Returns a connection to it, and whether it is open as immutable.
    """
    wal = path.with_name(path.name + "-wal")
    has_log = wal.exists()
    immutable = readonly and not os.access(path.parent, os.W_OK) and not has_log
    # Read-write where possible, so that a log left by a crash can be read; never checkpointed from here.
    probe = connect(path, write=not readonly, immutable=immutable)
    try:
        if has_log:  # an empty one of our own may go
            probe.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        application_id = probe.pragma("application_id")
        version = migration.file_version(probe)
        if application_id != APPLICATION_ID:
            _refuse_foreign(probe, path)
        if version > migration.current_version() and not readonly:
            raise NewerFileError(
                f"{path} was written by a newer memtui (format {version}, this one knows {migration.current_version()}).",
                "Update memtui, or look at it with --readonly.",
            )
        if version < migration.current_version() and readonly:
            raise OlderFileError(
                f"{path} was written by an older memtui (format {version}, this one reads {migration.current_version()}).",
                "Open it once without --readonly: memtui makes a backup and brings it up to date.",
            )
        if has_log and wal.stat().st_size and wal.stat().st_mtime < path.stat().st_mtime:
            _refuse_stale_log(probe, path)
        if not readonly:
            mode = probe.pragma("journal_mode", "wal")
            if mode != "wal":
                raise StoreError(f"{path} cannot use a write-ahead log ({mode}).", "Move it to a local disk.")
        if has_log:
            probe.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    except BaseException:
        probe.close()
        raise
    return probe, immutable


def _refuse_foreign(probe: apsw.Connection, path: Path) -> None:
    tables = {name for (name,) in probe.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if tables >= OWN_TABLES:
        raise ForeignFileError(
            f"{path} is a memory of memtui that has lost its mark (application_id): a copy made by another tool, "
            "or changed by one.",
            "Restore a backup: memtui restore. Without one, set the mark again in a copy: "
            f'sqlite3 COPY "PRAGMA application_id={APPLICATION_ID}", then memtui --db COPY check.',
        )
    if {"memories", "memories_fts"} <= tables:
        raise ForeignFileError(
            f"{path} is the memory of another program.", "Its content can be imported: memtui import PATH."
        )
    raise ForeignFileError(
        f"{path} is an SQLite file of another program ({plural(len(tables), 'table')}).",
        "Choose another file with --db.",
    )


def _refuse_stale_log(probe: apsw.Connection, path: Path) -> None:
    """A log older than the file may belong to another copy of it; then the pages do not fit together."""
    problem = probe.pragma("quick_check")
    if problem != "ok":
        raise CorruptFileError(
            f"{path} and its write-ahead log do not belong together: {str(problem).splitlines()[0]}.",
            f"Move {path.name}-wal aside and try again; nothing was changed.",
        )
