"""Sessions, operations and recalls as lists for people: filtered by words, a page at a time or by key.

A row must contain all words in its visible text, in any case and script, and no word that has a ``-``
before it; ``id:3,7`` asks for rows by key, ``on:today`` or ``on:2026-03`` for those of a time, ``after:7d`` and
``before:2026-03`` for those from or until one, as in a filter of memories; ``is:pending`` asks for the sessions that
wait. The keys (sid, op_id, recall_id) let a list follow its rows while new ones come in.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from memtui.engine.records import Operation
from memtui.engine.records.lists import RecallRow, SessionRow

from . import operations, recalls, sessions
from .connections import Connections
from .sql import keys_in_chunks, scalar
from .tokens import fold_text

T = TypeVar("T")


class _ListTable(NamedTuple):
    """``text``: the SQL expression that is searched; ``orders``: name -> terms of ORDER BY, last first.

    ``at``: the column of the time that ``on:``, ``after:`` and ``before:`` are about. ``states``: what ``is:`` knows,
    each with its condition.
    """

    table: str
    key: str
    text: str
    columns: str
    orders: dict[str, tuple[str, ...]]
    record: Callable[[Sequence[Any]], Any]
    at: str
    states: Mapping[str, str] = {}


SpanOf = Callable[[str], tuple[int, int] | None]
"""Reads a date or span of the filter language: its first second, and the first one after it; None for other texts."""


class KeyedList(Generic[T]):
    """One kind of rows. Safe to call from any thread; every method blocks."""

    def __init__(self, connections: Connections, what: _ListTable, span_of: SpanOf) -> None:
        self._connections = connections
        self._what = what
        self._span_of = span_of

    def count(self, words: str = "") -> int:
        where, values = _filter_condition(self._what, words, self._span_of)
        with self._connections.read() as connection:
            return int(scalar(connection, f"SELECT count(*) FROM {self._what.table} WHERE {where}", values))

    def page(
        self, words: str = "", *, order: str = "", falling: bool = True, offset: int = 0, limit: int = 128
    ) -> list[T]:
        """``limit`` rows from ``offset`` on; ``order`` is one of the kind's, its first if empty."""
        what = self._what
        where, values = _filter_condition(what, words, self._span_of)
        by = _order_clause(what, order, falling)
        statement = f"""
            SELECT {what.columns} FROM {what.table} WHERE {what.key} IN (
                SELECT {what.key} FROM {what.table} WHERE {where} ORDER BY {by} LIMIT ? OFFSET ?)
            ORDER BY {by}"""
        with self._connections.read() as connection:
            return [what.record(row) for row in connection.execute(statement, (*values, limit, offset))]

    def keys(self, words: str = "", *, order: str = "", falling: bool = True) -> Iterator[array[int]]:
        """The keys of all rows in order, in chunks; stop iterating (and close) to cancel."""
        what = self._what
        where, values = _filter_condition(what, words, self._span_of)
        statement = f"SELECT {what.key} FROM {what.table} WHERE {where} ORDER BY {_order_clause(what, order, falling)}"
        with self._connections.read() as connection:
            yield from keys_in_chunks(connection.execute(statement, values))

    def rows(self, keys: Sequence[int]) -> list[T]:
        """The rows with these keys, in any order; those that are gone are left out."""
        what = self._what
        marks = ",".join("?" * len(keys))
        statement = f"SELECT {what.columns} FROM {what.table} WHERE {what.key} IN ({marks})"
        with self._connections.read() as connection:
            return [what.record(row) for row in connection.execute(statement, tuple(keys))]


def session_list(connections: Connections, span_of: SpanOf) -> KeyedList[SessionRow]:
    """Orders: ``pending`` (what waits first, then the latest), ``time`` (the latest first), ``title``.

    The time of a session is that of its last turn.
    """
    return KeyedList(connections, _SESSIONS, span_of)


def session_row(connections: Connections, session_id: str) -> SessionRow:
    """One session as a row. Raises NotFoundError."""
    with connections.read() as connection:
        session = sessions.get(connection, session_id)
        values = (session.session_id,)
        row = connection.execute(
            f"SELECT s.sid, {sessions.PENDING} FROM sessions_consolidations s WHERE s.session_id = ?", values
        ).fetchone()
    assert row is not None
    return SessionRow(sid=row[0], pending=bool(row[1]), session=session)


