"""Limits of an import, and the errors that name them.

A file comes from outside and may be built to exhaust memory, time or disk. Each cap is checked while
streaming, before the bytes pile up; a cap that is hit ends or skips that record or that file, never the
import.
"""

from __future__ import annotations

from memtui.engine.errors import InputError
from memtui.engine.records import Record

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class ImportLimits(Record):
    """Bytes unless said otherwise.

    ``line``: the longest line of a line-based file; ``item``: the largest element of a JSON array (one
    conversation); ``depth``: brackets inside brackets; ``source``: one file or archive member, unpacked;
    ``ratio``: unpacked over packed, looked at once ``ratio_from`` bytes are exceeded; ``directory``: an
    archive's table of contents; ``files``: files in a folder or members of an archive; ``head``: what
    detection reads, extended to ``long_head`` when not even one line fits; ``steps``: instructions of SQLite for a file,
    and ``steps_per_byte`` of it besides: a schema may be built so that a query computes without end.
    """

    line: int = 32 * MIB
    item: int = 64 * MIB
    depth: int = 200
    source: int = 64 * GIB
    ratio: int = 200
    ratio_from: int = 64 * MIB
    directory: int = 16 * MIB
    files: int = 200_000
    head: int = 64 * KIB
    long_head: int = 4 * MIB
    steps: int = 1_000_000_000
    steps_per_byte: int = 200


LIMITS = ImportLimits()


class LimitError(InputError):
    """A cap was hit; the message says which and where."""


class BrokenSourceError(InputError):
    """A stream cannot be read on: a disk error, a damaged or encrypted archive member."""
