"""A disk without room, made without rights: SQLite's writes fail after so many bytes, Python's at once.

An APSW VFS counts what SQLite writes and then answers SQLITE_FULL, as on a full disk. Beside it the process may make
no file longer than the limit (RLIMIT_FSIZE), which is what all other writers meet, as EFBIG; with ``quota`` SQLite
meets that too, as an I/O error.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


class FullDisk:
    """``left``: how many bytes SQLite may still write; None: there is room."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.refused = 0

    def take(self, size: int) -> None:
        if self.left is None:
            return
        if size > self.left:
            self.refused += 1
            raise apsw.FullError("no room")
        self.left -= size

    @contextmanager
    def full(self, after: int = 0) -> Iterator[None]:
        """No room for SQLite after so many bytes, and none for anybody else."""
        self.left, self.refused = after, 0
        try:
            with no_longer_files(1 << 40 if after else None):
                yield
        finally:
            self.left = None


@contextmanager
def no_longer_files(limit: int | None) -> Iterator[None]:
    """The longest file that this process may write, in bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit or 0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class _File(apsw.VFSFile):
    def __init__(self, disk: FullDisk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - the name is SQLite's
        self._disk.take(len(data))
        super().xWrite(data, offset)


class _Vfs(apsw.VFS):
    def __init__(self, disk: FullDisk) -> None:
        self._disk = disk
        super().__init__("filling", "unix", makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> Any:  # noqa: N802
        return _File(self._disk, name, flags)


@contextmanager
def small_disk() -> Iterator[FullDisk]:
    """Every database that is opened inside lives on this disk."""
    disk = FullDisk()
    vfs = _Vfs(disk)
    try:
        yield disk
    finally:
        vfs.unregister()
