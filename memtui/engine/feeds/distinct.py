"""Tells distinct texts from repeated ones exactly, whatever their number, in a few megabytes of memory.

A dry run must know which turns it has met, as the memory will when it is no dry run. Digests of the texts go
into a temporary database of SQLite's own, which spills to a nameless file on disk once its cache is full.
"""

from __future__ import annotations

from hashlib import blake2b
from types import TracebackType
from typing import Self

import apsw


class Distinct:
    """A set of texts that can only grow; a context manager."""

    def __init__(self) -> None:
        self._database = apsw.Connection("")
        self._database.execute("PRAGMA journal_mode = OFF").fetchall()
        self._database.execute("CREATE TABLE met(digest BLOB PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("BEGIN")  # never committed: nobody else reads it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()

    def add(self, text: str) -> bool:
        """True if the text was not there yet."""
        digest = blake2b(text.encode(), digest_size=16).digest()
        self._database.execute("INSERT INTO met(digest) VALUES (?) ON CONFLICT DO NOTHING", (digest,))
        return self._database.changes() > 0
