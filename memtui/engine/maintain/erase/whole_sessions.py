"""Sessions that go with what was said in them, and what was told of those that only lose turns."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memtui.engine.store import sessions
from memtui.engine.store.sql import as_json, scalar, storable

from .going import COLUMNS, Closure
from .taken_back import of_sessions, sessions_gone, told_of


def take_session(
    connection: apsw.Connection, found: Closure, session_id: str, backup: bool, stays: Callable[[str], bool]
) -> None:
    """All turns of a session go, and what was noted in it without a source. Raises NotFoundError outside of a ``backup``."""
    taken_back = of_sessions(connection, [storable(session_id)])
    if not backup and not taken_back:
        sessions.get(connection, session_id)
    title = _title(connection, session_id)
    if title is not None:
        found.sessions[session_id] = title
    for row in connection.execute(
        f"""
        SELECT {COLUMNS}, m.kind = 'episode' FROM memories m WHERE m.session_id = ? AND (
            m.kind = 'episode' OR NOT EXISTS (SELECT 1 FROM memory_links l WHERE l.from_id = m.id AND l.rel = 'source'))
        """,
        (session_id,),
    ).fetchall():
        said = bool(row[-1])
        if not stays(str(row[1])) and (said or str(row[1]) not in found.request.keep):
            found.take(row[:-1], "said in the session" if said else "drawn from the session", chosen=said)
    for gone in taken_back:
        said = gone.kind == "episode"
        if stays(gone.id) or (gone.live and gone.id not in found.rows):
            continue  # it is back, in another session
        if said or not (gone.drawn_from or gone.id in found.request.keep):
            found.take_gone(gone, "said in the session" if said else "drawn from the session", chosen=said)
    _take_session_gone(connection, found, session_id)


def emptied(connection: apsw.Connection, found: Closure) -> None:
    """A session goes with its last memory."""
    named = {row.session_id for row in found.every_row if row.session_id} - found.sessions.keys()
    ids = found.ids
    remembered = {row.session_id for row in of_sessions(connection, named) if row.id not in ids}
    for session_id in named:
        rest = scalar(
            connection,
            "SELECT 1 FROM memories WHERE session_id = ? AND rid NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
            (session_id, as_json(found.rids)),
        )
        title = _title(connection, session_id)
        if rest is None and title is not None:
            found.sessions[session_id] = title
        if rest is None and session_id not in remembered:
            _take_session_gone(connection, found, session_id)


def retold(connection: apsw.Connection, found: Closure) -> None:
    """What was told of a session that loses turns, now or before: a summary has other words than they."""
    first: dict[str, int] = {}
    for row in found.every_row:
        if row.kind == "episode" and row.session_id and row.session_id not in found.sessions:
            first[row.session_id] = min(row.rid, first.get(row.session_id, row.rid))
    for session_id, turn in first.items():
        for sid, summary, error, through in connection.execute(
            "SELECT sid, summary, last_error, consolidated_through FROM sessions_consolidations WHERE session_id = ?",
            (session_id,),
        ).fetchall():
            covered = turn <= int(str(through or 0))
            found.retold[int(str(sid))] = covered
            told = [*((summary,) if covered else ()), error, *told_of(connection, int(str(sid)))]
            stays = None if covered else summary
            found.told.update(dict.fromkeys(str(text) for text in told if text and text != stays))
        for session in sessions_gone(connection, session_id):
            found.retold[session.sid] = True
            found.told.update(dict.fromkeys((*session.words, *told_of(connection, session.sid))))


def _title(connection: apsw.Connection, session_id: str) -> str | None:
    """Of a session that has none ""; None where there is no such session."""
    title: str | None = scalar(
        connection,
        "SELECT coalesce(title, '') FROM sessions_consolidations WHERE session_id = ?",
        (session_id,),
    )
    return title


def _take_session_gone(connection: apsw.Connection, found: Closure, session_id: str) -> None:
    for session in sessions_gone(connection, session_id):
        found.sessions.setdefault(session_id, session.title)
        found.sessions_gone.add(session.sid)
        found.told.update(dict.fromkeys(session.words))
