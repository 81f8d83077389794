"""Estimate how much of a known place is new, without reading all of it.

Sessions are counted by the names of their files, which are their ids; a session that the memory has is grown when its
file was written after its last turn and ends with a turn that is not there. Turns are read for a fraction of a second,
spread evenly, and the rest is estimated: ``exact`` says whether all of it was read.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import Turn
from memtui.engine.records.exchange import KnownSource, SourceProbe
from memtui.engine.store import tombstones
from memtui.engine.store.connections import Connections

from .base import Note
from .compression import SUFFIX
from .detect import DetectedSource, find_sources, identify_memory_files
from .known_places import SessionFile, deletion_threshold, session_files
from .registry import get_format
from .stream import Source, SourceOpener
from .turns import is_cross_source_duplicate, known_keys

PROBE_SECONDS = 0.3
_MAX_BYTES = 16 << 20
# How much of a file's end is looked at for its last turns; more where there are only outputs of tools.
_TAIL_BYTES = (64 << 10, 1 << 20, 16 << 20)
# Formats whose records have ids, so that a turn is known without those before it.
_KEYED_FORMATS = ("claude-code",)
# Folders whose files are not sessions, or not called after them.
_NOTE_FORMATS = frozenset({"basic-memory", "claude-memory", "gemini-cli", "opencode"})
_MAX_SAMPLE_FILES = 40
# A program writes a file some time after the last turn that it holds.
_LATE_SECONDS = 120
_MIN_ROUNDED = 50
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


def probe_sources(
    connections: Connections | None, sources: Sequence[KnownSource], clock: Clock
) -> Iterator[SourceProbe]:
    """Look at each source, one after another, for about ``PROBE_SECONDS``; without a memory everything is new.

    The files of the memory itself are never opened.
    """
    own = identify_memory_files(connections.path if connections else None)
    for source in sources:
        try:
            status = source.path.stat()
        except OSError:
            continue
        if (status.st_dev, status.st_ino) not in own:
            yield _SourceProbe(connections, source, clock()).run()


class _SourceProbe:
    def __init__(self, connections: Connections | None, source: KnownSource, now: float) -> None:
        self._connections = connections
        self._source = source
        self._now = now
        self._until = math.inf
        self._read = self._size = 0
        self._problem = ""

    def run(self) -> SourceProbe:
        source = self._source
        files = session_files(source)
        talks = [file for file in files if not _is_subagent_file(file.path)]
        with_sessions = source.path.is_dir() and source.format not in _NOTE_FORMATS
        new, grown = self._unknown_files(talks) if with_sessions else ([], [])
        self._until, self._read = time.monotonic() + PROBE_SECONDS, 0
        turns, new_turns, exact = self._count_turns(files)
        if exact and not new_turns:
            new, grown = [], []  # what was written since holds no turns
        before = deletion_threshold(source, self._now)
        missing = {file.path for file in (*new, *grown)}
        return SourceProbe(
            source=source,
            sessions=len(talks) if with_sessions else None,
            new_sessions=len(new),
            grown_sessions=len(grown),
            turns=turns,
            new_turns=new_turns,
            exact=exact,
            problem=self._problem if not turns else "",
            expiring_new=0
            if before is None
            else sum(file.modified < before for file in files if file.path in missing),
        )

    # -- sessions

    def _unknown_files(self, files: list[SessionFile]) -> tuple[list[SessionFile], list[SessionFile]]:
        """Those whose session the memory does not have, and those that went on since."""
        names = {file.path: f"{self._source.format}:{_session_id_in_name(file.path)}" for file in files}
        last = self._last_seen_turns(list(names.values()))
        new = [file for file in files if names[file.path] not in last]
        later = [
            file
            for file in files
            if names[file.path] in last and file.modified > last[names[file.path]] + _LATE_SECONDS
        ]
        return new, [file for file in later if self._has_new_end(file)]

    def _last_seen_turns(self, sessions: list[str]) -> dict[str, float]:
        if self._connections is None:
            return {}
        with self._connections.read() as connection:
            rows = connection.execute(
                "SELECT session_id, last_seen_at FROM sessions_consolidations "
                "WHERE session_id IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(sessions).decode(errors="replace"),),
            ).fetchall()
        return {str(name): float(str(at)) for name, at in rows}

    def _has_new_end(self, file: SessionFile) -> bool:
        """Whether the last turns of a file are missing."""
        if file.path.suffix == SUFFIX or self._source.format not in _KEYED_FORMATS:
            return True
        for tail in _TAIL_BYTES:
            records = list(self._read_records(file, skip_to=max(0, file.size - tail)))
            if records or tail >= file.size:
                break
        return self._count_missing(records[-3:]) > 0

    # -- turns

    def _count_turns(self, files: list[SessionFile]) -> tuple[int, int, bool]:
        """How many there are and how many are missing, and whether all were read."""
        turns = missing = read = whole = 0
        for file in _sample_files(files):
            some: list[Turn | Note] = []
            before = self._read
            ended = True
            for record in self._read_records(file):
                some.append(record)
                if time.monotonic() > self._until or self._read > _MAX_BYTES:
                    ended = False
                    break
            turns += len(some)
            missing += self._count_missing(some)
            read += max(1, self._read - before)
            whole += ended
            if not ended or time.monotonic() > self._until or self._read > _MAX_BYTES:
                break
        if whole == len(files):
            return turns, missing, True
        total = sum(file.size for file in files) if self._source.path.is_dir() else self._size
        scale = max(1.0, total / max(read, 1))
        return _round_to_two_digits(turns * scale), _round_to_two_digits(missing * scale), False

    def _read_records(self, file: SessionFile, *, skip_to: int = 0) -> Iterator[Turn | Note]:
        """What is in a file, until the time is up; ``_read`` grows by the bytes that were taken in."""
        streams = self._open_streams(file)
        self._size = sum(each.source.size for each in streams)
        with SourceOpener() as opener:
            for each in streams:
                with suppress(InputError), opener.open(each.source) as stream:
                    if skip_to:
                        stream.skip_to(skip_to)
                    before = self._read
                    for record in get_format(each.format).read(stream):
                        self._read = before + stream.position
                        if isinstance(record, Turn | Note):
                            yield record
                        elif time.monotonic() > self._until:
                            break
                    self._read = before + stream.position

    def _open_streams(self, file: SessionFile) -> Sequence[DetectedSource]:
        if self._source.path.is_dir():
            packed = file.path.suffix == SUFFIX
            one = Source(path=file.path, size=file.size, modified=file.modified, packed=packed)
            return (DetectedSource(format=self._source.format, source=one),)
        try:
            return find_sources([file.path]).sources
        except InputError as error:
            self._problem = error.message
            return ()

    def _count_missing(self, records: Sequence[Turn | Note]) -> int:
        """How many of them the memory does not have."""
        if self._connections is None or not records:
            return len(records)
        keys = [record.source_key for record in records]
        with self._connections.read() as connection:
            stored_keys = known_keys(connection, keys) | tombstones.erased_among(connection, keys)
            duplicates = sum(
                is_cross_source_duplicate(connection, record)
                for record in records
                if isinstance(record, Turn) and record.source_key not in stored_keys
            )
        return sum(key not in stored_keys for key in keys) - duplicates


def _sample_files(files: list[SessionFile]) -> Iterator[SessionFile]:
    """All of them where they are few, else some from the oldest to the newest; the same ones every time."""
    step = max(1, len(files) // _MAX_SAMPLE_FILES)
    yield from files[::step]
    if step > 1:
        yield from (file for number, file in enumerate(files) if number % step)


def _is_subagent_file(path: Path) -> bool:
    """A subagent's file: its session is its parent's."""
    return path.name.startswith("agent-") or path.parent.name == "subagents"


def _session_id_in_name(path: Path) -> str:
    """The id in a session file's name."""
    stem = path.name.removesuffix(SUFFIX).removesuffix(".jsonl")
    match = _ID.search(stem)
    return (match[0] if match else stem).encode(errors="replace").decode()


def _round_to_two_digits(number: float) -> int:
    """Two digits: more would promise too much."""
    digits = len(str(int(number))) - 2 if number >= _MIN_ROUNDED else 0
    return int(round(number, -digits))
