"""Counts of what a memory holds and of what is still being prepared."""

from __future__ import annotations

from pathlib import Path

import apsw

from memtui.engine.records import Stats

from . import entities, operations, sessions, vectors
from .sql import scalar


def stats(connection: apsw.Connection, path: Path | None, *, unavailable: str) -> Stats:
    """``unavailable``: why there are no vectors, if there are none."""
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
    space = vectors.space(connection)
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
        unembedded=vectors.unembedded(connection),
        embedded=vectors.embedded(connection, space) if space else 0,
        quarantined=scalar(
            connection,
            "SELECT count(*) FROM memories WHERE attributes <> '{}' AND json_extract(attributes, '$.secrets') IS NOT NULL "
            "AND json_extract(attributes, '$.redacted') IS NULL",
        ),
        latest=scalar(connection, "SELECT created_at FROM memories ORDER BY rid DESC LIMIT 1"),
        file_bytes=size,
        vectors=unavailable or (f"{space.model_id}, {space.dims} dimensions" if space else "none yet"),
    )
