"""Numbers of memories that jobs moved to the Trash on each local date. The daily cap needs them."""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.store import metadata
from memtui.engine.store.sql import json_text

_DATES_KEPT = 14


def used(connection: apsw.Connection, key: str, date: str) -> int:
    """How many went on a local date; ``key`` names the count."""
    return _counts(connection, key).get(date, 0)


def add(connection: apsw.Connection, key: str, date: str, number: int) -> None:
    """So many more went; inside the caller's transaction."""
    counts = _counts(connection, key)
    counts[date] = counts.get(date, 0) + number
    metadata.put(connection, key, json_text(dict(sorted(counts.items())[-_DATES_KEPT:])))


def _counts(connection: apsw.Connection, key: str) -> dict[str, int]:
    stored = metadata.get(connection, key)
    return msgspec.json.decode(stored, type=dict[str, int]) if stored else {}
