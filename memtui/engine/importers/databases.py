"""Open SQLite files of other programs read-only, and distrust their schema and values.

A file is opened read-only and immutable: no lock is taken, nothing beside it is made, and its owner may be at
work. That way SQLite looks at neither a write-ahead log nor a rollback journal, so when one of them holds
something, a private copy of all of them is read. Views, virtual tables and generated columns are passed over:
they could compute without end.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from memtui.engine.errors import InputError

from .limits import MIB, BrokenSourceError, LimitError, Limits

MAGIC = b"SQLite format 3\0"

Tables = dict[str, tuple[str, ...]]
Row = tuple[str | bytes | int | float | None, ...]

_MOST_TABLES = 1_000
_COLUMNS = "SELECT CAST(name AS BLOB) FROM pragma_table_info(?)"
_COMPANIONS = ("-wal", "-journal")


@contextmanager
def database(path: Path, limits: Limits) -> Iterator[apsw.Connection]:
    """Raises InputError if it cannot be opened or copied. What is read later may raise apsw.Error."""
    companions = [
        found for suffix in _COMPANIONS if _holds_something(found := path.with_name(path.name + suffix))
    ]
    if not companions:
        with _opened(path, "mode=ro&immutable=1", limits) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        try:
            if sum(each.stat().st_size for each in (path, *companions)) > limits.source:
                raise LimitError(f"{path} is larger than {limits.source // MIB:,} MB.")
            for each in (path, *companions):
                shutil.copyfile(each, Path(folder, each.name))
        except OSError as error:
            raise BrokenSourceError(f"{path} cannot be copied: {error}") from None
        with _opened(Path(folder, path.name), "mode=rw", limits) as connection:
            yield connection


def tables(path: Path, limits: Limits) -> Tables:
    """The ordinary tables and their ordinary columns; none if the file is no database that can be read."""
    try:
        with database(path, limits) as connection:
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
        name: tuple(_text(column) for (column,) in connection.execute(_COLUMNS, (name,)))
        for name in (_text(name) for (name,) in names)
    }


def _text(value: object) -> str:
    """A name in the schema; bytes that are not UTF-8 become question marks, and name nothing that a feed knows."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def quoted(name: str) -> str:
    """A foreign name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _holds_something(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


@contextmanager
def _opened(path: Path, mode: str, limits: Limits) -> Iterator[apsw.Connection]:
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
        yield connection
    finally:
        connection.close(True)
