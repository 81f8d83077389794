"""Tells distinct texts from repeated ones exactly, whatever their number, in a few megabytes of memory.

A dry run must know which turns it has met, as the memory will when it is no dry run.
"""

from __future__ import annotations

from hashlib import blake2b

from memtui.engine.store.sql import TemporaryTable


class DistinctCounter(TemporaryTable):
    """A set of texts that can only grow; a context manager."""

    def __init__(self) -> None:
        super().__init__("met(digest BLOB PRIMARY KEY) WITHOUT ROWID")

    def add(self, text: str) -> bool:
        """True if the text was not there yet."""
        self._database.execute("INSERT INTO met(digest) VALUES (?) ON CONFLICT DO NOTHING", (_digest(text),))
        return self._database.changes() > 0

    def has(self, text: str) -> bool:
        found = self._database.execute("SELECT 1 FROM met WHERE digest = ?", (_digest(text),))
        return found.fetchone() is not None


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
