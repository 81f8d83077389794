"""Rows of sessions: conversations, and how far each is consolidated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.records import Session

from .sql import scalar, storable_text

IDLE_SECONDS = 30 * 60

# Eight hexadecimal digits in a row: made by a machine, and no name to anybody.
_UNREADABLE = f"s.session_id GLOB '*{'[0-9a-fA-F]' * 8}*'"
_OPENING = 60
# Of an id, and of what it begins with where the writer's name is added.
_LONGEST, _LONGEST_BASE = 500, 400
OPENING = f"""(CASE WHEN coalesce(s.title, '') = '' AND {_UNREADABLE} THEN (
    SELECT substr(m.content, 1, 400) FROM memories m
    WHERE m.session_id = s.session_id AND m.kind = 'episode' AND m.source_role = 'user' AND m.valid_until IS NULL
    ORDER BY m.event_time, m.rid LIMIT 1) END)"""
# What a session is found by.
WORDS = (
    f"coalesce(s.title, {OPENING}, '') || ' ' || s.session_id || ' ' || coalesce(s.source, '')"
    " || ' ' || coalesce(s.project, '')"
)
COLUMNS = f"""
    s.session_id, s.first_seen_at, s.last_seen_at, s.consolidated_at, s.consolidated_through, s.attempts,
    s.last_error, s.title, s.summary, s.source, s.project,
    (SELECT count(*) FROM memories m
     WHERE m.session_id = s.session_id AND m.kind = 'episode' AND m.valid_until IS NULL), s.next_attempt_at,
    {OPENING}, s.begun_by, s.read_by"""
# A session is pending while it has an active turn beyond its watermark.
PENDING = """(s.consolidated_through IS NULL OR EXISTS (
    SELECT 1 FROM memories m WHERE m.session_id = s.session_id AND m.kind = 'episode'
    AND m.rid > s.consolidated_through AND m.valid_until IS NULL))"""


def session_record(row: tuple[Any, ...]) -> Session:
    """The record of a row selected with ``COLUMNS``."""
    return Session(
        session_id=row[0], first_seen_at=row[1], last_seen_at=row[2], consolidated_at=row[3],
        consolidated_through=row[4], attempts=row[5], last_error=row[6], title=row[7], summary=row[8],
        source=row[9], project=row[10], turns=row[11], next_attempt_at=row[12], opening=_first_line(row[13]), begun_by=row[14],
        read_by=row[15],
    )  # fmt: skip


def _first_line(text: str | None) -> str | None:
    """The first words on one line."""
    words = " ".join((text or "").split())
    if len(words) <= _OPENING:
        return words or None
    cut = words[:_OPENING]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:") + "…"


def register_session(
    connection: apsw.Connection,
    session_id: str,
    first: int,
    last: int,
    *,
    title: str | None = None,
    source: str | None = None,
    project: str | None = None,
    begun_by: str | None = None,
) -> None:
    """Register a session, or widen the span of a known one; what is known already is kept."""
    connection.execute(
        """
        INSERT INTO sessions_consolidations(session_id, first_seen_at, last_seen_at, title, source, project, begun_by)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT(session_id) DO UPDATE SET
            first_seen_at = min(first_seen_at, ?2), last_seen_at = max(last_seen_at, ?3)
        """,
        (session_id, first, last, title, source, project, begun_by),
    )
    if title or source or project:
        connection.execute(
            """
            UPDATE sessions_consolidations
            SET title = coalesce(title, ?2), source = coalesce(source, ?3), project = coalesce(project, ?4)
            WHERE session_id = ?1 AND ((title IS NULL AND ?2 IS NOT NULL) OR (source IS NULL AND ?3 IS NOT NULL)
                                       OR (project IS NULL AND ?4 IS NOT NULL))
            """,
            (session_id, title, source, project),
        )


def id_for_writer(
    connection: apsw.Connection,
    session_id: str,
    begun_by: str,
    source: str | None,
    *,
    same: Sequence[str] = (),
) -> str:
    """The id under which a session of a writer and source is stored. One that somebody else began is another session.

    ``same``: sources that are this writer as well.
    """
    base = session_id[:_LONGEST_BASE]
    for stored in (
        session_id,
        qualified_id(session_id, source or begun_by),
        f"{base} ({begun_by}, {source})"[:_LONGEST],
    ):
        row = connection.execute(
            "SELECT begun_by, source FROM sessions_consolidations WHERE session_id = ?", (stored,)
        ).fetchone()
        if row is None or (row[0] in (None, begun_by) and row[1] in (source, *same)):
            return stored
    return stored


def qualified_id(session_id: str, writer: str) -> str:
    """The id of a session of a writer where the plain one may be somebody else's."""
    return f"{session_id[:_LONGEST_BASE]} ({writer})"[:_LONGEST]


