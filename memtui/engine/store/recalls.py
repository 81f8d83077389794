"""What agents were served: the log of recalls, and the lines that stand in running conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import apsw
import msgspec

from memtui.engine.records import Recall

from .sql import as_json, json_text, scalar

KEEP_DAYS = 90
_ids = msgspec.json.Decoder(tuple[str, ...]).decode


def add(
    connection: apsw.Connection,
    *,
    at: int,
    agent: str,
    session_id: str | None,
    query: str,
    memory_ids: Iterable[str],
    saved: int = 0,
) -> None:
    """``saved``: about how many tokens were not served again."""
    connection.execute(
        "INSERT INTO recalls(at, agent, session_id, query, memory_ids, saved) VALUES (?, ?, ?, ?, ?, ?)",
        (at, agent, session_id, query, json_text(tuple(memory_ids)), saved),
    )


def recall_record(row: Sequence[Any]) -> Recall:
    """The record of a row with time, agent, session, question, memories and tokens saved."""
    return Recall(
        at=row[0], agent=row[1], session_id=row[2], query=row[3],
        memory_ids=_ids(row[4]), saved=row[5],
    )  # fmt: skip


def of_memory(connection: apsw.Connection, id: str, limit: int) -> list[Recall]:
    """The recalls that served a memory (by id), the latest first."""
    rows = connection.execute(
        """
        SELECT at, agent, session_id, query, memory_ids, saved FROM recalls r
        WHERE EXISTS (SELECT 1 FROM json_each(r.memory_ids) WHERE value = ?) ORDER BY recall_id DESC LIMIT ?
        """,
        (id, limit),
    )
    return [recall_record(row) for row in rows]


def served_condition(condition: str) -> str:
    """SQL: whether a memory ``m`` was served in a recall ``r`` that meets a condition."""
    return f"m.id IN (SELECT j.value FROM recalls r, json_each(r.memory_ids) j WHERE {condition})"


def agents(connection: apsw.Connection) -> list[str]:
    """The agents that were served something, by name."""
    return [str(name) for (name,) in connection.execute("SELECT DISTINCT agent FROM recalls ORDER BY agent")]


def agents_served(connection: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, int, int, int]]:
    """Agents that got one of these memories: name, number of times, first and last time; the latest first."""
    rows: list[Any] = connection.execute(
        """
        SELECT agent, count(*), min(at), max(at) FROM recalls r
        WHERE EXISTS (SELECT 1 FROM json_each(r.memory_ids) WHERE value IN (SELECT value FROM json_each(?)))
        GROUP BY agent ORDER BY max(at) DESC, agent
        """,
        (as_json(ids),),
    ).fetchall()
    return [(str(agent), int(times), int(first), int(last)) for agent, times, first, last in rows]


def recall_counts_since(connection: apsw.Connection, since: float) -> tuple[list[tuple[str, int, int]], int]:
    """For each agent the numbers of recalls and of memories since a time, the most first; and the number of all memories."""
    rows: list[Any] = connection.execute(
        "SELECT agent, memory_ids FROM recalls WHERE at >= ? ORDER BY recall_id", (int(since),)
    ).fetchall()
    times: Counter[str] = Counter()
    memories: dict[str, set[str]] = {}
    for agent, ids in rows:
        times[agent] += 1
        memories.setdefault(agent, set()).update(_ids(ids))
    agents = [(agent, times[agent], len(memories[agent])) for agent in memories]
    return sorted(agents, key=lambda one: (-one[2], one[0])), len(set().union(*memories.values()))


def page(connection: apsw.Connection, *, offset: int, limit: int) -> list[Recall]:
    """A page of recalls, the latest first."""
    rows = connection.execute(
        "SELECT at, agent, session_id, query, memory_ids, saved FROM recalls ORDER BY recall_id DESC LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return [recall_record(row) for row in rows]


def forget_old_recalls(connection: apsw.Connection, now: float) -> int:
    """Forget recalls older than they are kept; inside the caller's transaction. Returns how many."""
    connection.execute("DELETE FROM recalls WHERE at < ?", (now - KEEP_DAYS * 86_400,))
    return connection.changes()


_KEPT_SECONDS = 30 * 86_400
_MOST_LINES = 500
_MOST_SESSIONS = 200


def begin_context(connection: apsw.Connection, session_id: str, now: int) -> None:
    """The context of a session begins, or was made shorter: nothing is in it. Inside the caller's transaction."""
    save_context(connection, session_id, {}, now)
    connection.execute(
        """
        DELETE FROM served_contexts WHERE at < ?1 OR session NOT IN (
            SELECT session FROM served_contexts ORDER BY at DESC LIMIT ?2)
        """,
        (now - _KEPT_SECONDS, _MOST_SESSIONS),
    )


def served_lines(connection: apsw.Connection, session_id: str) -> dict[int, int] | None:
    """The checksum of the line of each memory (by rid) that was served; None where the beginning was not seen."""
    kept = scalar(
        connection, "SELECT lines FROM served_contexts WHERE session = ?", (_session_hash(session_id),)
    )
    return None if kept is None else msgspec.json.decode(kept, type=dict[int, int])


def save_context(connection: apsw.Connection, session_id: str, served: dict[int, int], now: int) -> None:
    """Note what is in the context now, inside the caller's transaction; of very much only what was served last."""
    latest = dict(list(served.items())[-_MOST_LINES:])
    connection.execute(
        "INSERT INTO served_contexts(session, at, lines) VALUES (?, ?, ?) "
        "ON CONFLICT(session) DO UPDATE SET at = excluded.at, lines = excluded.lines",
        (_session_hash(session_id), now, msgspec.json.encode(latest).decode()),
    )


def _session_hash(session_id: str) -> int:
    """62 bits; the name itself is somebody's words."""
    raw = session_id.encode("utf-8", "replace")
    return crc32(raw) << 30 ^ crc32(raw[::-1])
