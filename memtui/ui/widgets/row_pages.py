"""Pages of a list of any length: a few of them in memory, the rest in the file.

``RowPages`` calls a ``RowSource`` in reader threads and keeps the newest few pages. At first rows are read by OFFSET,
while another thread reads the keys of all rows into an array. After that a page is read by its keys, which
costs the same at row one million as at row one. All state of ``RowPages`` belongs to the event loop.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Generic, ParamSpec, TypeVar

from memtui.ui.row_source import Readers, RowSource

Row = TypeVar("Row")
T = TypeVar("T")
P = ParamSpec("P")

PAGE = 128
KEPT = 16


class RowPages(Generic[Row]):
    """One reading of a source.

    ``count``: the number of rows as far as known; ``exact``: whether that is final. ``arrived`` is called with
    (first row, number of rows) after a page was read, ``counted`` when ``count`` or ``keys`` changed, ``failed``
    once with the error that stopped the reading.
    """

    def __init__(
        self,
        source: RowSource[Row],
        readers: Readers,
        *,
        arrived: Callable[[int, int], None],
        counted: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.source = source
        self.count = 0
        self.exact = False
        self.keys: array[int] | None = None
        self.closed = False
        self._readers = readers
        self._arrived, self._counted, self._failed = arrived, counted, failed
        self._pages: OrderedDict[int, tuple[Row | None, ...]] = OrderedDict()
        self._wanted: list[int] = []
        self._loading: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- for the table

    def row_at(self, index: int) -> Row | None:
        """The row. None if its page is not read yet (this starts it), or if the row is gone."""
        number, position = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            self.request_rows(index, 1)
            return None
        self._pages.move_to_end(number)
        return page[position] if position < len(page) else None

    def key_at(self, index: int) -> int | None:
        if self.keys is not None:
            return self.keys[index] if 0 <= index < len(self.keys) else None
        page = self._pages.get(index // PAGE)
        row = page[index % PAGE] if page is not None and index % PAGE < len(page) else None
        return None if row is None else self.source.row_key(row)

    def read_rows(self, keys: set[int]) -> list[Row]:
        """The rows with these keys, as far as they are read."""
        rows = (row for page in self._pages.values() for row in page if row is not None)
        return [row for row in rows if self.source.row_key(row) in keys]

    def request_rows(self, first: int, rows: int) -> None:
        """Read the pages of these rows soon, the newest request first."""
        last = min(first + rows, self.count) - 1 if self.exact else first + rows - 1
        for number in range(max(first, 0) // PAGE, max(last, 0) // PAGE + 1):
            if number not in self._pages and number != self._loading:
                if number in self._wanted:
                    self._wanted.remove(number)
                self._wanted.append(number)
        del self._wanted[:-KEPT]
        self._serve_requests()

    def find_index(self, key: int, near: int) -> int | None:
        """The index of the row with this key, from the keys or from the pages read so far."""
        if self.keys is not None:
            try:
                return self.keys.index(key)
            except ValueError:
                return None
        for number in sorted(self._pages, key=lambda number: abs(number - near // PAGE)):
            for index, row in enumerate(self._pages[number]):
                if row is not None and self.source.row_key(row) == key:
                    return number * PAGE + index
        return None

    # -- reading

    def use_rows(self, rows: Sequence[Row]) -> None:
        """Use rows that are in memory, instead of ``begin`` and ``read_remaining``."""
        self.count, self.exact = len(rows), True
        self.keys = array("q", map(self.source.row_key, rows))
        for number in range(min(-(-len(rows) // PAGE), KEPT)):
            self._pages[number] = tuple(rows[number * PAGE : (number + 1) * PAGE])

    async def read_first(self, first: int, rows: int) -> None:
        """Read the pages of these rows, and what is known about the count.

        Returns when the rows can be painted. Raises the errors of the source.
        """
        page = await self._read_covering_pages(first, rows)
        if not page and first > 0:
            self.count, self.exact = await self._read_in_thread(self.source.count), True
            await self._read_covering_pages(max(self.count - rows, 0), rows)
            return
        number = next(reversed(self._pages))
        self.count, self.exact = number * PAGE + len(page), len(page) < PAGE

    def read_remaining(self) -> None:
        """After ``begin``: count the rows and read their keys, in the background."""
        page = self._pages.get(0)
        if self.exact and page is not None and self.count == len(page):
            self.keys = array("q", (self.source.row_key(row) for row in page if row is not None))
            self._counted()
            return
        if not self.exact:
            self._start_task(self._count_rows())
        self._start_task(self._gather_keys())

    async def every_key(self) -> array[int]:
        """The keys of all rows. Waits until they are known."""
        while self.keys is None and not self.closed:
            await asyncio.sleep(0.02)
        return self.keys or array("q")

    def close(self) -> None:
        """Stop. Later results are dropped, and no callback is called any more."""
        self.closed = True
        self._wanted.clear()

    async def _read_covering_pages(self, first: int, rows: int) -> tuple[Row | None, ...]:
        """Read the pages of these rows, or the last page that exists."""
        page: tuple[Row | None, ...] = ()
        for number in range(max(first, 0) // PAGE, max(first + rows - 1, 0) // PAGE + 1):
            read = await self._load_page(number)
            page = read or page
            if len(read) < PAGE:
                break
        return page

    def _serve_requests(self) -> None:
        if self._loading is None and self._wanted and not self.closed:
            self._loading = self._wanted.pop()
            self._start_task(self._load_requested(self._loading))

    async def _load_requested(self, number: int) -> None:
        try:
            await self._load_page(number)
        finally:
            self._loading = None
        if not self.closed:
            self._arrived(number * PAGE, PAGE)
            self._serve_requests()

    async def _load_page(self, number: int) -> tuple[Row | None, ...]:
        start = number * PAGE
        if self.keys is None:
            page: tuple[Row | None, ...] = tuple(
                await self._read_in_thread(self.source.page_rows, start, PAGE)
            )
        else:
            keys = self.keys[start : start + PAGE]
            by_key = {
                self.source.row_key(row): row
                for row in await self._read_in_thread(self.source.rows_by_key, keys)
            }
            page = tuple(by_key.get(key) for key in keys)
        if page or number == 0:
            self._pages[number] = page
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return page

    async def _count_rows(self) -> None:
        count = await self._read_in_thread(self.source.count)
        if not self.closed and self.keys is None:
            self.count, self.exact = count, True
            self._counted()

    async def _gather_keys(self) -> None:
        loop = asyncio.get_running_loop()
        keys = await loop.run_in_executor(self._readers.keys, self._iterate_keys)
        if not self.closed:
            self.keys, self.count, self.exact = keys, len(keys), True
            self._counted()

    def _iterate_keys(self) -> array[int]:
        """Runs in the thread for keys. ``closed`` is only ever set, so reading it there is safe."""
        # Four bytes for each key if that is enough: a million rows take 4 MB.
        keys = array("I")
        chunks = self.source.row_keys()
        try:
            for chunk in chunks:
                try:
                    keys.extend(array(keys.typecode, chunk))
                except OverflowError:
                    keys = array("q", keys)
                    keys.extend(array("q", chunk))
                if self.closed:
                    break
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
        return keys

    async def _read_in_thread(self, function: Callable[P, T], *arguments: P.args, **_: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers.pages, function, *arguments)

    def _start_task(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._report_errors(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _report_errors(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except Exception as error:
            if not self.closed:
                self.close()
                self._failed(error)
