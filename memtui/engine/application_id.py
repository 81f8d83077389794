"""The mark of a memory file, in the header that every SQLite file begins with. Read without SQLite: a start waits for it."""

from __future__ import annotations

APPLICATION_ID = 0x6D656D74  # "memt"
HEADER_BYTES = 72
"""As many as ``is_of_memtui`` needs."""
_SQLITE = b"SQLite format 3\0"
_AT = 68


def is_of_memtui(header: bytes) -> bool:
    """Whether a file that begins with these bytes is an SQLite file that memtui made."""
    return header.startswith(_SQLITE) and header[_AT:HEADER_BYTES] == APPLICATION_ID.to_bytes(4, "big")
