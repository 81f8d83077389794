"""Check that the files at a memory's path are the ones that its connections have open.

A program that deletes or replaces them leaves SQLite with files that have no name any more: what is written there is
lost, and what is written to the old and to the new ones damages both.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

Inode = tuple[int, int]


class Identity(NamedTuple):
    """Device and inode of the file, its write-ahead log and the log's index; None for what is not there."""

    file: Inode | None
    log: Inode | None
    shared: Inode | None


def identity(path: Path) -> Identity:
    name = os.fspath(path)
    return Identity(_inode(name), _inode(f"{name}-wal"), _inode(f"{name}-shm"))


def _inode(name: str) -> Inode | None:
    try:
        status = os.stat(name)  # noqa: PTH116 - before every write: a Path costs as much again
    except OSError:
        return None
    return status.st_dev, status.st_ino


def difference(known: Identity, now: Identity) -> str:
    """What happened to the files since they were ``known``, in words; "" if they are the same."""
    if now.file != known.file:
        return "was deleted or moved away" if now.file is None else "was replaced by another file"
    for before, after in ((known.log, now.log), (known.shared, now.shared)):
        if before is not None and before != after:
            return "lost its write-ahead log, which was " + ("deleted" if after is None else "replaced")
    return ""
