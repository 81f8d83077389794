"""Read Agents SDK sessions from any database that SQLAlchemy reaches: ``postgresql://...``, ``mysql://...``.

The tables of messages (known by their columns) are copied, row by row and in a transaction that only reads, into an SQLite
file that is gone after the import; from there on it is a file like any other. A URL holds a password: nothing that is shown,
logged or kept has more of it than the host and the name of the database. ``env:NAME`` takes it from the environment, so that
it does not stand on the command line. A file of SQLite needs no SQLAlchemy.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw

from memtui.engine.errors import InputError, UsageError
from memtui.engine.installation import command_for, command_for_extra
from memtui.engine.records import Record, Refused

from .databases import quote_name
from .formats.agents_sdk import COLUMNS
from .limits import LIMITS, ImportLimits
from .refusals import none_usable_error

_URL = re.compile(r"[a-z][a-z0-9]*(?:\+[a-z0-9_]+)?://")
_ENVIRONMENT = "env:"
_ROWS = 500
_ORDER = ("id", "session_id", "message_data", "created_at")
# Drivers that only work asynchronously, and what to take in their place.
_DRIVERS = {"asyncpg": "psycopg", "aiomysql": "pymysql", "asyncmy": "pymysql", "aiosqlite": ""}


def is_url(place: str) -> bool:
    """Whether what somebody named is no path."""
    return place.startswith(_ENVIRONMENT) or _URL.match(place) is not None


class LocalCopies(Record):
    """What was named, as ``paths``; databases that could not be copied are ``refused``."""

    paths: tuple[Path, ...]
    refused: tuple[Refused, ...]


@contextmanager
def local_copies(places: Sequence[str | Path], limits: ImportLimits = LIMITS) -> Iterator[LocalCopies]:
    """Every place as a path: databases are copied for as long as the context lasts.

    A database that cannot be reached or holds no sessions is refused. Raises InputError if nothing else was named; one
    that is raised within the context tells what was refused too.
    """
    with ExitStack() as stack:
        paths: list[Path] = []
        refused: list[Refused] = []
        for place in places:
            try:
                paths.append(
                    stack.enter_context(_copied_database(str(place), limits))
                    if is_url(str(place))
                    else Path(place)
                )
            except InputError as error:
                if len(places) == 1:
                    raise
                refused.append(Refused(message=error.message, hint=error.hint))
        if refused and not paths:
            raise none_usable_error(refused)
        try:
            yield LocalCopies(paths=tuple(paths), refused=tuple(refused))
        except InputError as error:
            if refused:
                raise none_usable_error([*refused, Refused(message=error.message, hint=error.hint)]) from None
            raise


@contextmanager
def _copied_database(url: str, limits: ImportLimits) -> Iterator[Path]:
    if url.startswith(_ENVIRONMENT):
        name = url.removeprefix(_ENVIRONMENT)
        url = os.environ.get(name, "")
        if not is_url(url) or url.startswith(_ENVIRONMENT):
            raise InputError(
                f"The environment variable {name} holds no URL of a database.", "Set it, or name the URL."
            )
    if file := re.fullmatch(r"sqlite(?:\+aiosqlite)?:///(.+)", url):
        yield Path(file[1])
        return
    engine, name = _make_engine(url)
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        path = Path(folder, f"{name}.db")
        try:
            _copy_sdk_tables(engine, path, limits)
        except InputError:
            raise
        except Exception as error:
            # Its message may repeat the URL, or what is in a row.
            raise InputError(
                f"{name} cannot be read: {type(error).__name__}.",
                "Check its address, that it is running, and that you may connect to it.",
            ) from None
        finally:
            engine.dispose()
        yield path


def _make_engine(url: str) -> tuple[Any, str]:
    """The engine, and the database as it may be called where others look."""
    try:
        alchemy = import_module("sqlalchemy")
    except ImportError:
        raise UsageError(
            "Reading a database by its URL needs SQLAlchemy.",
            f"{command_for_extra('sql')}, and its driver in the same way.",
        ) from None
    try:
        parsed = alchemy.make_url(url)
        base, _, driver = parsed.drivername.partition("+")
        if driver in _DRIVERS:
            parsed = parsed.set(drivername=f"{base}+{_DRIVERS[driver]}" if _DRIVERS[driver] else base)
        words = (base, parsed.host or "", Path(parsed.database or "").name)
        name = re.sub(r"[^\w.-]+", " ", " ".join(word for word in words if word)).strip() or "database"
    except Exception:
        raise InputError(
            "This is not the URL of a database.", "For example postgresql://user@host/name"
        ) from None
    try:
        return alchemy.create_engine(parsed), name
    except Exception as error:
        missing = getattr(error, "name", None)
        needs = f"The driver {missing} is not installed." if missing else "No driver for it is installed."
        hint = command_for(missing) if missing else "Install the driver of that database beside memtui."
        raise InputError(f"{name} cannot be opened: {needs}", hint) from None


def _copy_sdk_tables(engine: Any, path: Path, limits: ImportLimits) -> None:
    """Copy every table that has the SDK's columns. Raises InputError if there is none."""
    alchemy = import_module("sqlalchemy")
    inspected = alchemy.inspect(engine)
    tables = [
        table for table in inspected.get_table_names()
        if {str(column["name"]) for column in inspected.get_columns(table)} >= COLUMNS
    ]  # fmt: skip
    if not tables:
        raise InputError(
            "No table of that database holds sessions of the Agents SDK.",
            f"Its columns are {', '.join(_ORDER)}.",
        )
    target = apsw.Connection(str(path))
    try:
        target.execute("PRAGMA journal_mode = OFF").fetchall()
        with engine.connect() as source:
            read_only = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
            source = source.execution_options(stream_results=True, **read_only)
            for table in tables:
                _copy_table(source, alchemy, table, target, limits)
    finally:
        target.close()


def _copy_table(source: Any, alchemy: Any, table: str, target: apsw.Connection, limits: ImportLimits) -> None:
    target.execute(f"CREATE TABLE {quote_name(table)}({', '.join(_ORDER)})")
    columns = [alchemy.column(name) for name in _ORDER]
    source_rows = source.execute(
        alchemy.select(*columns).select_from(alchemy.table(table, *columns)).order_by("id")
    )
    total = 0
    for rows in source_rows.partitions(_ROWS):
        cells = [tuple(_sqlite_value(value) for value in row) for row in rows]
        total += sum(len(cell) for row in cells for cell in row if isinstance(cell, str | bytes))
        if total > limits.source:
            raise InputError("That database holds more than can be imported at once.", "Export a part of it.")
        with target:
            target.executemany(f"INSERT INTO {quote_name(table)} VALUES (?, ?, ?, ?)", cells)


def _sqlite_value(value: Any) -> Any:
    """As SQLite would hold it: times as text, JSON columns as their text."""
    if value is None or isinstance(value, str | bytes | int | float):
        return value
    if isinstance(value, dict | list):
        import json

        return json.dumps(value)
    return value.isoformat(" ") if hasattr(value, "isoformat") else str(value)
