"""What the memory notes of the places that are followed: until when all was read, and what could not be read.

Rows of ``memory_metadata``: a time for each place; one list of files for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw
import msgspec

from memtui.engine.store import metadata
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import json_text

# How far the clock of a file system may lag behind.
_SLACK = 3.0


class ReadMarks:
    """The notes on ``places`` (absolute paths of files and folders). Times are Unix seconds."""

    def __init__(self, connections: Connections, places: Sequence[Path]) -> None:
        self._connections = connections
        self._places = places

    def until(self) -> float | None:
        """When all of the places had been read to their end; None if one of them never was."""
        with self._connections.read() as connection:
            noted = [metadata.get(connection, _key(place)) for place in self._places]
        times = [float(text) for text in noted if text]
        return min(times) - _SLACK if times and len(times) == len(noted) else None

    def left(self) -> list[Path]:
        """Files of these places that could not be read when reading ended."""
        with self._connections.read() as connection:
            return [path for path in _left(connection) if self._is_ours(path)]

    def note(self, at: float, left: Iterable[Path]) -> None:
        """At ``at`` all had been read but the files that are ``left``."""
        with self._connections.write() as connection:
            for place in self._places:
                metadata.put(connection, _key(place), repr(at))
            others = [path for path in _left(connection) if not self._is_ours(path)]
            names = [metadata.name_of(str(path)) for path in (*others, *left)]
            metadata.put(connection, metadata.FOLLOWED_NOT_READ, json_text(names))

    def _is_ours(self, path: Path) -> bool:
        return any(path.is_relative_to(place) for place in self._places)


def _left(connection: apsw.Connection) -> list[Path]:
    text = metadata.get(connection, metadata.FOLLOWED_NOT_READ)
    names = msgspec.json.decode(text, type=list[str]) if text else []
    return [Path(metadata.place_of(name)) for name in names]


def _key(place: Path) -> str:
    return "followed:" + str(place).encode(errors="backslashreplace").decode()
