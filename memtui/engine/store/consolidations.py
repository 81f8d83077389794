"""Progress of consolidation in each session: pending, due and failed sessions, and the last consolidated turn."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from memtui.engine.records import BY_RULES, MemoryRecord, Session

from . import memories, sessions
from .sql import scalar

ATTEMPTS = 5
_FIRST_WAIT, _LONGEST_WAIT = 60, 6 * 3_600

# Over: idle for long enough, or its source has started another one since. A time that cannot be (imported files
# have such) says nothing: it would keep the session open for as long.
_OVER = f"""(s.last_seen_at <= :now - {sessions.IDLE_SECONDS} OR s.last_seen_at > :now + 86400 OR EXISTS (
    SELECT 1 FROM sessions_consolidations n
    WHERE n.source IS s.source AND n.sid > s.sid AND n.first_seen_at >= s.last_seen_at))"""
_MAY_TRY = f"""(s.attempts = 0 OR (s.attempts < {ATTEMPTS} AND coalesce(s.next_attempt_at, 0) <= :now))"""


def pending_sessions(
    connection: apsw.Connection, now: float, *, exclude: str | None = None, due: bool = False
) -> list[Session]:
    """Sessions with turns beyond their watermark, oldest first.

    ``due`` leaves out those that are still going on, that wait after a failure, or that need attention.
    """
    rows = connection.execute(
        f"""
        SELECT {sessions.COLUMNS} FROM sessions_consolidations s
        WHERE {sessions.PENDING} AND (:exclude IS NULL OR s.session_id <> :exclude)
          {f"AND {_OVER} AND {_MAY_TRY}" if due else ""}
        ORDER BY s.last_seen_at, s.sid
        """,
        {"exclude": exclude} | ({"now": int(now)} if due else {}),
    )
    return [sessions.session_record(row) for row in rows]


def already_read(connection: apsw.Connection) -> list[Session]:
    """Sessions from which facts were drawn and that still have turns, oldest first."""
    rows = connection.execute(
        f"""
        SELECT {sessions.COLUMNS} FROM sessions_consolidations s
        WHERE s.consolidated_at IS NOT NULL AND EXISTS (
            SELECT 1 FROM memories m WHERE m.session_id = s.session_id AND m.kind = 'episode'
            AND m.valid_until IS NULL)
        ORDER BY s.last_seen_at, s.sid
        """
    )
    return [sessions.session_record(row) for row in rows]


def turns_beyond(
    connection: apsw.Connection, session_id: str, watermark: int | None, now: float
) -> list[MemoryRecord]:
    """The active turns of a session beyond its watermark, in the order of the transcript."""
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m WHERE m.session_id = ? AND m.kind = 'episode' "
        "AND m.rid > ? AND m.valid_until IS NULL ORDER BY m.event_time, m.rid",
        (session_id, watermark or 0),
    )
    return [memories.memory_record(row, now) for row in rows]


def fingerprint_turns(turns: Iterable[MemoryRecord]) -> str:
    """Changes when any of the turns does, or one is added or forgotten."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for turn in turns:
        digest.update(f"{turn.rid}\0{turn.content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def last_turn(connection: apsw.Connection, session_id: str) -> int:
    """The rid of the latest episode, forgotten ones included; 0 when there is none."""
    return int(
        scalar(
            connection,
            "SELECT coalesce(max(rid), 0) FROM memories WHERE session_id = ? AND kind = 'episode'",
            (session_id,),
        )
    )


def mark_done(
    connection: apsw.Connection, session_id: str, *, through: int, at: int, read_by: str, summary: str | None = None,
    whole: bool = False,
) -> None:  # fmt: skip
    """All turns up to ``through`` are consolidated; later ones stay pending. A summary replaces the former one.

    ``whole``: it was read from its first turn on. Else a part that only rules read keeps its mark.
    """
    connection.execute(
        """
        UPDATE sessions_consolidations
        SET consolidated_at = ?2, consolidated_through = ?3, summary = coalesce(?4, summary),
            attempts = 0, last_error = NULL, next_attempt_at = NULL,
            read_by = CASE WHEN read_by = ?6 AND consolidated_at IS NOT NULL AND NOT ?7 THEN ?6 ELSE ?5 END
        WHERE session_id = ?1
        """,
        (session_id, at, through, summary, read_by, BY_RULES, whole),
    )


def mark_skipped(connection: apsw.Connection, session_id: str) -> None:
    """Nothing is to be drawn from the turns so far; ``consolidated_at`` stays, None for what never was consolidated."""
    connection.execute(
        """
        UPDATE sessions_consolidations
        SET consolidated_through = ?2, attempts = 0, last_error = NULL, next_attempt_at = NULL
        WHERE session_id = ?1
        """,
        (session_id, last_turn(connection, session_id)),
    )


def mark_failed(connection: apsw.Connection, session_id: str, error: str, at: int, *, wait: int = 0) -> None:
    """The session stays pending; the next try waits 1 minute, then twice as long each time, up to 6 hours.

    ``wait``: at least so many seconds, up to those 6 hours.
    """
    connection.execute(
        """
        UPDATE sessions_consolidations
        SET attempts = attempts + 1, last_error = ?2, next_attempt_at = ?3 + min(max(?4 << min(attempts, 20), ?6), ?5)
        WHERE session_id = ?1
        """,
        (session_id, error[:2_000], at, _FIRST_WAIT, _LONGEST_WAIT, wait),
    )


def forget_failures(connection: apsw.Connection, session_id: str) -> None:
    """Forget the failures of a session, so that the next run takes it."""
    connection.execute(
        "UPDATE sessions_consolidations SET attempts = 0, last_error = NULL, next_attempt_at = NULL WHERE session_id = ?",
        (session_id,),
    )
