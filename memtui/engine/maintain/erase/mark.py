"""How far an erase has come: a row of ``memory_metadata``, without a word of what is erased."""

from __future__ import annotations

import apsw
import msgspec

from memtui.engine.records import Record
from memtui.engine.store import metadata
from memtui.engine.store.erased import UNFINISHED
from memtui.engine.store.sql import json_text

from .records import Request
from .traces import Trace


class Mark(Record):
    """An erase that is not finished. ``ids`` once the file no longer holds them; until then ``request`` finds them.

    ``memories`` is how many, ``at`` when it was begun, Unix seconds. ``traces``: of what to look for in the files,
    when nobody knows it any more.
    """

    request: Request
    memories: int
    at: int
    ids: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()


def read(connection: apsw.Connection) -> Mark | None:
    text = metadata.get(connection, UNFINISHED)
    return msgspec.json.decode(text, type=Mark) if text else None


def put(connection: apsw.Connection, mark: Mark) -> None:
    metadata.put(connection, UNFINISHED, json_text(mark))


def remove(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM memory_metadata WHERE key = ?", (UNFINISHED,))
