"""Read a file that another program appends to: each line once, and only whole lines.

Some programs end no last line: it is taken when it is whole JSON and the file was not written for a minute.

The feed that reads it is a generator, which stays where it is while the file waits to grow: so it still knows the
header, the titles and the repeated lines of what it read before. The file itself is open only while it is read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from memtui.engine.records import Record, Skip, Turn
from memtui.engine.store.export_rows import AnyLine

from .base import Item
from .limits import LIMITS, MIB, ImportLimits
from .registry import get_format
from .stream import WAITING, Source, Stream, strip_line

_ANCHOR = 64
QUIET_SECONDS = 60.0


class FileState(Record):
    """A file at one moment: a change of any of these means that somebody wrote it."""

    size: int
    modified: int
    inode: int


class LiveStream(Stream):
    """The lines of a growing file; WAITING wherever there is no whole one yet."""

    def __init__(self, source: Source, limits: ImportLimits = LIMITS) -> None:
        super().__init__(source, None, limits)
        self.offset = 0
        # What comes before ``offset``: whoever wrote the file anew will hardly have put the same there.
        self.anchor = b""
        # The file ends with half a line, as far as is known.
        self.half = False
        self._file: BinaryIO | None = None
        self._passing_over = self._end_to_come = self._quiet = False

    def attach(self, file: BinaryIO) -> bool:
        """Read on from this file; False if it no longer holds what was read before."""
        start = self.offset - len(self.anchor)
        file.seek(start)
        if file.read(len(self.anchor)) != self.anchor:
            return False
        self._file = file
        self._quiet = time.time() - os.fstat(file.fileno()).st_mtime > QUIET_SECONDS
        return True

    def detach(self) -> None:
        self._file = None

    @property
    def is_array(self) -> bool:
        return False  # an array that grows is no JSON until it ends: such a file is read as a whole

    @property
    def _is_spread(self) -> bool:
        return False  # the same of an object over several lines

    def lines(self, *, blank: bool = False) -> Iterator[bytes | Skip]:
        while True:
            line = self._next_line()
            if isinstance(line, Skip):
                yield line
                continue
            line = strip_line(line, first=self.record == 1, blank=blank)
            if line or blank:
                yield line

    def _next_line(self) -> bytes | Skip:
        longest = self.limits.line
        file = self._file
        while file is not None:
            line = file.readline(longest + 1)
            whole, was_read = line.endswith(b"\n"), False
            if not whole and len(line) <= longest and not self._passing_over:
                was_read = self._quiet and _is_object(line)
                self.half = bool(line) and not self._quiet
                if not was_read:
                    file.seek(self.offset)  # the rest of it is still to be written
                    break
            if not line:
                break
            self.offset += len(line)
            self.anchor = (self.anchor + line[-_ANCHOR:])[-_ANCHOR:]
            ended, self._end_to_come = self._end_to_come, was_read
            if ended and not line.strip():  # the end of the line that was taken without it
                continue
            if self._passing_over:
                self._passing_over = not whole
                continue
            self.record += 1
            if len(line) > longest:
                self._passing_over = not whole
                return self.skip(f"line longer than {longest // MIB} MB")
            return line
        return WAITING


def _is_object(line: bytes) -> bool:
    """Whether a line is a whole JSON object: nothing that is written after one makes it another."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


class FileTail:
    """A file that is followed: ``read`` gives what came since the last time."""

    def __init__(self, path: Path, format: str, source: Source, limits: ImportLimits = LIMITS) -> None:
        self.path = path
        self.format = format
        self.stream = LiveStream(source, limits)
        self._records = get_format(format).read(self.stream)

    def read(self) -> Iterator[Turn | Item | AnyLine | Skip] | None:
        """None if the file was written anew and must be read from its beginning. Raises OSError."""
        file = self.path.open("rb")
        if not self.stream.attach(file):
            file.close()
            return None
        return self._read_appended(file)

    def _read_appended(self, file: BinaryIO) -> Iterator[Turn | Item | AnyLine | Skip]:
        try:
            for record in self._records:
                if record is WAITING:
                    return
                yield record
        finally:
            self.stream.detach()
            file.close()
