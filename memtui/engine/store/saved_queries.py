"""Questions that the person keeps at hand, with the filter and the profile they were asked with."""

from __future__ import annotations

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.records import Record


class SavedQuery(Record):
    query_id: int
    name: str
    query: str
    filter: str
    profile: str | None
    created_at: int


_COLUMNS = "query_id, name, query, filter, profile, created_at"


def save(
    connection: apsw.Connection, name: str, query: str, filter: str, profile: str | None, now: int
) -> None:
    """Keep a question under a name; one of that name is replaced."""
    connection.execute(
        """
        INSERT INTO saved_queries(name, query, filter, profile, created_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT(name) DO UPDATE SET query = excluded.query, filter = excluded.filter, profile = excluded.profile
        """,
        (name, query, filter, profile, now),
    )


def remove(connection: apsw.Connection, query_id: int) -> SavedQuery:
    """Returns what it was. Raises NotFoundError."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM saved_queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        raise NotFoundError("This question is not pinned any more.")
    connection.execute("DELETE FROM saved_queries WHERE query_id = ?", (query_id,))
    return _record(row)


def everything(connection: apsw.Connection) -> list[SavedQuery]:
    """The latest first."""
    return [
        _record(row)
        for row in connection.execute(f"SELECT {_COLUMNS} FROM saved_queries ORDER BY query_id DESC")
    ]


def _record(row: tuple[object, ...]) -> SavedQuery:
    return SavedQuery(**dict(zip(SavedQuery.__struct_fields__, row, strict=True)))  # type: ignore[arg-type]
