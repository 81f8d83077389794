"""Helper functions for statements that return one value, one row or very many keys."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import apsw
import msgspec

KEYS_AT_ONCE = 8_192


def storable_text(text: str) -> str:
    """The text as SQLite can take it: half a character (a lone surrogate) becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def scalar(connection: apsw.Connection, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> Any:
    """The first column of the first row; None when there is no row."""
    row = connection.execute(statement, values).fetchone()
    return row[0] if row else None


def json_text(value: object) -> str:
    """A value as the JSON that a column keeps."""
    return msgspec.json.encode(value).decode()


def as_json(values: Iterable[object]) -> str:
    """A list as one binding, for ``json_each``."""
    return json_text(list(values))


def keys_in_chunks(rows: Iterable[Any]) -> Iterator[array[int]]:
    """The keys in rows of one column, in order, in arrays of at most ``KEYS_AT_ONCE``; none is empty."""
    chunk = array("q")
    for (key,) in rows:
        chunk.append(key)
        if len(chunk) == KEYS_AT_ONCE:
            yield chunk
            chunk = array("q")
    if chunk:
        yield chunk


class TemporaryTable:
    """A context manager; with it the table goes. ``table``: what stands after CREATE TABLE."""

    def __init__(self, table: str) -> None:
        self._database = apsw.Connection("")
        self._database.execute("PRAGMA journal_mode = OFF").fetchall()
        self._database.execute(f"CREATE TABLE {table}")
        self._database.execute("BEGIN")  # never committed: no other connection reads it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()
