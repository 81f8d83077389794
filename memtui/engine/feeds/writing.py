"""The SQL of an import: what is there already, and storing turns many at a time.

A single turn is recorded with its session (curate.turns); here a transaction holds hundreds of turns of few
sessions, so the sessions are registered once for all of them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import apsw

from memtui.engine.curate import turns
from memtui.engine.curate.turns import NewTurn
from memtui.engine.records import Turn
from memtui.engine.store import erased, full_text, memories, sessions
from memtui.engine.store.sql import json_text

_TITLES_KEPT = 256
_ROWS_PER_LOOK = 8
# The source of an import, and those that tell the same turns in other words: the hook which records them as they are
# said, the list of prompts.
SAME_WORDS = {
    "import:claude-code": ("hook:claude-code", "import:claude-history"),
    "import:claude-history": ("hook:claude-code", "import:claude-code"),
}
# About three times what a transaction adds to the full-text index, so that merging keeps up.
MERGED_PAGES = 128


class Titles(OrderedDict[str, str]):
    """The titles that this import gave to its latest sessions: those it may still replace."""

    def give(self, session_id: str, title: str) -> str | None:
        """Note the new title; returns the one given before, if it is still known."""
        before = self.pop(session_id, None)
        self[session_id] = title
        if len(self) > _TITLES_KEPT:
            self.popitem(last=False)
        return before


def known_keys(connection: apsw.Connection, keys: Sequence[str]) -> set[str]:
    """Those of the source keys that the memory holds, in the Trash or not."""
    rows = connection.execute(
        "SELECT source_key FROM memories WHERE source_key IN (SELECT value FROM json_each(?))",
        (json_text(keys),),
    )
    return {str(key) for (key,) in rows}


def erased_turns(connection: apsw.Connection, turns: Mapping[str, NewTurn]) -> set[str]:
    """The keys of those turns that were erased for good under any key: recorded as they were said, or told by a twin."""
    known = {
        erased.turn_key(turn.session_id, turn.role, turn.intake.content): key for key, turn in turns.items()
    }
    return {known[found] for found in erased.erased(connection, known)}


def is_told_otherwise(connection: apsw.Connection, turn: Turn) -> bool:
    """Whether another source told a turn as a feed found it."""
    others = SAME_WORDS.get(turn.source, ())
    return bool(others) and turns.is_told(
        connection, turn.session_id, turn.role, turn.content, int((turn.event_time or 0) // 1), others
    )


def told_otherwise(connection: apsw.Connection, new: Mapping[str, NewTurn]) -> set[str]:
    """The keys of those turns that another source told: it gave them another key, or none."""
    return {
        key
        for key, turn in new.items()
        if (others := SAME_WORDS.get(turn.source or ""))
        and turns.is_told(
            connection, turn.session_id, turn.role, turn.intake.content, turn.event_time, others
        )
    }


def store_some(
    connection: apsw.Connection, new: Sequence[NewTurn], titles: Titles, *, now: int, seconds: float
) -> tuple[int, list[NewTurn]]:
    """Store turns until the time is up: how many were taken, and those that were not there already."""
    until = time.monotonic() + seconds
    stored: list[NewTurn] = []
    taken = 0
    for taken, turn in enumerate(new, 1):
        if _insert(connection, turn, now):
            stored.append(turn)
        if taken % _ROWS_PER_LOOK == 0 and time.monotonic() > until:
            break
    _register_sessions(connection, stored, titles)
    full_text.merge(connection, MERGED_PAGES)
    return taken, stored


def _insert(connection: apsw.Connection, turn: NewTurn, now: int) -> bool:
    others = SAME_WORDS.get(turn.source or "")
    if others and turns.is_told(
        connection, turn.session_id, turn.role, turn.intake.content, turn.event_time, others
    ):
        return False  # a hook was quicker, since that was looked up
    rid = memories.insert(
        connection, kind="episode", content=turn.intake.content, event_time=turn.event_time, created_at=now,
        trust=turn.trust, session_id=turn.session_id, source_role=turn.role, source=turn.source,
        source_key=turn.source_key, project=turn.project, attributes=turn.intake.attributes,
    )  # fmt: skip
    if rid is not None and turn.intake.quarantined:
        connection.execute("UPDATE index_queue SET vector = 0 WHERE rid = ?", (rid,))
    return rid is not None


def _register_sessions(connection: apsw.Connection, stored: Sequence[NewTurn], titles: Titles) -> None:
    by_session: dict[str, list[NewTurn]] = {}
    for turn in stored:
        by_session.setdefault(turn.session_id, []).append(turn)
    for session_id, those in by_session.items():
        times = [turn.event_time for turn in those]
        title = next((turn.title for turn in reversed(those) if turn.title), None)
        if title and erased.erased(connection, [erased.title_key(session_id, title)]):
            title = None
        sessions.seen(
            connection, session_id, min(times), max(times),
            title=title, source=those[0].source, project=those[-1].project,
        )  # fmt: skip
        if title and (before := titles.give(session_id, title)) not in (None, title):
            # A conversation may get its title late. One that somebody else gave is not ours to replace.
            connection.execute(
                "UPDATE sessions_consolidations SET title = ? WHERE session_id = ? AND title = ?",
                (title, session_id, before),
            )
