"""Archives: which members may be opened, and opening one, without trusting what the archive says.

Exports come as zip files, and a zip file can be built to unpack to terabytes, to list millions of members or
to overlap them. Members are read in place, one stream at a time; nothing is ever unpacked to disk.
"""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.engine.errors import InputError
from memtui.engine.records import Skip

from .limits import MIB, LimitError, Limits

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")

# What a damaged, encrypted or unsupported archive raises, while opening it or in the middle of a read.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)

_ENCRYPTED = 0x1
# bzip2 and lzma unpack a block of any size in one go, so a cap while streaming would come too late.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class _CappedFile(io.BufferedReader):
    """A file whose single reads are capped: the table of contents of an archive is one read."""

    cap = 16 * MIB

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            data = super().read(self.cap + 1)
            if len(data) > self.cap:
                raise LimitError("The archive's table of contents is too large to read.")
            return data
        if size > self.cap:
            raise LimitError("The archive's table of contents is too large to read.")
        return super().read(size)


@contextmanager
def archive(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """Open an archive for reading.

    Raises InputError (with the archive's path) if it is damaged or too large, OSError if it cannot be opened.
    """
    with _CappedFile(io.FileIO(path)) as file:
        file.cap = limits.directory
        try:
            opened = zipfile.ZipFile(file)
        except LimitError as error:
            raise LimitError(
                f"{path}: {error.message}", "Unpack it yourself and import the folder."
            ) from None
        except ARCHIVE_ERRORS as error:
            raise InputError(
                f"{path} is not a usable zip file: {error}",
                "It may be an incomplete download: fetch it again.",
            ) from None
        with opened:
            yield opened


def members(opened: zipfile.ZipFile, packed: int, limits: Limits) -> Iterator[zipfile.ZipInfo | Skip]:
    """The members that may be opened, in the archive's order; for the others, why not.

    ``packed`` is the archive's own size: what is let through unpacks to at most ``limits.ratio`` times that,
    counting bytes that several members share as often as they are used.
    """
    left = max(packed * limits.ratio, limits.ratio_from)
    for count, member in enumerate(opened.infolist(), 1):
        if count > limits.files:
            yield Skip(reason=f"more than {limits.files:,} members in one archive")
            return
        if member.is_dir():
            continue
        size = member.file_size
        if member.flag_bits & _ENCRYPTED:
            yield Skip(reason="encrypted", place=member.filename)
        elif member.compress_type not in _METHODS:
            yield Skip(reason="packed in a way that is not read", place=member.filename)
        elif size > limits.source:
            yield Skip(reason=f"larger than {limits.source // MIB:,} MB", place=member.filename)
        elif size > min(left, max(limits.ratio_from, limits.ratio * member.compress_size)):
            yield Skip(reason=f"unpacks to more than {limits.ratio} times its size", place=member.filename)
        else:
            left -= size
            yield member


def modified(member: zipfile.ZipInfo) -> float:
    """Unix seconds; an archive keeps local time without a zone, and may keep nonsense (then 0)."""
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
