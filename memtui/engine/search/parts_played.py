"""Turns in which the person speaks as somebody else: "pretend you are my barber. I have a wife", and what follows a role play."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw

from memtui.engine.guards import role_play
from memtui.engine.records import MemoryRecord
from memtui.engine.store.sql import as_json

from .scope import Scope

LONGEST_PLAY = 86_400
"""Seconds before a turn in which a part that is played in it may have begun."""


def find_played(connection: apsw.Connection, turns: Sequence[MemoryRecord], scope: Scope) -> dict[int, str]:
    """By the rid of each turn that sets up a part to play, or follows one in its session that did not end, what it says
    before that as the person.

    ``scope``: the turns that there are for whoever asks."""
    played = {turn.rid: own for turn in turns if (own := role_play.before_part(turn.content)) != turn.content}
    sessions = {turn.session_id for turn in turns if turn.session_id}
    for session in _sessions_with_part(connection, sessions, scope):
        said = [turn for turn in turns if turn.session_id == session]
        for rid in _rids_in_part(connection, session, said, scope):
            played.setdefault(rid, "")
    return played


def _sessions_with_part(
    connection: apsw.Connection, sessions: Collection[str], scope: Scope
) -> frozenset[str]:
    """The sessions in which the person took a part at some time."""
    if not sessions:
        return frozenset()
    rows = connection.execute(
        f"""
        SELECT m.session_id, m.content FROM memories m
        WHERE m.session_id IN (SELECT value FROM json_each(:played_sessions))
          AND (m.content LIKE '%play%' OR m.content LIKE '%pretend%') AND {scope.where}
        """,
        {**scope.bindings, "played_sessions": as_json(sorted(sessions))},
    )
    return frozenset(session for session, content in rows if role_play.begins_own_part(content))


def _rids_in_part(
    connection: apsw.Connection, session: str, turns: Sequence[MemoryRecord], scope: Scope
) -> set[int]:
    """Those of the person's turns of a session, as far as ``turns`` reach, that are said in a part."""
    rows = connection.execute(
        f"""
        SELECT m.rid, m.content FROM memories m
        WHERE m.session_id = :played_session AND m.event_time BETWEEN :played_since AND :played_until AND {scope.where}
        ORDER BY m.event_time, m.rid
        """,
        {
            **scope.bindings, "played_session": session,
            "played_since": min(turn.event_time for turn in turns) - LONGEST_PLAY,
            "played_until": max(turn.event_time for turn in turns),
        },
    )  # fmt: skip
    found, playing = set(), False
    for rid, content in rows:
        playing = role_play.is_in_part(content, playing)
        if playing:
            found.add(rid)
    return found
