"""Memories served in running conversations, so that later processes of a hook do not repeat them."""

from __future__ import annotations

from zlib import crc32

import apsw
import msgspec

from .sql import scalar

_KEPT_SECONDS = 30 * 86_400
_MOST_LINES = 500
_MOST_SESSIONS = 200


def begin(connection: apsw.Connection, session_id: str, now: int) -> None:
    """The context of a session begins, or was made shorter: nothing stands in it. Inside the caller's transaction."""
    save(connection, session_id, {}, now)
    connection.execute(
        """
        DELETE FROM served_contexts WHERE at < ?1 OR session NOT IN (
            SELECT session FROM served_contexts ORDER BY at DESC LIMIT ?2)
        """,
        (now - _KEPT_SECONDS, _MOST_SESSIONS),
    )


def lines(connection: apsw.Connection, session_id: str) -> dict[int, int] | None:
    """The checksum of the line of each memory (by rid) that was served; None where the beginning was not seen."""
    kept = scalar(connection, "SELECT lines FROM served_contexts WHERE session = ?", (_number(session_id),))
    return None if kept is None else msgspec.json.decode(kept, type=dict[int, int])


def save(connection: apsw.Connection, session_id: str, served: dict[int, int], now: int) -> None:
    """Note what stands in the context now, inside the caller's transaction; of very much only what was served last."""
    latest = dict(list(served.items())[-_MOST_LINES:])
    connection.execute(
        "INSERT INTO served_contexts(session, at, lines) VALUES (?, ?, ?) "
        "ON CONFLICT(session) DO UPDATE SET at = excluded.at, lines = excluded.lines",
        (_number(session_id), now, msgspec.json.encode(latest).decode()),
    )


def _number(session_id: str) -> int:
    """62 bits; the name itself is somebody's words."""
    raw = session_id.encode("utf-8", "replace")
    return crc32(raw) << 30 ^ crc32(raw[::-1])
