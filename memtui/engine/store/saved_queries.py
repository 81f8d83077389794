"""Pinned questions with their filter and profile.

A question may name the memories that it should find. The results are stored beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedQuery

from .sql import as_json, json_text

_COLUMNS = "q.query_id, q.name, q.query, q.filter, q.profile, q.created_at, q.expected, q.top"


def save(
    connection: apsw.Connection, name: str, query: str, filter: str, profile: str | None, now: int
) -> None:
    """Keep a question under a name; one of that name is replaced, what it should find stays.

    Raises InputError where a saved filter has the name.
    """
    connection.execute(
        """
        INSERT INTO saved_queries(name, query, filter, profile, created_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT(name) DO UPDATE SET query = excluded.query, filter = excluded.filter, profile = excluded.profile
        WHERE query <> ''
        """,
        (name, query, filter, profile, now),
    )
    if not connection.changes():
        raise InputError("A saved filter has this name.", "Ask in other words.")


def expect(connection: apsw.Connection, query_id: int, expected: Sequence[str], top: int) -> None:
    """Say what a question should find; how it fared until now is forgotten."""
    connection.execute(
        "UPDATE saved_queries SET expected = ?, top = ? WHERE query_id = ?",
        (as_json(expected), top, query_id),
    )
    connection.execute("DELETE FROM question_results WHERE query_id = ?", (query_id,))


def get(connection: apsw.Connection, query_id: int) -> SavedQuery:
    """Raises NotFoundError."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM saved_queries q WHERE q.query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        raise NotFoundError("This question is not pinned any more.")
    return _record(row)


def remove(connection: apsw.Connection, query_id: int) -> SavedQuery:
    """Returns what it was. Raises NotFoundError."""
    gone = get(connection, query_id)
    connection.execute("DELETE FROM saved_queries WHERE query_id = ?", (query_id,))
    return gone


def everything(connection: apsw.Connection) -> list[SavedQuery]:
    """The latest first."""
    return [
        _record(row)
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM saved_queries q WHERE q.query <> '' ORDER BY q.query_id DESC"
        )
    ]


def keep_result(connection: apsw.Connection, result: QuestionResult) -> None:
    """Keep how a question fared; one that was taken away meanwhile is passed over."""
    connection.execute(
        """
        INSERT INTO question_results(query_id, at, passed, places)
        SELECT query_id, ?, ?, ? FROM saved_queries WHERE query_id = ?
        ON CONFLICT(query_id) DO UPDATE SET at = excluded.at, passed = excluded.passed, places = excluded.places
        """,
        (
            result.at, result.passed, json_text(result.places), result.question.query_id,
        ),
    )  # fmt: skip


def results(connection: apsw.Connection) -> list[QuestionResult]:
    """How the questions fared that were asked since they expect something; the failed ones first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, r.at, r.passed, r.places FROM saved_queries q JOIN question_results r USING (query_id) "
        "ORDER BY r.passed, q.query_id DESC"
    )
    return [
        QuestionResult(
            question=_record(question),
            at=at,
            passed=bool(passed),
            places=msgspec.json.decode(places, type=tuple[ExpectedMemory, ...]),
        )
        for *question, at, passed, places in list[Any](rows)
    ]


def _record(row: Sequence[Any]) -> SavedQuery:
    values = dict(zip(SavedQuery.__struct_fields__, row, strict=True))
    return SavedQuery(
        **(values | {"expected": tuple(msgspec.json.decode(values["expected"], type=list[str]))})
    )