def given_name(connection: apsw.Connection, session_id: str) -> str:
    """What its writer called a session, whoever has another one of that name: the id without what was added to it.

    At most the beginning that every id keeps.
    """
    row: Any = connection.execute(
        "SELECT begun_by, source FROM sessions_consolidations WHERE session_id = ?", (session_id,)
    ).fetchone()
    begun_by, source = row or (None, None)
    added = [f" ({source or begun_by})", f" ({begun_by}, {source})"]
    name = session_id
    while base := next((base for one in added if (base := _without_suffix(name, one))), ""):
        name = base
    return stable_id_part(name)


def stable_id_part(name: str) -> str:
    """The part of a name that the id of its session always has."""
    return name[:_LONGEST_BASE]


def _without_suffix(session_id: str, added: str) -> str:
    """The id before what was added, which is cut where the whole would be too long; empty where it was not."""
    base = session_id.removesuffix(added)
    if base == session_id and len(session_id) == _LONGEST:
        base = session_id[:_LONGEST_BASE]
        base = base if session_id == f"{base}{added}"[:_LONGEST] else session_id
    return base if base != session_id else ""


def given_name_condition(name: str) -> tuple[str, dict[str, str]]:
    """A condition over ``m.session_id``, with its bindings, that every session of this ``given_name`` passes."""
    where = "(m.session_id = :called OR (m.session_id >= :named AND m.session_id < :named || char(1114111)))"
    cut = len(name) >= _LONGEST_BASE
    return where, {"called": name, "named": name[:_LONGEST_BASE] if cut else f"{name} ("}


def id_for_reader(connection: apsw.Connection, session_id: str, begun_by: str) -> str:
    """The session that a writer means by an id: its own one, else the one of that id."""
    row = connection.execute(
        """
        SELECT session_id FROM sessions_consolidations
        WHERE begun_by = ?2 AND (session_id = ?1 OR session_id IN (?3, ?4 || coalesce(source, '') || ')'))
        ORDER BY session_id = ?1 DESC, sid DESC LIMIT 1
        """,
        (
            session_id, begun_by, qualified_id(session_id, begun_by), f"{session_id[:_LONGEST_BASE]} (",
        ),
    ).fetchone()  # fmt: skip
    return str(row[0]) if row else session_id


def is_first_turn(connection: apsw.Connection, session_id: str, rid: int) -> bool:
    """Whether this turn is the first one of its session."""
    return not scalar(
        connection,
        "SELECT EXISTS (SELECT 1 FROM memories WHERE session_id = ? AND kind = 'episode' AND rid < ?)",
        (session_id, rid),
    )


def mark_consolidated(connection: apsw.Connection, session_id: str, at: int) -> None:
    """All that the session holds now is consolidated; a later turn makes it pending again."""
    connection.execute(
        """
        UPDATE sessions_consolidations
        SET consolidated_at = ?2, attempts = 0, last_error = NULL,
            consolidated_through = (SELECT max(rid) FROM memories WHERE session_id = ?1 AND kind = 'episode')
        WHERE session_id = ?1
        """,
        (session_id, at),
    )


def get(connection: apsw.Connection, session_id: str) -> Session:
    """Raises NotFoundError."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM sessions_consolidations s WHERE s.session_id = ?",
        (storable_text(session_id),),
    ).fetchone()
    if row is None:
        raise NotFoundError(f"There is no session {session_id!r}.", "memtui sessions lists them.")
    return session_record(row)


def page(connection: apsw.Connection, *, offset: int = 0, limit: int = 128, text: str = "") -> list[Session]:
    """Sessions, the latest first; ``text`` keeps those whose title, id, source or project contain it."""
    rows = connection.execute(
        f"""
        SELECT {COLUMNS} FROM sessions_consolidations s
        WHERE ?1 = '' OR instr(lower({WORDS}), lower(?1)) > 0
        ORDER BY s.last_seen_at DESC, s.sid DESC LIMIT ?2 OFFSET ?3
        """,
        (storable_text(text), limit, offset),
    )
    return [session_record(row) for row in rows]


def count(connection: apsw.Connection, text: str = "") -> int:
    """How many sessions have ``text`` in their name, id, source or project, in any case; without it all."""
    return int(
        scalar(
            connection,
            f"""
        SELECT count(*) FROM sessions_consolidations s
        WHERE ?1 = '' OR instr(lower({WORDS}), lower(?1)) > 0
        """,
            (storable_text(text),),
        )
    )


def count_pending(connection: apsw.Connection) -> int:
    return int(scalar(connection, f"SELECT count(*) FROM sessions_consolidations s WHERE {PENDING}"))
