"""The input of a format: a file read as lines, as elements of a JSON array, or as rows.

Reading never fails. For a disk error, a damaged archive or a line without end it yields ``Skip`` with a reason, and goes on
with the next record or ends this stream. One record is in memory at a time.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Self, cast

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records import Record, Skip

from . import compression, databases, json_items
from .limits import LIMITS, MIB, BrokenSourceError, ImportLimits, LimitError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BOM = b"\xef\xbb\xbf"
_PEEK_BYTES = 4096
_SPREAD = re.compile(rb"\s*\{[ \t]*\r?\n")
# Given by a stream that may still grow, where it ends for now: nothing was passed over.
WAITING = Skip(reason="waiting for more")
REST = "the rest of the file cannot be read"


def strip_line(line: bytes, *, first: bool, blank: bool) -> bytes:
    """A line without its end, or with ``blank`` False without any space around it; the ``first`` without its byte order mark."""
    if first:
        line = line.removeprefix(BOM)
    return line.rstrip(b"\r\n") if blank else line.strip()


class Source(Record):
    """One stream: a file, or a ``member`` of the archive ``path``. ``size`` in bytes (of a member unpacked, of a
    ``packed`` file not), ``modified`` in Unix seconds, ``place`` is how it is called on screen.
    """

    path: Path
    size: int
    modified: float
    member: str | None = None
    packed: bool = False

    @property
    def place(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}: {self.member}"

    @property
    def stem(self) -> str:
        """The file's name without folder and last suffixes; bytes that are not UTF-8 become question marks."""
        path = self.path if self.member is None else PurePosixPath(self.member)
        stem = path.with_suffix("").stem if self.packed and path.suffix in compression.SUFFIXES else path.stem
        return stem.encode(errors="replace").decode()


class _MeteredFile(io.RawIOBase):
    """Counts what is read, and turns what a bad disk or archive raises into BrokenSourceError."""

    def __init__(self, file: BinaryIO, source: Source, limits: ImportLimits) -> None:
        self.file = file
        self.source = source
        self.limits = limits
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        try:
            data = self.file.read(len(view))
        except (OSError, *compression.ARCHIVE_ERRORS) as error:
            raise BrokenSourceError(f"{self.source.place} cannot be read: {error}") from None
        self.count += len(data)
        if self.count > self.limits.source:
            raise LimitError(f"{self.source.place} is larger than {self.limits.source // MIB:,} MB.")
        view[: len(data)] = data
        return len(data)


