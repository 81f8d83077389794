"""What sync needs of a place where batches lie: five calls on named objects.

A name is a path of words ("batches/laptop-1a2b/0000000007", "group/0001"). Objects are small (``MOST_BYTES``), written whole,
and never changed but by their owner. A store is not trusted: what it gives is verified by who reads it.
"""

from __future__ import annotations

import re
from typing import Protocol

from memtui.engine.errors import DegradedError, InputError

MOST_BYTES = 64 << 20
"""A larger object is not read: no batch is that large, so somebody else wrote it."""
_LONGEST = 200
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*(?:\.json)?")
_FOLDER = re.compile(r"(?:[A-Za-z0-9_-]+/)*")


class SyncStoreError(DegradedError):
    """The store cannot be reached or used now. Nothing was lost: what waits is sent later."""


class LargeObjectError(SyncStoreError):
    """An object has more than ``MOST_BYTES``."""


class SyncStore(Protocol):
    """A place for batches. Every call raises SyncStoreError where it cannot be reached or refuses, InputError for a bad name."""

    url: str
    """What the store is called on screens and in logs: without user, password and parameters."""

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Write a new object, whole or not at all, on the disk when this returns; False if there is one of this name, which
        stays as it is."""

    def get(self, name: str) -> bytes | None:
        """The bytes of an object; None if there is none. Raises LargeObjectError."""

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        """The whole names in a folder (``prefix`` ends with "/", or is empty) and in those below that come after ``after``, in
        the order of their bytes.

        Names that no store of memtui gives (conflict copies, partial files) are left out.
        """

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in the place of what is there, whole or not at all: only its owner does that."""

    def delete(self, name: str) -> None:
        """Delete an object; nothing happens if there is none. The place may keep older versions by itself."""

    def close(self) -> None:
        """Release connections."""


def checked_name(name: str) -> str:
    """The name. Raises InputError for one that no object may have."""
    if not is_name(name):
        raise InputError(f"{name!r} is no name of an object of a sync store.", "")
    return name


def checked_prefix(prefix: str) -> str:
    """The folder, which ends with a slash or is empty. Raises InputError."""
    if len(prefix) > _LONGEST or not _FOLDER.fullmatch(prefix):
        raise InputError(f"{prefix!r} is no folder of a sync store.", "")
    return prefix


def is_name(name: str) -> bool:
    """Whether it is a name that memtui gives."""
    return len(name) <= _LONGEST and _NAME.fullmatch(name) is not None


def large_object_error(name: str, size: int) -> LargeObjectError:
    return LargeObjectError(
        f"{name} has {size / 1e6:,.0f} MB, more than any batch.", "It was not read. Remove it from the store."
    )
