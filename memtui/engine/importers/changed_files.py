"""Find the files of some places that changed since the last look, by their times and sizes.

A folder is listed again only when its own time changes (something was added or removed). A file that was written of
late is looked at every time, all others now and then.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import apsw
import msgspec

from memtui.engine.store import metadata
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import json_text, scalar

from . import lock
from .counters import DistinctCounter
from .live import FileState

# Files written within this time are looked at every time, the others every so many looks.
_WARM_SECONDS = 3_600
_LOOKS_PER_FULL_LOOK = 15
_MOST_FILES = 200_000
_SUFFIXES = (".jsonl", ".ndjson")
_LOG = "-wal"


class FileChanges:
    """``since``: Unix seconds; files that were written before it are taken for known (None: none are)."""

    def __init__(self, places: Sequence[Path], since: float | None) -> None:
        self._places = places
        self._since = since
        self._folders: dict[str, int] = {}
        self._files: dict[str, FileState | None] = {}
        self._wanted: set[str] = set()
        self._looks = 0

    @property
    def files(self) -> int:
        return len(self._files)

    def find_changed(self) -> list[Path]:
        """Files that are new or were written, the oldest first. ``forget`` one that could not be read."""
        self._looks += 1
        for folder, before in list(self._folders.items()):
            if _changed_time(folder) != before:
                self._list_folder(folder)
        for place in self._places:
            if str(place) not in self._folders:
                self._add_path(place)
        everything = self._looks % _LOOKS_PER_FULL_LOOK == 1
        newest_cold = (time.time() - _WARM_SECONDS) * 1e9
        changed: list[tuple[int, str]] = []
        for name, known in list(self._files.items()):
            if (
                not everything
                and known is not None
                and known.modified < newest_cold
                and name not in self._wanted
            ):
                continue
            mark = _file_mark(name)
            if mark is None:
                if known is not None:
                    self._files[name] = None  # gone; it may come back
                continue
            if mark != known or name in self._wanted:
                first = known is None and self._looks == 1
                self._files[name] = mark
                if name in self._wanted or not (
                    first and self._since is not None and mark.modified < self._since * 1e9
                ):
                    changed.append((mark.modified, name))
        self._wanted.clear()
        return [Path(name) for _, name in sorted(changed)]

    def forget(self, path: Path) -> None:
        """Let it count as changed at the next look."""
        self._files[str(path)] = None

    def watch_path(self, path: Path) -> bool:
        """Report this path as changed at the next look, however old it is. Returns whether it is watched."""
        self._wanted.add(str(path))
        return str(path) in self._files

    def _add_path(self, path: Path) -> None:
        if path.is_dir():
            self._list_folder(str(path))
        else:
            self._files.setdefault(str(path), None)

    def _list_folder(self, folder: str) -> None:
        """Note what is in a folder; what is gone from it is forgotten, folders with all that they held."""
        at = _changed_time(folder)
        if at is None:
            self._folders.pop(folder, None)
            for name in [name for name in self._files if os.path.dirname(name) == folder]:  # noqa: PTH120
                del self._files[name]
            return
        self._folders[folder] = at
        names = set()
        for entry in _folder_entries(folder):
            if _is_folder(entry):
                if entry.path not in self._folders:
                    self._list_folder(entry.path)
            elif entry.name.endswith(_SUFFIXES) and len(self._files) < _MOST_FILES:
                names.add(entry.path)
                self._files.setdefault(entry.path, None)
        for name in [name for name in self._files if os.path.dirname(name) == folder and name not in names]:  # noqa: PTH120
            del self._files[name]


def _folder_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _changed_time(folder: str) -> int | None:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116
    except OSError:
        return None


def _file_mark(name: str) -> FileState | None:
    """None if there is no such file, or something else than a file. What is copied in is as new as its arrival."""
    try:
        status = os.stat(name)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    modified = max(status.st_mtime_ns, status.st_ctime_ns)
    size = status.st_size
    if not name.endswith(_SUFFIXES):
        try:
            log = os.stat(name + _LOG)  # noqa: PTH116
            modified, size = max(modified, log.st_mtime_ns), size + log.st_size
        except OSError:
            pass
    return FileState(size=size, modified=modified, inode=status.st_ino)


# How far the clock of a file system may lag behind.
_SLACK_SECONDS = 3.0


class ReadMarks:
    """The notes on ``places`` (absolute paths of files and folders). Times are Unix seconds."""

    def __init__(self, connections: Connections, places: Sequence[Path]) -> None:
        self._connections = connections
        self._places = places

    def all_read_at(self) -> float | None:
        """When all of the places had been read to their end; None if one of them never was."""
        with self._connections.read() as connection:
            noted = [metadata.get(connection, _metadata_key(place)) for place in self._places]
        times = [float(text) for text in noted if text]
        return min(times) - _SLACK_SECONDS if times and len(times) == len(noted) else None

    def unread_files(self) -> list[Path]:
        """Files of these places that could not be read when reading ended."""
        with self._connections.read() as connection:
            return [path for path in _unread_files(connection) if self._is_watched(path)]

    def mark_read(self, at: float, unread_files: Iterable[Path]) -> None:
        """At ``at`` all had been read but the files that are ``left``."""
        with self._connections.write() as connection:
            for place in self._places:
                metadata.set_value(connection, _metadata_key(place), repr(at))
            others = [path for path in _unread_files(connection) if not self._is_watched(path)]
            names = [metadata.name_of(str(path)) for path in (*others, *unread_files)]
            metadata.set_value(connection, metadata.FOLLOWED_NOT_READ, json_text(names))

    def _is_watched(self, path: Path) -> bool:
        return any(path.is_relative_to(place) for place in self._places)


def _unread_files(connection: apsw.Connection) -> list[Path]:
    text = metadata.get(connection, metadata.FOLLOWED_NOT_READ)
    names = msgspec.json.decode(text, type=list[str]) if text else []
    return [Path(metadata.place_of(name)) for name in names]


def _metadata_key(path: Path) -> str:
    return "followed:" + str(path).encode(errors="backslashreplace").decode()


class UndoneImports(DistinctCounter):
    """The source keys of such rows, for as long as history knows them; a context manager."""

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self._connections = connections
        self._until = 0

    def load_undone(self) -> None:
        """Take in what was undone since the last look. What was done again is in the memory, whatever this says."""
        with self._connections.read() as connection:
            latest = scalar(connection, "SELECT coalesce(max(op_id), 0) FROM ops WHERE kind = 'undo'")
            if latest == self._until:
                return
            for (key,) in connection.execute(
                """
                SELECT c.before ->> 'source_key' FROM ops u JOIN ops i ON i.op_id = u.undoes
                CROSS JOIN changes c ON c.op_id = u.op_id AND c.tbl = 'memories'
                WHERE u.kind = 'undo' AND u.state = 'done' AND u.op_id > ? AND i.kind = ?
                  AND c.act = 'delete' AND c.before ->> 'source_key' IS NOT NULL
                """,
                (self._until, lock.KIND),
            ):
                self.add_new(str(key))
            self._until = latest
