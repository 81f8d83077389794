"""What must hold in a memory file, one function each: it yields a finding for each breach.

A finding is ``repairable`` when it concerns something derived (an index, a count, a mode): repair makes
that anew from the base rows. Base rows are never repaired: their findings are for the person.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import apsw

from memtui.engine.records import ID_PREFIX, Finding

from . import migrate, vectors
from .connection import Connections
from .full_text import TABLES
from .memories import content_hash
from .sql import scalar

# With the rank of their integrity check: 1 compares with the texts, which the bigrams do not have.
_FULL_TEXT = {**dict.fromkeys(TABLES, 1), "memories_cjk": 0}
_SAMPLE = 50
_SHOWN = 20
_DAY = 86_400


class Scene(NamedTuple):
    """What a check looks at. ``connection`` is the writer, or a reader where the memory is read-only."""

    connection: apsw.Connection
    connections: Connections
    now: float
    deep: bool


Check = Callable[[Scene], Iterator[Finding]]


def _finding(
    check: str, message: str, *, repairable: bool = False, warning: bool = False, ids: list[str] | None = None
) -> Finding:
    severity: Literal["error", "warning"] = "warning" if warning else "error"
    return Finding(
        check=check,
        severity=severity,
        message=message,
        repairable=repairable,
        ids=tuple((ids or [])[:_SHOWN]),
    )


def _rows(scene: Scene, sql: str, *values: apsw.SQLiteValue) -> list[str]:
    return [row[0] for row in scene.connection.execute(sql, values)]


def _count(scene: Scene, sql: str, *values: apsw.SQLiteValue) -> int:
    return int(scalar(scene.connection, sql, values))


def pages(scene: Scene) -> Iterator[Finding]:
    """The pages of the file are whole."""
    for table in _FULL_TEXT:
        # Opening a cursor makes FTS5 look at what other programs wrote since; the PRAGMA would take that for damage.
        scene.connection.execute(f"SELECT rowid FROM {table} LIMIT 1").fetchall()
    pragma = "integrity_check" if scene.deep else "quick_check"
    for (problem,) in scene.connection.execute(f"PRAGMA {pragma}(20)"):
        if problem != "ok":
            yield _finding("pages", str(problem))


def foreign_keys(scene: Scene) -> Iterator[Finding]:
    broken = scene.connection.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        yield _finding(
            "foreign keys", f"{len(broken)} rows point at something that is gone, first in {broken[0][0]}"
        )


def schema(scene: Scene) -> Iterator[Finding]:
    """Tables, indexes, views and triggers are those of this version."""
    listing = (
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'vec_memories_*'"
    )
    wanted_from = apsw.Connection(":memory:")
    try:
        migrate.apply_pending(wanted_from)
        wanted = {(kind, name): sql for kind, name, sql in wanted_from.execute(listing)}
    finally:
        wanted_from.close()
    have = {(kind, name): sql for kind, name, sql in scene.connection.execute(listing)}
    for kind, name in sorted(wanted.keys() | have.keys()):
        if wanted.get((kind, name)) != have.get((kind, name)):
            what = (
                "is missing"
                if (kind, name) not in have
                else "is unknown"
                if (kind, name) not in wanted
                else "differs"
            )
            yield _finding("schema", f"{kind} {name} {what}", repairable=kind == "trigger")


def full_text(scene: Scene) -> Iterator[Finding]:
    """The full-text indexes hold exactly the texts (rank 1 compares them; without it, only their own structure)."""
    for table, rank in _FULL_TEXT.items():
        if scene.connections.readonly:
            yield _finding("full text", f"{table} can only be checked in a writable file", warning=True)
            continue
        try:
            scene.connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', {rank})")
        except apsw.CorruptError:
            yield _finding("full text", f"{table} does not match the memories", repairable=True)
    highest = _count(scene, "SELECT coalesce(max(rid), 0) FROM memories")
    dice = random.Random(highest)
    for _ in range(_SAMPLE if highest else 0):
        row: Any = scene.connection.execute(
            "SELECT rid, id, content FROM memories WHERE rid >= ? ORDER BY rid LIMIT 1",
            (dice.randint(1, highest),),
        ).fetchone()
        words = [w for w in row[2].split() if w.isascii() and w.isalpha()]
        if not words:
            continue
        hit = scene.connection.execute(
            "SELECT 1 FROM memories_fts WHERE memories_fts MATCH ? AND rowid = ?",
            (f'"{dice.choice(words)}"', row[0]),
        ).fetchone()
        if not hit:
            yield _finding(
                "full text", f"{row[1]} is not found by its own words", repairable=True, ids=[row[1]]
            )
            return


def embeddings(scene: Scene) -> Iterator[Finding]:
    """One model, whole vectors, and an index that mirrors them."""
    space = vectors.space(scene.connection)
    if space is None:
        return
    odd = _rows(
        scene,
        "SELECT m.id FROM embeddings e JOIN memories m ON m.rid = e.rid WHERE e.model_id = ? AND "
        "(e.dims <> ? OR e.dtype <> 'int8' OR length(e.vector) <> e.dims OR e.vector = zeroblob(e.dims)) LIMIT 20",
        space.model_id, space.dims,
    )  # fmt: skip
    if odd:
        yield _finding(
            "embeddings", f"{len(odd)} vectors have wrong dimensions or are empty", repairable=True, ids=odd
        )
    if scene.connections.vectors_missing or not vectors.index_exists(scene.connection):
        return
    table = vectors.index_table(scene.connection)
    # Each way round by rowid; comparing the bytes as well takes a read of every vector.
    different = " OR v.embedding IS NOT e.vector" if scene.deep else ""
    wrong = _count(
        scene,
        f"SELECT count(*) FROM embeddings e LEFT JOIN {table} v ON v.rid = e.rid WHERE e.model_id = ? "
        f"AND (v.rid IS NULL{different}) AND e.rid NOT IN (SELECT rid FROM vector_changes)",
        space.model_id,
    ) + _count(
        scene,
        f"SELECT count(*) FROM {table} v WHERE v.rid NOT IN (SELECT rid FROM embeddings WHERE model_id = ?) "
        "AND v.rid NOT IN (SELECT rid FROM vector_changes)",
        space.model_id,
    )
    if wrong:
        yield _finding("vector index", f"{wrong} entries do not match the stored vectors", repairable=True)


def queue(scene: Scene) -> Iterator[Finding]:
    """What has no vector waits for one (a text without words, or with a secret, gets none)."""
    space = vectors.space(scene.connection)
    if space is None or not scene.deep:
        return
    lost = _count(
        scene,
        "SELECT count(*) FROM memories m WHERE m.rid NOT IN (SELECT rid FROM index_queue) AND m.rid NOT IN "
        "(SELECT rid FROM embeddings WHERE model_id = ?) AND m.attributes = '{}' AND length(m.content) > 20 "
        "AND m.content GLOB '*[a-z][a-z][a-z]*'",
        space.model_id,
    )
    if lost:
        yield _finding(
            "embeddings",
            f"{lost} memories have no vector and do not wait for one",
            repairable=True,
            warning=True,
        )


def mentions(scene: Scene) -> Iterator[Finding]:
    """Counts, times and votes are what the links say; what is merged leads straight to a survivor."""
    wrong = _rows(
        scene,
        """
        SELECT id FROM entities WHERE mention_count <> (
            SELECT count(DISTINCT l.rid) FROM memory_entities l JOIN memories m ON m.rid = l.rid
            WHERE m.valid_until IS NULL AND l.eid IN (
                SELECT entities.eid UNION ALL SELECT g.eid FROM entities g WHERE g.merged_into = entities.eid))
        LIMIT 20
        """,
    )
    if wrong:
        yield _finding(
            "entities", f"the mention count of {len(wrong)} entities is wrong", repairable=True, ids=wrong
        )
    undated = _rows(
        scene,
        """
        SELECT DISTINCT m.id FROM memory_entities l JOIN memories m ON m.rid = l.rid
        WHERE l.at IS NOT CASE WHEN m.valid_until IS NULL THEN m.event_time END LIMIT 20
        """,
    )
    if undated:
        yield _finding(
            "entities",
            f"the links of {len(undated)} memories have another time",
            repairable=True,
            ids=undated,
        )
    miscounted = _count(
        scene,
        """
        WITH counted(eid, type, votes) AS (
            SELECT eid, vote, count(*) FROM memory_entities WHERE vote IS NOT NULL GROUP BY eid, vote)
        SELECT (SELECT count(*) FROM (SELECT * FROM counted EXCEPT SELECT eid, type, votes FROM entity_votes))
             + (SELECT count(*) FROM (SELECT eid, type, votes FROM entity_votes EXCEPT SELECT * FROM counted))
        """,
    )
    if miscounted:
        yield _finding("entities", f"the votes for {miscounted} types are miscounted", repairable=True)
    chained = _rows(
        scene,
        "SELECT e.id FROM entities e JOIN entities s ON s.eid = e.merged_into WHERE s.merged_into IS NOT NULL LIMIT 20",
    )
    if chained:
        yield _finding(
            "entities", f"{len(chained)} entities are merged into one that is merged itself", ids=chained
        )


def links(scene: Scene) -> Iterator[Finding]:
    """Provenance and supersession are queryable as the rows state them, resolve, and have no cycle."""
    stated = """
        SELECT m.id AS from_id, 'source' AS rel, s.value AS to_id FROM memories m, json_each(m.source_ids) s
        WHERE m.source_ids <> '[]'
        UNION SELECT m.id, 'supersedes', json_extract(m.attributes, '$.supersedes') FROM memories m
        WHERE m.attributes <> '{}' AND json_type(m.attributes, '$.supersedes') = 'text'"""
    missing = _rows(
        scene, f"SELECT from_id FROM ({stated} EXCEPT SELECT from_id, rel, to_id FROM memory_links) LIMIT 20"
    )
    stray = _rows(
        scene,
        "SELECT from_id FROM (SELECT from_id, rel, to_id FROM memory_links WHERE rel <> 'merged' "
        f"EXCEPT SELECT * FROM ({stated})) LIMIT 20",
    )
    if missing or stray:
        yield _finding(
            "links", "the link table does not match the memories", repairable=True, ids=missing + stray
        )
    dangling = _rows(
        scene,
        "SELECT DISTINCT from_id FROM memory_links WHERE to_id NOT IN (SELECT id FROM memories) LIMIT 20",
    )
    if dangling:
        yield _finding("links", f"{len(dangling)} memories name sources that are gone", ids=dangling)
    circular = _rows(
        scene,
        """
        WITH RECURSIVE walk(start, at, depth) AS (
            SELECT from_id, to_id, 1 FROM memory_links WHERE rel IN ('source', 'supersedes')
              AND from_id IN (SELECT to_id FROM memory_links)
            UNION SELECT start, to_id, depth + 1 FROM walk JOIN memory_links ON from_id = at
              WHERE rel IN ('source', 'supersedes') AND at <> start AND depth < 100)
        SELECT DISTINCT start FROM walk WHERE at = start LIMIT 20
        """,
    )
    if circular:
        yield _finding("links", f"{len(circular)} memories derive from themselves", ids=circular)


def rows(scene: Scene) -> Iterator[Finding]:
    """Ids, confidences and times of the rows are sane."""
    prefixes = " OR ".join(
        f"(kind = '{kind}' AND id NOT GLOB '{prefix}*')" for kind, prefix in ID_PREFIX.items()
    )
    for message, condition in (
        ("ids do not match their kind", prefixes),
        ("confidences lie outside 0 to 1", "NOT confidence BETWEEN 0 AND 1"),
        (
            "JSON columns cannot be read",
            "NOT (json_valid(tags) AND json_valid(source_ids) AND json_valid(attributes))",
        ),
        ("only facts decay", "kind <> 'fact' AND decay_rate <> 0"),
        ("confirmed facts must not decay", "confirmed_at IS NOT NULL AND decay_rate <> 0"),
    ):
        found = _rows(scene, f"SELECT id FROM memories WHERE {condition} LIMIT 20")
        if found:
            yield _finding("rows", f"{message} ({len(found)})", ids=found)
    ahead = _rows(
        scene,
        "SELECT id FROM memories WHERE created_at > ?1 OR last_accessed > ?1 LIMIT 20",
        int(scene.now) + 2 * _DAY,
    )
    if ahead:
        yield _finding(
            "times",
            f"{len(ahead)} memories were recorded in the future: was the clock wrong?",
            ids=ahead,
            warning=True,
        )
    if scene.deep:
        wrong = [
            identity
            for identity, content, stored in scene.connection.execute(
                "SELECT id, content, content_hash FROM memories"
            )
            if content_hash(content) != stored
        ]
        if wrong:
            yield _finding("rows", f"{len(wrong)} content hashes are wrong", ids=wrong)


def sessions(scene: Scene) -> Iterator[Finding]:
    unknown = _rows(
        scene,
        "SELECT DISTINCT session_id FROM memories WHERE kind = 'episode' AND session_id IS NOT NULL AND "
        "session_id NOT IN (SELECT session_id FROM sessions_consolidations) LIMIT 20",
    )
    if unknown:
        yield _finding("sessions", f"{len(unknown)} sessions are not registered", ids=unknown)
    odd = _rows(
        scene,
        "SELECT session_id FROM sessions_consolidations WHERE first_seen_at > last_seen_at "
        "OR consolidated_through > (SELECT seq FROM sqlite_sequence WHERE name = 'memories') LIMIT 20",
    )
    if odd:
        yield _finding("sessions", f"{len(odd)} sessions have impossible times or watermarks", ids=odd)


def jobs(scene: Scene) -> Iterator[Finding]:
    twice = scene.connection.execute(
        "SELECT job, period, count(*) FROM job_runs WHERE state = 'done' AND period NOT LIKE 'manual:%' "
        "GROUP BY job, period HAVING count(*) > 1 LIMIT 1"
    ).fetchone()
    if twice:
        yield _finding("jobs", f"{twice[0]} ran {twice[2]} times for {twice[1]}")


def protection(scene: Scene) -> Iterator[Finding]:
    """No job changed a memory that the person had confirmed before."""
    touched = _rows(
        scene,
        """
        SELECT DISTINCT m.id FROM ops o JOIN changes c ON c.op_id = o.op_id JOIN memories m ON m.rid = c.lo
        WHERE o.actor = 'scheduler' AND o.state = 'done' AND o.undoes IS NULL AND c.tbl = 'memories'
          AND c.act = 'update' AND m.confirmed_at < o.at LIMIT 20
        """,
    )
    if touched:
        yield _finding("protection", f"a job changed {len(touched)} confirmed memories", ids=touched)


def history(scene: Scene) -> Iterator[Finding]:
    if _count(scene, "SELECT count(*) FROM current_op"):
        yield _finding("history", "an operation was left open", repairable=True)
    lost = _count(scene, "SELECT count(*) FROM changes WHERE op_id NOT IN (SELECT op_id FROM ops)")
    if lost:
        yield _finding("history", f"{lost} changes belong to no operation")


def permissions(scene: Scene) -> Iterator[Finding]:
    """Only the owner may read the file, its log and its folder."""
    path = scene.connections.path
    if path is None or os.name == "nt":
        return
    for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if part.exists() and stat.S_IMODE(part.stat().st_mode) & 0o077:
            mode = stat.S_IMODE(part.stat().st_mode)
            yield _finding(
                "permissions", f"others may read {part.name} ({mode:04o})", repairable=True, warning=True
            )


CHECKS: dict[str, Check] = {
    "pages": pages,
    "foreign keys": foreign_keys,
    "schema": schema,
    "full text": full_text,
    "embeddings": embeddings,
    "queue": queue,
    "entities": mentions,
    "links": links,
    "rows": rows,
    "sessions": sessions,
    "jobs": jobs,
    "protection": protection,
    "history": history,
    "permissions": permissions,
}
