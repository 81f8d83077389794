"""Counts of what a memory holds and of what is still being prepared; its growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from memtui.engine.records import Stats
from memtui.engine.records.status import Growth

from . import entities, operations, sessions, vectors
from .sql import scalar


def collect_stats(connection: apsw.Connection, path: Path | None, *, no_vectors_reason: str) -> Stats:
    """``no_vectors_reason``: why there are no vectors, if there are none."""
    # Each count from an index that holds just these rows: a million turns are not read for it.
    active = scalar(connection, "SELECT count(*) FROM memories WHERE valid_until IS NULL")
    by_kind: dict[str, int] = dict(
        connection.execute(
            "SELECT kind, count(*) FROM memories WHERE valid_until IS NULL AND kind <> 'episode' GROUP BY kind"
        )
    )
    episodes = active - sum(by_kind.values())
    if episodes:
        by_kind["episode"] = episodes
    space = vectors.vector_space(connection)
    size = 0
    if path is not None:
        size = sum(p.stat().st_size for p in (path, path.with_name(path.name + "-wal")) if p.exists())
    return Stats(
        by_kind=by_kind,
        active=active,
        ended=scalar(connection, "SELECT count(*) FROM memories WHERE valid_until IS NOT NULL"),
        protected=scalar(
            connection,
            "SELECT count(*) FROM memories WHERE valid_until IS NULL AND kind <> 'episode' AND confirmed_at IS NOT NULL",
        ),
        sessions=sessions.count(connection),
        pending_sessions=sessions.count_pending(connection),
        entities=entities.count(connection),
        operations=operations.count(connection),
        unlinked=scalar(connection, "SELECT count(*) FROM index_queue WHERE text = 1"),
        unembedded=vectors.count_unembedded(connection),
        embedded=vectors.count_embedded(connection, space) if space else 0,
        quarantined=scalar(
            connection,
            "SELECT count(*) FROM memories WHERE attributes <> '{}' AND json_extract(attributes, '$.secrets') IS NOT NULL "
            "AND json_extract(attributes, '$.redacted') IS NULL",
        ),
        latest=scalar(connection, "SELECT created_at FROM memories ORDER BY rid DESC LIMIT 1"),
        file_bytes=size,
        vectors=no_vectors_reason or (f"{space.model_id}, {space.dims} dimensions" if space else "none yet"),
    )


def growth_over_time(connection: apsw.Connection, now: float, steps: int) -> Growth:
    """Counted by when rows came in and when they ended, in one pass over the table."""
    row: Any = connection.execute("SELECT min(created_at) FROM memories").fetchone()
    if row[0] is None:
        return Growth(start=int(now), end=int(now), facts=(), turns=())
    start, end = int(row[0]), max(int(now), int(row[0]) + steps)
    changes = {False: [0] * steps, True: [0] * steps}
    step = f"max(0, min({steps - 1}, ({{}} - {start}) * {steps} / {end - start + 1}))"
    rows: Any = connection.execute(
        f"""
        SELECT kind = 'episode', {step.format("created_at")} AS step, count(*) FROM memories GROUP BY 1, 2
        UNION ALL
        SELECT kind = 'episode', {step.format("valid_until")} AS step, -count(*) FROM memories
        WHERE valid_until IS NOT NULL GROUP BY 1, 2
        """
    )
    for turns, at, count in rows:
        changes[bool(turns)][at] += count
    return Growth(
        start=start, end=end, facts=_running_sums(changes[False]), turns=_running_sums(changes[True])
    )


def _running_sums(changes: list[int]) -> tuple[int, ...]:
    sums, total = [], 0
    for change in changes:
        total += change
        sums.append(total)
    return tuple(sums)
