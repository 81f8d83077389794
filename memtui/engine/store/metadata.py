"""Small facts about the file itself: ``memory_metadata``, a key and a text each. Not part of history."""

from __future__ import annotations

import apsw

from .sql import scalar


def get(connection: apsw.Connection, key: str) -> str | None:
    value: str | None = scalar(connection, "SELECT value FROM memory_metadata WHERE key = ?", (key,))
    return value


def put(connection: apsw.Connection, key: str, value: str) -> None:
    """Set a value, inside the caller's transaction."""
    connection.execute(
        "INSERT INTO memory_metadata(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (key, value),
    )
