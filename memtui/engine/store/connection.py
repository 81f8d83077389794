"""One connection to a memory file: settings, lock timeout, the vec0 extension, errors.

Every connection has the same durable settings, set one by one and read back.
"""

from __future__ import annotations

import os
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import apsw

from memtui import operating_system, paths
from memtui.engine.errors import (
    CorruptFileError,
    DiskFullError,
    ForeignFileError,
    MemtuiError,
    ReadOnlyError,
    StoreError,
)

from . import tokens

OLDEST_SQLITE = (3, 54, 0)
BUSY_SECONDS = 30.0
_ASKING_SECONDS = (0.0005, 0.005)
_STATEMENTS = 512  # as many as apsw keeps

_PRAGMAS: tuple[tuple[str, object, object], ...] = (
    # name, value to set, value to read back
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
    ("recursive_triggers", "ON", 1),
    ("trusted_schema", "OFF", 0),
    ("cell_size_check", "ON", 1),
    ("secure_delete", "FAST", 2),
    ("mmap_size", 0, 0),
    # The background checkpoints when writing pauses (indexer.py); this is the bound when it never does.
    ("wal_autocheckpoint", 16_000, 16_000),
    ("journal_size_limit", 64 * 1024 * 1024, 64 * 1024 * 1024),
    ("temp_store", "MEMORY", 2),
)


def assert_sqlite() -> None:
    """Refuse an SQLite that loses commits in WAL mode (before 3.51.3) or lacks what we use."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SQLITE:
        from memtui.engine.installation import command_for_dependency

        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} is too old for memtui.",
            f"Install a newer apsw from its wheel: {command_for_dependency('apsw')}",
        )


class _LockWait:
    """What to do while another program holds a lock: ask again every few milliseconds, for 30 seconds.

    SQLite's own timeout asks every 100 ms in the end; beside a program that writes without a pause it would
    find the short moments in between only by luck.
    """

    def __init__(self) -> None:
        self._until = 0.0

    def __call__(self, attempts: int) -> bool:
        import random

        if attempts == 0:
            self._until = time.monotonic() + BUSY_SECONDS
        elif time.monotonic() > self._until:
            return False
        time.sleep(random.uniform(*_ASKING_SECONDS))
        return True


def reset_lock_wait(connection: apsw.Connection) -> None:
    """Wait for other programs as every connection does: up to 30 seconds."""
    connection.set_busy_handler(_LockWait())


def _set_and_verify(connection: apsw.Connection, name: str, value: object, expected: object) -> None:
    connection.execute(f"PRAGMA {name} = {value}").fetchall()
    got = connection.pragma(name)
    if got is not None and got != expected:  # mmap_size is None for :memory:
        raise StoreError(f"SQLite did not accept {name} = {value} (it says {got!r}).", "Run memtui doctor.")


def connect(path: Path | None, *, write: bool, immutable: bool = False) -> apsw.Connection:
    """A configured connection to an existing file; ``path`` None is a private in-memory database."""
    if path is None:
        connection = apsw.Connection(":memory:")
    else:
        flags = apsw.SQLITE_OPEN_READWRITE if write else apsw.SQLITE_OPEN_READONLY
        name = os.fspath(path)
        if immutable:
            name = f"{path.absolute().as_uri()}?immutable=1"
            flags |= apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(
            name, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, statementcachesize=_STATEMENTS
        )
    try:
        reset_lock_wait(connection)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        for name, value, expected in _PRAGMAS:
            _set_and_verify(connection, name, value, expected)
        if operating_system.is_macos():  # there fsync leaves it in the cache of the disk
            for name in ("fullfsync", "checkpoint_fullfsync"):
                _set_and_verify(connection, name, "ON", 1)
        if path is not None and not write:
            _set_and_verify(connection, "query_only", "ON", 1)
        tokens.install(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def translate_error(error: apsw.Error | UnicodeDecodeError, path: Path | None) -> MemtuiError:
    """The memtui error for an SQLite one: cause and next step in words."""
    where = "the memory" if path is None else str(path)
    match error:
        case apsw.FullError():
            return DiskFullError(
                f"No space left to write {where} ({paths.free_space(path)}).",
                "Nothing was changed. Free some space and try again.",
            )
        case apsw.NotADBError():
            return ForeignFileError(
                f"{where} is not a memory file.",
                "If it was one, memtui restore brings a backup back; else choose another file with --db.",
            )
        case UnicodeDecodeError():
            return CorruptFileError(
                f"A text in {where} is damaged.",
                "Run memtui check, then restore a backup. The file was left as it is.",
            )
        case apsw.CorruptError():
            return CorruptFileError(
                f"{where} is damaged: {error}.",
                "Run memtui check, then restore a backup. The file was left as it is.",
            )
        case apsw.ReadOnlyError():
            return ReadOnlyError(
                f"{where} cannot be written.", "Open it with --readonly, or fix its permissions."
            )
        case apsw.BusyError():
            return StoreError(
                f"{where} is in use: another program has held its write lock for over 30 seconds.",
                "Close that program, or try again.",
            )
        case apsw.IOError():
            # A file size limit and a full quota arrive as an I/O error, not as FULL.
            return DiskFullError(
                f"Writing or reading {where} failed: {error} ({paths.free_space(path)}).",
                "Nothing was changed. Check the disk, its free space and quota, and try again.",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{where} cannot be opened.", "Check that it exists and that you may read and write it."
            )
        case _:
            return StoreError(f"The memory file refused: {error}.", "Run memtui check.")


@cache
def vec0_path() -> Path | None:
    """The extension as the package sqlite-vec brings it; None where it is not installed."""
    spec = find_spec("sqlite_vec")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for candidate in sorted(Path(folder).glob("vec0.*")):
            if candidate.suffix in {".so", ".dylib", ".dll"}:
                return candidate
    return None


def load_vec0(connection: apsw.Connection) -> str:
    """Load vec0 into the connection. Returns "" or the reason why there is no vector index."""
    path = vec0_path()
    if path is None:
        return "sqlite-vec is not installed for this platform"
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(path.with_suffix("")))
    except apsw.ExtensionLoadingError as error:
        return f"sqlite-vec cannot be loaded: {error}"
    finally:
        connection.enable_load_extension(False)
    return ""
