"""Old turns that retention may end: their sessions are consolidated, and no pinned or confirmed memory needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from .sessions import PENDING
from .sql import as_json, scalar

# Of sessions from which everything was drawn; what somebody brought back by undoing a run is not taken again.
_OLD = f"""m.kind = 'episode' AND m.valid_until IS NULL
    AND max(m.event_time, m.created_at, coalesce(m.reviewed_at, 0)) < :before
    AND m.session_id IN (SELECT s.session_id FROM sessions_consolidations s WHERE NOT {PENDING})
    AND NOT EXISTS (
        SELECT 1 FROM changes c JOIN ops o ON o.op_id = c.op_id
        WHERE c.tbl = 'memories' AND c.lo = m.rid AND c.act <> 'insert' AND o.kind = 'retention' AND o.undone_by IS NOT NULL)"""
_STOOD_ON = """EXISTS (
    SELECT 1 FROM memory_links l JOIN memories d ON d.id = l.from_id
    WHERE l.to_id = m.id AND l.rel = 'source' AND d.valid_until IS NULL
      AND (d.confirmed_at IS NOT NULL OR json_type(d.attributes, '$.pinned_at') IS NOT NULL))"""


class AgedTurns(NamedTuple):
    """Keys of the turns that may go, the oldest first. ``kept``: how many as old stay for a pinned or confirmed memory."""

    rids: list[int]
    kept: int


def count_turns(connection: apsw.Connection) -> int:
    return int(
        scalar(
            connection, "SELECT count(*) FROM memories m WHERE m.kind = 'episode' AND m.valid_until IS NULL"
        )
    )


def old(connection: apsw.Connection, before: float) -> AgedTurns:
    """Turns that are older than a time (Unix seconds)."""
    rows: Any = connection.execute(
        f"SELECT m.rid, {_STOOD_ON} FROM memories m WHERE {_OLD} ORDER BY m.event_time, m.rid",
        {"before": before},
    ).fetchall()
    return AgedTurns([rid for rid, stood_on in rows if not stood_on], sum(stood_on for _, stood_on in rows))


def end(connection: apsw.Connection, rids: Sequence[int], before: float, now: int) -> tuple[str, ...]:
    """Move to the Trash those of ``rids`` of which that still holds; returns their ids."""
    rows: Any = connection.execute(
        f"""
        UPDATE memories AS m SET valid_until = :ended, ended_by = 'faded'
        WHERE m.rid IN (SELECT value FROM json_each(:rids)) AND {_OLD} AND NOT {_STOOD_ON} RETURNING id
        """,
        {"ended": now, "rids": as_json(rids), "before": before},
    ).fetchall()
    return tuple(identity for (identity,) in rows)


def ids(connection: apsw.Connection, rids: Sequence[int]) -> tuple[str, ...]:
    """The ids of memories, in order."""
    rows: Any = connection.execute(
        "SELECT m.id FROM json_each(?) j JOIN memories m ON m.rid = j.value ORDER BY j.key", (as_json(rids),)
    )
    return tuple(identity for (identity,) in rows)
