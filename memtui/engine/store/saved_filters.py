"""Saved filters: rows of ``saved_queries`` without a question."""

from __future__ import annotations

import apsw

from memtui.engine.errors import InputError
from memtui.engine.records.saved import SavedFilter


def everything(connection: apsw.Connection) -> list[SavedFilter]:
    """In the order of their names."""
    rows = connection.execute(
        "SELECT query_id, name, filter FROM saved_queries WHERE query = '' ORDER BY name COLLATE NOCASE, name"
    )
    return [SavedFilter(query_id=key, name=name, filter=filter) for key, name, filter in rows]


def save(connection: apsw.Connection, name: str, filter: str, now: int) -> None:
    """Keep a filter; one of that name is replaced. Raises InputError where a pinned question has the name."""
    connection.execute(
        """
        INSERT INTO saved_queries(name, query, filter, created_at) VALUES (?, '', ?, ?)
        ON CONFLICT(name) DO UPDATE SET filter = excluded.filter WHERE query = ''
        """,
        (name, filter, now),
    )
    if not connection.changes():
        raise InputError("A pinned question has this name.", "Give the filter another one.")


def remove(connection: apsw.Connection, query_id: int) -> None:
    connection.execute("DELETE FROM saved_queries WHERE query_id = ? AND query = ''", (query_id,))
