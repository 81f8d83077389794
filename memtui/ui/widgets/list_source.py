"""A short list in memory as the source of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")


class ListSource(Generic[Row]):
    """``rows`` in their order. ``key`` returns the key of a row (see ``row_source``)."""

    def __init__(self, rows: Sequence[Row], key: Callable[[Row], int]) -> None:
        self._rows = tuple(rows)
        self._key = key

    def count(self) -> int:
        return len(self._rows)

    def page(self, offset: int, limit: int) -> Sequence[Row]:
        return self._rows[offset : offset + limit]

    def keys(self) -> Iterator[Sequence[int]]:
        yield [self._key(row) for row in self._rows]

    def rows(self, keys: Sequence[int]) -> Sequence[Row]:
        asked_for = set(keys)
        return [row for row in self._rows if self._key(row) in asked_for]

    def key(self, row: Row) -> int:
        return self._key(row)