class Stream:
    """An open source. ``record`` numbers what was read last, from 1; ``warnings`` counts what was mended."""

    def __init__(self, source: Source, file: BinaryIO | None, limits: ImportLimits = LIMITS) -> None:
        self.source = source
        self.limits = limits
        self.record = 0
        self.warnings: Counter[str] = Counter()
        self._failure = ""
        self._rows = 0
        self._kept = ExitStack()
        self._database: apsw.Connection | None = None
        if file is not None:
            self._meter = _MeteredFile(file, source, limits)
            self._buffer = io.BufferedReader(self._meter, MIB)

    @property
    def position(self) -> int:
        """Bytes taken in so far (a little ahead of the record in hand)."""
        if isinstance(self._meter.file, compression.UnpackedStream):
            return self._meter.file.bytes_taken
        return self._meter.count + self._rows

    @property
    def place(self) -> str:
        return f"{self.source.place}:{self.record}"

    def skip(self, reason: str) -> Skip:
        """A Skip at the present record."""
        return Skip(reason=reason, place=self.place)

    def warn(self, what: str) -> None:
        self.warnings[what] += 1

    def skip_to(self, offset: int) -> None:
        """Begin with the first whole line after ``offset`` of a plain file; before anything is read."""
        self._meter.file.seek(offset)
        self._pass_over_line(self._buffer.readline(MIB))

    def lines(self, *, blank: bool = False) -> Iterator[bytes | Skip]:
        """The lines, without their ends; Skip for one that is too long.

        Blank lines and the space around the others only with ``blank``: text needs them, records do not.
        """
        longest = self.limits.line
        try:
            while line := self._buffer.readline(longest + 1):
                self.record += 1
                if len(line) > longest:
                    self._pass_over_line(line)
                    yield self.skip(f"line longer than {longest // MIB} MB")
                    continue
                line = strip_line(line, first=self.record == 1, blank=blank)
                if line or blank:
                    yield line
        except (BrokenSourceError, LimitError) as error:
            yield self._unreadable_error(error.message)

    def items(self) -> Iterator[bytes | Skip]:
        """The elements of the outermost JSON array; Skip for one that is too large, too deep or cut off."""
        for item in json_items.split(self._read_chunks(), self.limits):
            self.record += 1
            yield item if isinstance(item, bytes) else Skip(reason=item.reason, place=self.place)
        if self._failure:
            yield self._unreadable_error(self._failure)

    def records(self) -> Iterator[bytes | Skip]:
        """Lines, or the elements of an array: programs write the same records either way.

        An object that is spread over several lines is one record.
        """
        try:
            return self.items() if self.is_array or self._is_spread else self.lines()
        except (BrokenSourceError, LimitError) as error:
            return iter([self._unreadable_error(error.message)])

    @property
    def is_array(self) -> bool:
        """Whether the stream begins with a JSON array; before anything is read. Raises InputError if it cannot be."""
        return self._buffer.peek(_PEEK_BYTES)[:_PEEK_BYTES].removeprefix(BOM).lstrip().startswith(b"[")

    @property
    def _is_spread(self) -> bool:
        """Whether the stream begins with the bracket of an object that stands alone in its line."""
        return _SPREAD.match(self._buffer.peek(_PEEK_BYTES)[:_PEEK_BYTES].removeprefix(BOM)) is not None

    @property
    def is_database(self) -> bool:
        return self._buffer.peek(len(databases.MAGIC)).startswith(databases.MAGIC)

    def rows(self, sql: str, bindings: databases.Row = ()) -> Iterator[databases.Row | Skip]:
        """The rows of a query of an SQLite file, which is never written; Skip where it cannot be read on.

        A row with a text that is not UTF-8 is a Skip as well; feeds that can do with half of one cast it to BLOB.
        """
        try:
            rows = self._opened_database().execute(sql, bindings)
            while True:
                try:
                    row = next(rows)
                except StopIteration:
                    return
                except UnicodeDecodeError:
                    self.record += 1
                    yield self.skip("not text in UTF-8")
                    continue
                self.record += 1
                self._rows += sum(len(value) for value in row if isinstance(value, str | bytes))
                yield row
        except (BrokenSourceError, LimitError, apsw.Error) as error:
            yield self._unreadable_error(str(error))

    def tables(self) -> databases.Tables:
        """The tables of an SQLite file and their columns; none if it cannot be read."""
        try:
            return databases.tables_of(self._opened_database())
        except (InputError, apsw.Error):
            return {}

    def _opened_database(self) -> apsw.Connection:
        """One connection for all queries, so that they see the file at one moment. Raises InputError."""
        if self._database is None:
            self._database = self._kept.enter_context(databases.open_copy(self.source.path, self.limits))
        return self._database

    def close(self) -> None:
        """Close the database, if it is one. The file belongs to who opened it."""
        self._database = None
        self._kept.close()

    def _unreadable_error(self, cause: str) -> Skip:
        return Skip(reason=REST, place=f"{self.place} ({cause})")

    def _read_chunks(self) -> Iterator[bytes]:
        try:
            while chunk := self._buffer.read(MIB):
                yield chunk
        except (BrokenSourceError, LimitError) as error:
            self._failure = error.message

    def _pass_over_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._buffer.readline(MIB)


class SourceOpener:
    """Opens sources one after another; an archive stays open while its members are read in turn."""

    def __init__(self, limits: ImportLimits = LIMITS) -> None:
        self.limits = limits
        self._stack = ExitStack()
        self._archive: tuple[Path, zipfile.ZipFile] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def open(self, source: Source) -> Iterator[Stream]:
        """Raises InputError if the source cannot be opened (it was there when it was found)."""
        try:
            file = self._open_file(source)
        except (OSError, KeyError, *compression.ARCHIVE_ERRORS) as error:
            raise InputError(f"{source.place} cannot be opened: {error}") from None
        with file:
            stream = Stream(source, file, self.limits)
            try:
                yield stream
            finally:
                stream.close()

    def _open_file(self, source: Source) -> BinaryIO:
        if source.packed:
            return cast(BinaryIO, compression.UnpackedStream(source.path, self.limits))
        if source.member is None:
            return source.path.open("rb", buffering=0)
        if self._archive is None or self._archive[0] != source.path:
            self._stack.close()
            self._archive = (
                source.path,
                self._stack.enter_context(compression.open_archive(source.path, self.limits)),
            )
        return cast(BinaryIO, self._archive[1].open(source.member))
