"""The first line of a stored object: what it is, and how many bytes follow.

A client that mirrors a folder may write a file in place, so that others see its beginning first. By its length such an object
is told from a damaged one. The line is not authenticated: who changes it only changes what is said of the object.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FORMAT = 1
_LINE = re.compile(rb"memtui-([a-z-]{1,20}) (\d{1,3}) (\d{1,10}) (\d{1,10})\n")
_BEGINNING = re.compile(rb"memtui-[a-z-]{1,20}( \d{0,10}){0,3}")


class Frame(NamedTuple):
    """``kind``: "age", "plain" (batches), "group", "group-plain" (its changes). ``number``: of the epoch, or the change."""

    kind: str
    format: int
    number: int
    content: bytes


class PartialError(Exception):
    """Not all of an object is there. Its text says how much is."""


def frame(kind: str, number: int, content: bytes) -> bytes:
    return b"memtui-%s %d %d %d\n" % (kind.encode(), FORMAT, number, len(content)) + content


def unframe(data: bytes) -> Frame | None:
    """What an object is, of whatever format; None where it is nothing of memtui's. Raises PartialError where more must come."""
    found = _LINE.match(data)
    if found is None:
        if b"memtui-".startswith(data) or _BEGINNING.fullmatch(data):
            raise PartialError(f"only its first {len(data)} bytes are here")
        return None
    content, whole = data[found.end() :], int(found[4])
    if len(content) < whole:
        raise PartialError(f"{len(content):,} of its {whole:,} bytes are here")
    return Frame(found[1].decode(), int(found[2]), int(found[3]), content) if len(content) == whole else None
