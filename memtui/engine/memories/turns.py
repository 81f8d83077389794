"""Record one turn of a conversation in one transaction, without a model or a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from memtui.engine.records import MemoryRecord, NewMemory, SecretPolicy, Trust
from memtui.engine.store import memories, sessions

from . import validation
from .validation import CheckedText

# How far the clocks of two programs that tell the same turn can lie apart.
_SECONDS_APART = 300


class NewTurn(NamedTuple):
    """A turn that has passed intake, ready to be stored."""

    session_id: str
    role: str
    intake: CheckedText
    event_time: int
    trust: Trust
    source: str | None = None
    source_key: str | None = None
    project: str | None = None
    title: str | None = None
    begun_by: str | None = None


def check_turn(
    session_id: str, role: str, content: str, event_time: int, *, actor: str, policy: SecretPolicy,
    source: str | None = None, project: str | None = None, claimed: bool = False,
) -> NewTurn:  # fmt: skip
    """A turn that may be stored. Raises InputError for empty or over-long content and unusable names.

    ``claimed``: a model says that it was said. It is trusted no further than whoever acts, and belongs to a session
    of its own.
    """
    if claimed:
        source = source or actor
        session_id = sessions.qualified_id(validation.check_name(session_id, "session id"), source)
    return NewTurn(
        session_id=validation.check_name(session_id, "session id"),
        role=validation.check_name(role, "role"),
        intake=validation.check_text(content, "episode", policy),
        event_time=event_time,
        trust=validation.trust_of_role(role, actor, claimed=claimed),
        begun_by=actor,
        source=None if source is None else validation.check_name(source, "source"),
        project=None if project is None else validation.check_name(project, "project"),
    )


def is_recorded(
    connection: apsw.Connection,
    session_id: str,
    role: str,
    content: str,
    event_time: int,
    sources: Sequence[str],
) -> bool:
    """Whether one of the sources brought these words to the session at about that time, in the Trash or not."""
    return bool(find_recorded(connection, session_id, role, content, event_time, sources))


def find_recorded(
    connection: apsw.Connection,
    session_id: str,
    role: str,
    content: str,
    event_time: int,
    sources: Sequence[str],
) -> list[int]:
    """The rows with which the sources brought these words to the session at about that time, nearest first."""
    row = connection.execute(
        f"""
        SELECT rid FROM memories WHERE session_id = ? AND event_time BETWEEN ? AND ?
        AND source_role = ? AND content = ? AND source IN ({", ".join("?" * len(sources))})
        ORDER BY abs(event_time - ?), rid
        """,
        (
            session_id, event_time - _SECONDS_APART, event_time + _SECONDS_APART, role, content, *sources,
            event_time,
        ),
    )  # fmt: skip
    return [int(rid) for (rid,) in row]


def row_of_turn(turn: NewTurn, now: int, id: str | None = None) -> NewMemory:
    """The row that a turn becomes."""
    return NewMemory(
        id=id, kind="episode", content=turn.intake.content, event_time=turn.event_time, created_at=now,
        trust=turn.trust, session_id=turn.session_id, source_role=turn.role, source=turn.source,
        source_key=turn.source_key, project=turn.project, attributes=turn.intake.attributes,
    )  # fmt: skip


def store_turn(connection: apsw.Connection, turn: NewTurn, now: int, id: str | None = None) -> int | None:
    """Insert the episode and register its session; returns its rid, None when it already exists.

    Full text follows by trigger. Links and vectors are left to the queue.
    """
    rid = memories.insert(connection, **row_of_turn(turn, now, id))
    if rid is None:
        return None
    sessions.register_session(
        connection, turn.session_id, turn.event_time, turn.event_time,
        title=turn.title, source=turn.source, project=turn.project,
        begun_by=turn.begun_by,
    )  # fmt: skip
    if turn.intake.quarantined:
        connection.execute("UPDATE index_queue SET vector = 0 WHERE rid = ?", (rid,))
    return rid


def as_record(turn: NewTurn, rid: int, id: str, now: int) -> MemoryRecord:
    """The record of a turn that was just stored, without reading it again."""
    return MemoryRecord(
        rid=rid, id=id, kind="episode", content=turn.intake.content, event_time=turn.event_time, created_at=now,
        confidence=1.0, effective=1.0, decay_rate=0.0, trust=turn.trust, session_id=turn.session_id,
        source_role=turn.role, source=turn.source, source_key=turn.source_key, project=turn.project,
        attributes=turn.intake.attributes,
    )  # fmt: skip
