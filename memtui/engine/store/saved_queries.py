"""Pinned questions with their results, saved filters, and the values that a filter can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedFilter, SavedQuery

from . import withheld
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
        raise InputError("A saved filter already has this name.", "Ask in other words.")


def set_expected(connection: apsw.Connection, query_id: int, expected: Sequence[str], top: int) -> None:
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
        raise NotFoundError(
            "This question is no longer pinned.", "memtui questions list shows the pinned ones."
        )
    return _question_record(row)


def remove(connection: apsw.Connection, query_id: int) -> SavedQuery:
    """Returns what it was. Raises NotFoundError."""
    gone = get(connection, query_id)
    connection.execute("DELETE FROM saved_queries WHERE query_id = ?", (query_id,))
    return gone


def all_questions(connection: apsw.Connection) -> list[SavedQuery]:
    """The latest first."""
    return [
        _question_record(row)
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


def results_of_questions(connection: apsw.Connection) -> list[QuestionResult]:
    """How the questions fared that were asked since they expect something; the failed ones first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, r.at, r.passed, r.places FROM saved_queries q JOIN question_results r USING (query_id) "
        "ORDER BY r.passed, q.query_id DESC"
    )
    return [
        QuestionResult(
            question=_question_record(question),
            at=at,
            passed=bool(passed),
            places=msgspec.json.decode(places, type=tuple[ExpectedMemory, ...]),
        )
        for *question, at, passed, places in list[Any](rows)
    ]


def _question_record(row: Sequence[Any]) -> SavedQuery:
    values = dict(zip(SavedQuery.__struct_fields__, row, strict=True))
    return SavedQuery(
        **(values | {"expected": tuple(msgspec.json.decode(values["expected"], type=list[str]))})
    )


NEWEST_LOOKED_AT = 200_000
"""So many of the newest memories are looked at."""
MAX_VALUES = 300
"""So many values of a key are given."""

# Turns have most of the sessions and sources, but a list shows what was drawn from them: that is what is counted.
_ROWS = f"(SELECT * FROM memories WHERE valid_until IS NULL ORDER BY rid DESC LIMIT {NEWEST_LOOKED_AT})"
_COUNTED = "count(DISTINCT CASE WHEN m.kind <> 'episode' THEN m.rid END)"
_FILTER_COLUMNS = {
    "kind": "m.kind", "topic": "m.topic", "category": "m.category", "trust": "m.trust",
    "role": "m.source_role", "project": "m.project", "source": "m.source",
}  # fmt: skip


def filter_values(connection: apsw.Connection) -> dict[str, list[tuple[str, int | None]]]:
    """Key of the filter language -> values with their counts; None where only turns have a value."""
    values = {
        key: _select_pairs(
            connection,
            f"""SELECT {column}, sum(m.kind <> 'episode') AS counted FROM {_ROWS} m WHERE {column} <> ''
            GROUP BY 1 ORDER BY counted DESC, count(*) DESC, 1 LIMIT {MAX_VALUES}""",
        )
        for key, column in _FILTER_COLUMNS.items()
    }
    # A topic is found as a tag too.
    values["tag"] = _select_pairs(
        connection,
        f"""SELECT value, {_COUNTED} AS counted FROM (
            SELECT m.rid, m.kind, t.value FROM {_ROWS} m, json_each(m.tags) t WHERE m.tags <> '[]'
            UNION ALL SELECT m.rid, m.kind, m.topic FROM {_ROWS} m WHERE m.topic <> '' AND m.kind <> 'episode') m
        GROUP BY 1 ORDER BY counted DESC, count(*) DESC, 1 LIMIT {MAX_VALUES}""",
    )
    values["entity"] = _select_pairs(
        connection,
        f"""SELECT canonical_name, NULL FROM entities WHERE NOT hidden AND merged_into IS NULL
        ORDER BY mention_count DESC, eid LIMIT {MAX_VALUES}""",
    )
    values["withheld"] = [(name, None) for name in withheld.withheld_agents(connection)]
    values["session"] = _select_pairs(
        connection,
        f"""SELECT coalesce(nullif(title, ''), session_id), NULL FROM sessions_consolidations
        ORDER BY last_seen_at DESC, sid DESC LIMIT {MAX_VALUES}""",
    )
    return values


def _select_pairs(connection: apsw.Connection, statement: str) -> list[tuple[str, int | None]]:
    return [(str(value), counted or None) for value, counted in connection.execute(statement)]


def saved_filters(connection: apsw.Connection) -> list[SavedFilter]:
    """In the order of their names."""
    rows = connection.execute(
        "SELECT query_id, name, filter FROM saved_queries WHERE query = '' ORDER BY name COLLATE NOCASE, name"
    )
    return [SavedFilter(query_id=key, name=name, filter=filter) for key, name, filter in rows]


def save_filter(connection: apsw.Connection, name: str, filter: str, now: int) -> None:
    """Keep a filter; one of that name is replaced. Raises InputError where a pinned question has the name."""
    connection.execute(
        """
        INSERT INTO saved_queries(name, query, filter, created_at) VALUES (?, '', ?, ?)
        ON CONFLICT(name) DO UPDATE SET filter = excluded.filter WHERE query = ''
        """,
        (name, filter, now),
    )
    if not connection.changes():
        raise InputError("A pinned question already has this name.", "Give the filter another one.")


def remove_filter(connection: apsw.Connection, query_id: int) -> None:
    connection.execute("DELETE FROM saved_queries WHERE query_id = ? AND query = ''", (query_id,))
