"""Open SQLite files of other programs read-only, and distrust their schema and values.

A file is opened read-only and immutable: no lock is taken, nothing beside it is made, and its owner may be at
work. That way SQLite looks at neither a write-ahead log nor a rollback journal, so when one of them holds
something, a private copy of all of them is read. Views, virtual tables and generated columns are passed over:
they could compute without end.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from memtui.engine.errors import InputError

from .limits import MIB, BrokenSourceError, ImportLimits, LimitError

MAGIC = b"SQLite format 3\0"

Tables = dict[str, tuple[str, ...]]
Row = tuple[str | bytes | int | float | None, ...]

_MOST_TABLES = 1_000
_MOST_NAMES = 100
_COLUMNS = "SELECT CAST(name AS BLOB) FROM pragma_table_info(?)"
_COMPANIONS = ("-wal", "-journal")
# How often a copy is begun again because its owner moved pages between the files meanwhile.
_COPIES = 5
# The header of a write-ahead log: its salts change when it begins anew.
_LOG_HEADER = 32
_STEPS = 1_000_000


@contextmanager
def open_copy(path: Path, limits: ImportLimits) -> Iterator[apsw.Connection]:
    """Raises InputError if it cannot be opened or copied. What is read later may raise apsw.Error."""
    # A shared memory file says that the program has it open, and may write from now on.
    if not any(_has_content(path.with_name(path.name + suffix)) for suffix in (*_COMPANIONS, "-shm")):
        with _open_database(path, "mode=ro&immutable=1", limits) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        copy = Path(folder, path.name)
        try:
            _copy_with_logs(path, copy, limits)
        except OSError as error:
            raise BrokenSourceError(f"{path} cannot be copied: {error}") from None
        with _open_database(copy, "mode=rw", limits) as connection:
            yield connection


def _copy_with_logs(path: Path, copy: Path, limits: ImportLimits) -> None:
    """Copy a file and its logs as they are at one moment. Raises OSError, LimitError."""
    for _ in range(_COPIES):
        before = _state_of_log(path)
        companions = [
            companion for suffix in _COMPANIONS if (companion := path.with_name(path.name + suffix)).exists()
        ]
        if sum(each.stat().st_size for each in (path, *companions)) > limits.source:
            raise LimitError(f"{path} is larger than {limits.source // MIB:,} MB.")
        for each in copy.parent.iterdir():
            each.unlink()
        for each in (path, *companions):
            shutil.copyfile(each, copy.with_name(each.name))
        if _state_of_log(path) == before:
            return
    raise BrokenSourceError(f"{path} changed while it was copied: its program is writing a lot. Try again.")


def _state_of_log(path: Path) -> tuple[object, ...]:
    """What changes when pages move from the log into the file. A log that only grows is no matter."""
    status = path.stat()
    try:
        with path.with_name(path.name + "-wal").open("rb") as log:
            header = log.read(_LOG_HEADER)
    except FileNotFoundError:
        header = b""
    return status.st_mtime_ns, status.st_size, status.st_ino, header


def read_tables(path: Path, limits: ImportLimits) -> Tables:
    """The ordinary tables and their ordinary columns; none if the file is no database that can be read."""
    try:
        with open_copy(path, limits) as connection:
            return tables_of(connection)
    except (InputError, apsw.Error):
        return {}


def tables_of(connection: apsw.Connection) -> Tables:
    """The tables that have rows of their own, each with its columns."""
    # A virtual table has no page of its own; pragma_table_info leaves generated columns out.
    names = connection.execute(
        "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 LIMIT ?",
        (_MOST_TABLES,),
    ).fetchall()
    return {
        name: tuple(_schema_name(column) for (column,) in connection.execute(_COLUMNS, (name,)))
        for name in (_schema_name(name) for (name,) in names)
    }


def largest_number(path: Path, table: str, column: str, limits: ImportLimits) -> int:
    """The largest whole number in a column of an ordinary table; without a ``table``, the file's ``user_version``. 0 if none."""
    sql = f"SELECT max({quote_name(column)}) FROM {quote_name(table)}" if table else "PRAGMA user_version"
    try:
        with open_copy(path, limits) as connection:
            row = connection.execute(sql).fetchone()
    except (InputError, apsw.Error):
        return 0
    return row[0] if row is not None and isinstance(row[0], int) else 0


def read_names(path: Path, table: str, column: str, limits: ImportLimits) -> tuple[str, ...]:
    """The first texts in a column of an ordinary table; none if they cannot be read."""
    sql = f"SELECT CAST({quote_name(column)} AS BLOB) FROM {quote_name(table)} LIMIT {_MOST_NAMES}"
    try:
        with open_copy(path, limits) as connection:
            return tuple(_schema_name(name) for (name,) in connection.execute(sql) if name is not None)
    except (InputError, apsw.Error):
        return ()


def text_column(name: str, columns: Collection[str], prefix: str = "") -> str:
    """SQL for a text that may be no UTF-8, or not be there: older files lack a column."""
    return f"CAST({prefix}{name} AS BLOB)" if name in columns else "NULL"


def number_column(name: str, columns: Collection[str], prefix: str = "") -> str:
    """SQL for a number; NULL for what is none, or where older files lack the column."""
    column = f"{prefix}{name}"
    return (
        f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} END" if name in columns else "NULL"
    )


def _schema_name(value: object) -> str:
    """A name in the schema; bytes that are not UTF-8 become question marks, and name nothing that a feed knows."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def quote_name(name: str) -> str:
    """A foreign name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


class _QueryBudget:
    """How long the queries of one file may compute."""

    def __init__(self, path: Path, limits: ImportLimits) -> None:
        self._left = limits.steps + limits.steps_per_byte * path.stat().st_size

    def is_spent(self) -> bool:
        """Called every ``_STEPS`` instructions; True interrupts the query, which raises apsw.InterruptError."""
        self._left -= _STEPS
        return self._left < 0


@contextmanager
def _open_database(path: Path, mode: str, limits: ImportLimits) -> Iterator[apsw.Connection]:
    address = f"file:{quote(str(path.absolute()))}?{mode}"
    flags = apsw.SQLITE_OPEN_URI | (
        apsw.SQLITE_OPEN_READONLY if "mode=ro" in mode else apsw.SQLITE_OPEN_READWRITE
    )
    try:
        connection = apsw.Connection(address, flags=flags)
    except apsw.Error as error:
        raise BrokenSourceError(f"{path} cannot be opened: {error}") from None
    try:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, limits.item)
        connection.set_progress_handler(_QueryBudget(path, limits).is_spent, _STEPS)
        yield connection
    finally:
        connection.close(True)
