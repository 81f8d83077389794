"""Packed files: compressed session files, and ZIP archives whose members are read one by one."""

from __future__ import annotations

import gzip
import io
import zlib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import InputError
from memtui.engine.installation import command_for

from .limits import BrokenSourceError, ImportLimits, LimitError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.engine.records import Skip

from .limits import MIB

MAGIC = b"\x28\xb5\x2f\xfd"
GZIP = b"\x1f\x8b"
MAGICS = (MAGIC, GZIP)
SUFFIX = ".zst"
SUFFIXES = (SUFFIX, ".gz")
NEEDS = "packed with zstandard, which needs the package backports.zstd"
BESIDE = "packed copy of a file beside it"
_WINDOW_LOG = 27  # 128 MiB, what zstandard itself reads unless asked to trust a file


class UnpackerMissingError(InputError):
    """This Python cannot unpack zstandard."""


class UnpackedStream(io.RawIOBase):
    """The unpacked bytes of a file; ``taken`` counts the packed ones. Raises BrokenSourceError, LimitError."""

    def __init__(self, path: Path, limits: ImportLimits) -> None:
        self._path = path
        self._limits = limits
        self._count = 0
        self._damaged: tuple[type[Exception], ...] = (EOFError, OSError)
        self._unpacking: Any
        self._file = io.FileIO(path)
        try:
            gzipped = self._file.read(len(GZIP)) == GZIP
            self._file.seek(0)
            if gzipped:
                self._damaged += (zlib.error,)
                self._unpacking = gzip.GzipFile(fileobj=self._file)
            else:
                zstd = _open_zstd(path)
                self._damaged += (zstd.ZstdError,)
                options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
                self._unpacking = zstd.ZstdFile(self._file, options=options)
        except BaseException:
            self._file.close()
            raise

    @property
    def bytes_taken(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        try:
            data: bytes = self._unpacking.read1(len(view)) if view else b""
        except self._damaged as error:
            raise BrokenSourceError(f"{self._path} cannot be unpacked: {error}") from None
        self._count += len(data)
        limits = self._limits
        if self._count > max(limits.ratio_from, limits.ratio * self.bytes_taken):
            raise LimitError(f"{self._path} unpacks to more than {limits.ratio} times its size.")
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._unpacking.close()
            self._file.close()
        super().close()


def has_plain_copy(path: Path) -> bool:
    """True for a packed file whose plain one is beside it."""
    return path.suffix in SUFFIXES and path.with_suffix("").is_file()


def _open_zstd(path: Path) -> ModuleType:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise UnpackerMissingError(
        f"{path} is packed with zstandard, which this Python cannot unpack.",
        f"{command_for('backports.zstd')}, then import it again.",
    )


ARCHIVE_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")

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
def open_archive(path: Path, limits: ImportLimits) -> Iterator[zipfile.ZipFile]:
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


def archive_members(
    opened: zipfile.ZipFile, packed: int, limits: ImportLimits
) -> Iterator[zipfile.ZipInfo | Skip]:
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


def member_time(member: zipfile.ZipInfo) -> float:
    """Unix seconds; an archive keeps local time without a zone, and may keep nonsense (then 0)."""
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
