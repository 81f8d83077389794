"""A file of lines that somebody is still writing: read on where reading ended, never twice, never half a line.

The feed that reads it is a generator, which stays where it is while the file waits to grow: so it still knows the
header, the titles and the repeated lines of what it read before. The file itself is open only while it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..records import Record, Skip, Turn
from ..store.portable import AnyLine
from .detect import feed_named
from .items import Item
from .limits import LIMITS, MIB, Limits
from .source import BOM, WAITING, Source, Stream

_ANCHOR = 64


class Mark(Record):
    """A file at one moment: a change of any of these means that somebody wrote it."""

    size: int
    modified: int
    inode: int


class LiveStream(Stream):
    """The lines of a growing file; WAITING wherever there is no whole one yet."""

    def __init__(self, source: Source, limits: Limits = LIMITS) -> None:
        super().__init__(source, None, limits)
        self.offset = 0
        # What stands before ``offset``: whoever wrote the file anew will hardly have put the same there.
        self.anchor = b""
        self._file: BinaryIO | None = None
        self._passing_over = False

    def attach(self, file: BinaryIO) -> bool:
        """Read on from this file; False if it no longer holds what was read before."""
        start = self.offset - len(self.anchor)
        file.seek(start)
        if file.read(len(self.anchor)) != self.anchor:
            return False
        self._file = file
        return True

    def detach(self) -> None:
        self._file = None

    def lines(self, *, blank: bool = False) -> Iterator[bytes | Skip]:
        while True:
            line = self._line()
            if isinstance(line, Skip):
                yield line
                continue
            if self.record == 1:
                line = line.removeprefix(BOM)
            line = line.rstrip(b"\r\n") if blank else line.strip()
            if line or blank:
                yield line

    def _line(self) -> bytes | Skip:
        longest = self.limits.line
        file = self._file
        while file is not None:
            line = file.readline(longest + 1)
            whole = line.endswith(b"\n")
            if not whole and len(line) <= longest and not self._passing_over:
                file.seek(self.offset)  # the rest of it is still to be written
                break
            if not line:
                break
            self.offset += len(line)
            self.anchor = (self.anchor + line[-_ANCHOR:])[-_ANCHOR:]
            if self._passing_over:
                self._passing_over = not whole
                continue
            self.record += 1
            if len(line) > longest:
                self._passing_over = not whole
                return self.skip(f"line longer than {longest // MIB} MB")
            return line
        return WAITING


class Tail:
    """A file that is followed: ``read`` gives what came since the last time."""

    def __init__(self, path: Path, format: str, source: Source, limits: Limits = LIMITS) -> None:
        self.path = path
        self.format = format
        self.stream = LiveStream(source, limits)
        self._records = feed_named(format).read(self.stream)

    def read(self) -> Iterator[Turn | Item | AnyLine | Skip] | None:
        """None if the file was written anew and must be read from its beginning. Raises OSError."""
        file = self.path.open("rb")
        if not self.stream.attach(file):
            file.close()
            return None
        return self._pull(file)

    def _pull(self, file: BinaryIO) -> Iterator[Turn | Item | AnyLine | Skip]:
        try:
            for record in self._records:
                if record is WAITING:
                    return
                yield record
        finally:
            self.stream.detach()
            file.close()
