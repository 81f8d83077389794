"""A table in a temporary database of SQLite's own, which spills to a nameless file on disk once its cache is full."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import apsw


class Temporary:
    """A context manager; with it the table goes. ``table``: what stands after CREATE TABLE."""

    def __init__(self, table: str) -> None:
        self._database = apsw.Connection("")
        self._database.execute("PRAGMA journal_mode = OFF").fetchall()
        self._database.execute(f"CREATE TABLE {table}")
        self._database.execute("BEGIN")  # never committed: nobody else reads it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()
