"""Files packed with zstandard or gzip, unpacked as they are read and never to disk.

Python has zstandard from 3.14 on, for older ones a package brings the same module. A packed file can be built
to unpack to terabytes or to ask for gigabytes of window: both are capped before the bytes are made.
"""

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

from .limits import BrokenSourceError, LimitError, Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC = b"\x28\xb5\x2f\xfd"
GZIP = b"\x1f\x8b"
MAGICS = (MAGIC, GZIP)
SUFFIX = ".zst"
SUFFIXES = (SUFFIX, ".gz")
NEEDS = "packed with zstandard, which needs the package backports.zstd"
BESIDE = "packed copy of a file beside it"
_WINDOW_LOG = 27  # 128 MiB, what zstandard itself reads unless told to trust a file


class UnpackerMissingError(InputError):
    """This Python cannot unpack zstandard."""


class UnpackedStream(io.RawIOBase):
    """The unpacked bytes of a file; ``taken`` counts the packed ones. Raises BrokenSourceError, LimitError."""

    def __init__(self, path: Path, limits: Limits) -> None:
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
                zstd = _zstd(path)
                self._damaged += (zstd.ZstdError,)
                options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
                self._unpacking = zstd.ZstdFile(self._file, options=options)
        except BaseException:
            self._file.close()
            raise

    @property
    def taken(self) -> int:
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
        if self._count > max(limits.ratio_from, limits.ratio * self.taken):
            raise LimitError(f"{self._path} unpacks to more than {limits.ratio} times its size.")
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._unpacking.close()
            self._file.close()
        super().close()


def copies(path: Path) -> bool:
    """True for a packed file whose plain one is beside it."""
    return path.suffix in SUFFIXES and path.with_suffix("").is_file()


def _zstd(path: Path) -> ModuleType:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise UnpackerMissingError(
        f"{path} is packed with zstandard, which this Python cannot unpack.",
        f"{command_for('backports.zstd')}, then import it again.",
    )
