"""Titles that one file has for a session in another one: given once all files were read, as their order says nothing."""

from __future__ import annotations

from collections.abc import Iterable

from memtui.engine.memories import validation
from memtui.engine.store import tombstones
from memtui.engine.store.sql import json_text

from .items import SessionTitle
from .report import ImportCounts

_MOST_WAITING = 10_000


class SessionTitles:
    """The titles met so far. ``given``: how many sessions got one."""

    def __init__(self, shared: ImportCounts) -> None:
        self._shared = shared
        self._waiting: dict[str, str] = {}
        self.given = 0

    def add(self, titles: Iterable[SessionTitle]) -> None:
        for one in titles:
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.clear()
            self._waiting[one.source_key] = one.title

    def give(self) -> None:
        """Give a session without a title the one whose turn it holds. What the memory does not hold is forgotten."""
        waiting, self._waiting = self._waiting, {}
        if not waiting or self._shared.dry_run:
            return
        with self._shared.connections.read() as connection:
            rows = connection.execute(
                """
                SELECT m.source_key, m.session_id FROM memories m JOIN sessions_consolidations s USING (session_id)
                WHERE m.source_key IN (SELECT value FROM json_each(?)) AND m.kind = 'episode' AND s.title IS NULL
                """,
                (json_text(sorted(waiting)),),
            ).fetchall()
            titles = {str(session): validation.without_secrets(waiting[str(key)]) for key, session in rows}
            wanted = {
                session: title
                for session, title in titles.items()
                if not tombstones.erased(connection, [tombstones.title_key(session, title)])
            }
        if not wanted:
            return
        with self._shared.operation.part() as connection:
            connection.executemany(
                "UPDATE sessions_consolidations SET title = ? WHERE session_id = ? AND title IS NULL",
                [(title, session) for session, title in wanted.items()],
            )
        self.given += len(wanted)