def operation_list(connections: Connections, span_of: SpanOf) -> KeyedList[Operation]:
    """The newest first. Searched are actor, kind, label and state."""
    return KeyedList(connections, _OPERATIONS, span_of)


def recall_list(connections: Connections, span_of: SpanOf) -> KeyedList[RecallRow]:
    """The newest first. Searched are agent, question and session."""
    return KeyedList(connections, _RECALLS, span_of)


def _filter_condition(what: _ListTable, words: str, span_of: SpanOf) -> tuple[str, tuple[Any, ...]]:
    terms: list[str] = ["1"]
    values: list[Any] = []
    for word in words.split():
        if keys := keys_named(word):
            terms.append(f"{what.key} IN ({','.join('?' * len(keys))})")
            values += keys
            continue
        if (bounds := _time_bounds(word.removeprefix("-"), span_of)) is not None:
            within = " AND ".join(f"{what.at} {operator} ?" for operator, _ in bounds)
            terms.append(f"NOT ({within})" if word.startswith("-") else f"({within})")
            values += (second for _, second in bounds)
            continue
        state = what.states.get(word.removeprefix("-").removeprefix("is:")) if "is:" in word else None
        if state is not None:
            terms.append(f"({state}) IS {'NOT ' if word.startswith('-') else ''}TRUE")
            continue
        wanted = fold_text(word.removeprefix("-")) if len(word) > 1 else fold_text(word)
        missing = word.startswith("-") and len(word) > 1
        terms.append(f"instr(fold({what.text}), ?) {'=' if missing else '>'} 0")
        # SQLite cannot store a surrogate or a NUL, so nothing contains one.
        values.append(wanted.encode("utf-8", "replace").decode().replace("\0", "\ufffd"))
    return " AND ".join(terms), tuple(values)


def _time_bounds(word: str, span_of: SpanOf) -> list[tuple[str, int]] | None:
    """The operators and seconds of ``on:``, ``after:`` or ``before:``. None for any other word, or for no time."""
    key, _, text = word.partition(":")
    if key not in ("on", "after", "before") or (span := span_of(text)) is None:
        return None
    if key == "on":
        return [(">=", span[0]), ("<", span[1])]
    return [(">=" if key == "after" else "<", span[0])]


def keys_named(word: str) -> list[str]:
    """What stands after ``id:``, parted by commas; nothing for any other word."""
    return [key for key in word[3:].split(",") if key] if word.startswith("id:") else []


def _order_clause(what: _ListTable, order: str, falling: bool) -> str:
    terms = what.orders[order or next(iter(what.orders))]
    return ", ".join(f"{term} {'DESC' if falling else 'ASC'}" for term in terms)


_SESSIONS = _ListTable(
    "sessions_consolidations s",
    "s.sid",
    sessions.WORDS,
    f"s.sid, {sessions.PENDING}, {sessions.COLUMNS}",
    {
        "pending": (sessions.PENDING, "s.last_seen_at", "s.sid"),
        "time": ("s.last_seen_at", "s.sid"),
        "title": (f"fold(coalesce(s.title, {sessions.OPENING}, s.session_id))", "s.sid"),
    },
    lambda row: SessionRow(sid=row[0], pending=bool(row[1]), session=sessions.session_record(tuple(row[2:]))),
    at="s.last_seen_at",
    states={"pending": sessions.PENDING},
)
_OPERATIONS = _ListTable(
    "ops o",
    "o.op_id",
    "o.actor || ' ' || o.kind || ' ' || o.label || ' ' || o.state",
    operations.COLUMNS,
    {"time": ("o.op_id",)},
    lambda row: operations.operation_of(tuple(row)),
    at="o.at",
)
_RECALLS = _ListTable(
    "recalls r",
    "r.recall_id",
    "r.agent || ' ' || r.query || ' ' || coalesce(r.session_id, '')",
    "r.recall_id, r.at, r.agent, r.session_id, r.query, r.memory_ids, r.saved",
    {"time": ("r.recall_id",)},
    lambda row: RecallRow(recall_id=row[0], recall=recalls.recall_record(row[1:])),
    at="r.at",
)
