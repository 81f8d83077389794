"""Small facts about the file itself: ``memory_metadata``, a key and a text each. Not part of history."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode

import apsw

from .sql import scalar

FOLLOWED_NOT_READ = "followed_not_read"
"""A JSON list of files, each as ``name_of`` gives it."""

SYNC_GROUP, SYNCED_AT = "sync_group", "sync_at"
"""The id of the group of devices that the file is in, and when it was last synced, in Unix seconds."""

SYNC_KEPT = "sync_kept"
"""A JSON list: what the person kept when they erased something, by its name, until the other devices were told."""


def name_of(path: str) -> str:
    """A path as text, whatever bytes it has."""
    return b64encode(os.fsencode(path)).decode()


def place_of(name: str) -> str:
    return os.fsdecode(b64decode(name))


def get(connection: apsw.Connection, key: str) -> str | None:
    value: str | None = scalar(connection, "SELECT value FROM memory_metadata WHERE key = ?", (key,))
    return value


def set_value(connection: apsw.Connection, key: str, value: str) -> None:
    """Set a value, inside the caller's transaction."""
    connection.execute(
        "INSERT INTO memory_metadata(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (key, value),
    )
