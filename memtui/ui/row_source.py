"""The source of rows for a list of any length, and the threads that read it.

A ``RowSource`` has blocking functions over the memory. ``row_pages.RowPages`` calls them in reader threads.
``ListSource`` has a short list that is in memory already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

Row = TypeVar("Row")


class RowSource(Protocol[Row]):
    """Rows in a fixed order. Methods block and are called from reader threads, unless they say otherwise."""

    def count(self) -> int:
        """How many rows there are."""

    def page_rows(self, offset: int, limit: int) -> Sequence[Row]:
        """At most ``limit`` rows from ``offset`` on."""

    def row_keys(self) -> Iterator[Sequence[int]]:
        """The keys of all rows in order, in chunks. It can be cancelled between two chunks."""

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[Row]:
        """The rows with these keys, in any order; those that no longer exist are left out."""

    def row_key(self, row: Row) -> int:
        """The permanent key of a row. Does not block."""


class Readers:
    """The threads that read for the app: one for pages, one for keys, two for everything else.

    Each has its own connection to the file, so that no slow read delays a page.
    """

    def __init__(self) -> None:
        self.pages = ThreadPoolExecutor(1, "memtui-pages")
        self.keys = ThreadPoolExecutor(1, "memtui-keys")
        self.asks = ThreadPoolExecutor(2, "memtui-asks")

    def close(self) -> None:
        for executor in (self.pages, self.keys, self.asks):
            executor.shutdown(wait=False, cancel_futures=True)


class ListSource(Generic[Row]):
    """``rows`` in their order. ``key`` returns the key of a row."""

    def __init__(self, rows: Sequence[Row], key: Callable[[Row], int]) -> None:
        self._rows = tuple(rows)
        self._key = key

    def count(self) -> int:
        return len(self._rows)

    def page_rows(self, offset: int, limit: int) -> Sequence[Row]:
        return self._rows[offset : offset + limit]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield [self._key(row) for row in self._rows]

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[Row]:
        asked_for = set(keys)
        return [row for row in self._rows if self._key(row) in asked_for]

    def row_key(self, row: Row) -> int:
        return self._key(row)
