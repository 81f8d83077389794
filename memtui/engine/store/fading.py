"""What fades: facts below the confidence threshold, and turns older than the person keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.confidence import ANCHOR_SQL, EFFECTIVE_SQL

from .sessions import PENDING
from .sql import as_json, scalar

BINS = 10

# kind <> 'episode' says nothing new, but lets the partial index over notes be used.
_ACTIVE_FACTS = "m.valid_until IS NULL AND m.kind <> 'episode' AND m.kind = 'fact'"
_MAY_FADE = (
    f"{_ACTIVE_FACTS} AND m.confirmed_at IS NULL AND m.decay_rate > 0.0 "
    "AND json_type(m.attributes, '$.pinned_at') IS NULL"
)
_FADES_AT = f"({ANCHOR_SQL} + 86400.0 * max(0.0, ln(m.confidence / :fade_threshold) / (m.decay_rate * pow(0.7, m.recall_days))))"
FADES_AT = f"CASE WHEN {_MAY_FADE} AND m.confidence > 0.0 AND :fade_threshold > 0.0 THEN {_FADES_AT} END"
"""SQL: when the memory ``m`` reaches ``:fade_threshold`` (Unix seconds); NULL if it does not fade."""
# What somebody brought back by undoing a run is not taken again the next night: it waits to be looked at.
_BROUGHT_BACK = """EXISTS (
    SELECT 1 FROM changes c JOIN ops o ON o.op_id = c.op_id
    WHERE c.tbl = 'memories' AND c.lo = m.rid AND c.act <> 'insert' AND o.kind = 'decay' AND o.undone_by IS NOT NULL)"""


class FadedFacts(NamedTuple):
    """Facts below the threshold, the weakest first; ``brought_back`` are those that an undo saved before."""

    rids: list[int]
    brought_back: list[int]


class UpcomingFade(NamedTuple):
    rid: int
    fades_at: float


def count_facts(connection: apsw.Connection) -> int:
    return int(scalar(connection, f"SELECT count(*) FROM memories m WHERE {_ACTIVE_FACTS}"))


def faded_facts(connection: apsw.Connection, threshold: float, moment: float) -> FadedFacts:
    """The facts whose effective confidence at ``moment`` is below ``threshold``."""
    rows: Any = connection.execute(
        f"""
        SELECT m.rid, {_BROUGHT_BACK} FROM memories m
        WHERE {_MAY_FADE} AND {EFFECTIVE_SQL} < :threshold ORDER BY {EFFECTIVE_SQL}, m.rid
        """,
        {"now": moment, "threshold": threshold},
    ).fetchall()
    return FadedFacts(
        rids=[rid for rid, brought_back in rows if not brought_back],
        brought_back=[rid for rid, brought_back in rows if brought_back],
    )


def trash_faded_facts(
    connection: apsw.Connection, rids: Sequence[int], threshold: float, moment: float, now: int
) -> list[str]:
    """Move to the Trash those of ``rids`` that still are below ``threshold`` at ``moment``; returns their ids."""
    rows: Any = connection.execute(
        f"""
        UPDATE memories AS m SET valid_until = :ended, ended_by = 'faded'
        WHERE m.rid IN (SELECT value FROM json_each(:rids)) AND {_MAY_FADE} AND {EFFECTIVE_SQL} < :threshold
        RETURNING id
        """,
        {
            "ended": now,
            "rids": as_json(rids),
            "now": moment,
            "threshold": threshold,
        },
    ).fetchall()
    return [id for (id,) in rows]


def upcoming_fades(connection: apsw.Connection, threshold: float, until: float) -> list[UpcomingFade]:
    """The facts that reach ``threshold`` before ``until`` (Unix seconds), those that did already included, in order."""
    if threshold <= 0.0:
        return []
    rows: Any = connection.execute(
        f"""
        SELECT rid, fades_at FROM (
            SELECT m.rid AS rid, {_FADES_AT} AS fades_at FROM memories m WHERE {_MAY_FADE} AND m.confidence > 0.0)
        WHERE fades_at < :until ORDER BY fades_at, rid
        """,
        {"fade_threshold": threshold, "until": until},
    )
    return [UpcomingFade(rid, at) for rid, at in rows]


def fade_times(connection: apsw.Connection, rids: Sequence[int], threshold: float) -> dict[int, float]:
    """When some memories (by key) reach ``threshold`` (Unix seconds), those that did already included. Others are left out."""
    rows: Any = connection.execute(
        f"""
        SELECT rid, at FROM (
            SELECT m.rid AS rid, {FADES_AT} AS at FROM json_each(:rids) j CROSS JOIN memories m ON m.rid = j.value)
        WHERE at IS NOT NULL
        """,
        {"rids": as_json(rids), "fade_threshold": threshold},
    )
    return dict(rows)


def confidence_histogram(connection: apsw.Connection, now: float, *, protected: bool) -> tuple[int, ...]:
    """How many active facts have an effective confidence in each tenth from 0 to 1 (1.0 is in the last)."""
    rows: Any = connection.execute(
        f"""
        SELECT max(0, min({BINS - 1}, CAST({EFFECTIVE_SQL} * {BINS} AS INTEGER))) AS bin, count(*) FROM memories m
        WHERE {_ACTIVE_FACTS} AND (m.confirmed_at IS NOT NULL) = :protected GROUP BY bin
        """,
        {"now": now, "protected": int(protected)},
    )
    counts: dict[int, int] = dict(rows)
    return tuple(counts.get(index, 0) for index in range(BINS))


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


def aged_turns(connection: apsw.Connection, before: float) -> AgedTurns:
    """Turns that are older than a time (Unix seconds)."""
    rows: Any = connection.execute(
        f"SELECT m.rid, {_STOOD_ON} FROM memories m WHERE {_OLD} ORDER BY m.event_time, m.rid",
        {"before": before},
    ).fetchall()
    return AgedTurns([rid for rid, stood_on in rows if not stood_on], sum(stood_on for _, stood_on in rows))


def trash_old_turns(
    connection: apsw.Connection, rids: Sequence[int], before: float, now: int
) -> tuple[str, ...]:
    """Move to the Trash those of ``rids`` of which that still holds; returns their ids."""
    rows: Any = connection.execute(
        f"""
        UPDATE memories AS m SET valid_until = :ended, ended_by = 'faded'
        WHERE m.rid IN (SELECT value FROM json_each(:rids)) AND {_OLD} AND NOT {_STOOD_ON} RETURNING id
        """,
        {"ended": now, "rids": as_json(rids), "before": before},
    ).fetchall()
    return tuple(id for (id,) in rows)


def ids_of(connection: apsw.Connection, rids: Sequence[int]) -> tuple[str, ...]:
    """The ids of memories, in order."""
    rows: Any = connection.execute(
        "SELECT m.id FROM json_each(?) j JOIN memories m ON m.rid = j.value ORDER BY j.key", (as_json(rids),)
    )
    return tuple(id for (id,) in rows)
