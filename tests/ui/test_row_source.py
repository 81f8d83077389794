"""Pages of a long list: what is read, in which order, and what happens when rows vanish."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest
from memtui.ui.row_source import Readers
from memtui.ui.widgets.row_pages import KEPT, PAGE, RowPages


class Numbers:
    """Rows are ``(key, text)``; it notes every page it was asked for."""

    def __init__(self, keys: Sequence[int]) -> None:
        self.all = keys
        self.gone: set[int] = set()
        self.pages: list[int] = []
        self.by_key = 0
        self.threads: set[str] = set()
        self.error: Exception | None = None
        self.hold = threading.Event()
        self.hold.set()

    def count(self) -> int:
        return len(self.all)

    def page_rows(self, offset: int, limit: int) -> Sequence[tuple[int, str]]:
        self.hold.wait(120)
        if self.error:
            raise self.error
        self.threads.add(threading.current_thread().name)
        self.pages.append(offset // PAGE)
        return [(key, f"row {key}") for key in self.all[offset : offset + limit]]

    def row_keys(self) -> Iterator[Sequence[int]]:
        for start in range(0, len(self.all), 4096):
            yield self.all[start : start + 4096]

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[tuple[int, str]]:
        self.by_key += 1
        return [(key, f"row {key}") for key in sorted(keys) if key not in self.gone]

    def row_key(self, row: tuple[int, str]) -> int:
        return row[0]


class Seen:
    def __init__(self) -> None:
        self.arrived: list[int] = []
        self.counted = 0
        self.errors: list[Exception] = []

    def count_it(self) -> None:
        self.counted += 1


@pytest.fixture
async def readers() -> AsyncIterator[Readers]:
    readers = Readers()
    yield readers
    readers.close()


def pages_of(source: Numbers, readers: Readers, seen: Seen | None = None) -> RowPages[tuple[int, str]]:
    seen = seen or Seen()
    return RowPages(
        source,
        readers,
        arrived=lambda first, _: seen.arrived.append(first),
        counted=seen.count_it,
        failed=seen.errors.append,
    )


async def until(condition: Callable[[], object]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")


async def test_a_short_list_is_whole_after_one_read(readers: Readers) -> None:
    source = Numbers(range(10, 15))
    pages = pages_of(source, readers)
    await pages.read_first(0, 40)
    pages.read_remaining()
    assert (pages.count, pages.exact, source.pages) == (5, True, [0])
    assert list(pages.keys or ()) == [10, 11, 12, 13, 14]
    assert pages.row_at(4) == (14, "row 14")


async def test_an_empty_list_is_known_to_be_empty(readers: Readers) -> None:
    pages = pages_of(Numbers([]), readers)
    await pages.read_first(0, 40)
    pages.read_remaining()
    assert (pages.count, pages.exact, list(pages.keys or ())) == (0, True, [])


async def test_first_rows_come_before_the_count_and_the_keys(readers: Readers) -> None:
    source = Numbers(range(100_000))
    seen = Seen()
    pages = pages_of(source, readers, seen)
    await pages.read_first(0, 40)
    assert (pages.count, pages.exact) == (PAGE, False)
    assert pages.row_at(39) == (39, "row 39")
    pages.read_remaining()
    await until(lambda: pages.keys is not None)
    assert (pages.count, pages.exact) == (100_000, True)
    assert seen.counted >= 1


async def test_a_missing_row_is_read_in_the_background_by_key_once_keys_are_known(
    readers: Readers,
) -> None:
    source = Numbers(range(0, 200_000, 2))
    seen = Seen()
    pages = pages_of(source, readers, seen)
    await pages.read_first(0, 40)
    pages.read_remaining()
    await until(lambda: pages.keys is not None)
    assert pages.row_at(90_000) is None
    await until(lambda: pages.row_at(90_000))
    assert pages.row_at(90_000) == (180_000, "row 180000")
    assert seen.arrived == [90_000 // PAGE * PAGE]
    assert source.by_key == 1
    assert source.pages == [0]


async def test_the_newest_wish_is_served_first_and_old_ones_are_dropped(readers: Readers) -> None:
    source = Numbers(range(10_000))
    pages = pages_of(source, readers)
    await pages.read_first(0, 1)
    source.hold.clear()
    pages.request_rows(1 * PAGE, 1)
    await asyncio.sleep(0)
    for number in range(2, 30):
        pages.request_rows(number * PAGE, 1)
    source.hold.set()
    await until(lambda: len(source.pages) == 2 + KEPT)
    await asyncio.sleep(0.05)
    assert source.pages == [0, 1, *range(29, 29 - KEPT, -1)]


async def test_only_the_newest_pages_stay_in_memory(readers: Readers) -> None:
    source = Numbers(range(50 * PAGE))
    pages = pages_of(source, readers)
    await pages.read_first(0, 1)
    for number in range(40):
        pages.request_rows(number * PAGE, 1)
        await until(lambda: pages._loading is None)
    assert len(pages._pages) == KEPT


async def test_a_row_that_vanished_is_a_hole_that_is_not_asked_for_again(readers: Readers) -> None:
    source = Numbers(range(1000))
    pages = pages_of(source, readers)
    await pages.read_first(0, 1)
    pages.read_remaining()
    await until(lambda: pages.keys is not None)
    source.gone = {500}
    pages.request_rows(500, 1)
    await until(lambda: pages.row_at(501))
    assert pages.row_at(500) is None
    assert pages.key_at(500) == 500
    await asyncio.sleep(0.02)
    assert source.by_key == 1


async def test_a_list_that_shrank_below_the_window_begins_at_its_end(readers: Readers) -> None:
    source = Numbers(range(300))
    pages = pages_of(source, readers)
    await pages.read_first(5000, 40)
    assert (pages.count, pages.exact) == (300, True)
    assert pages.row_at(299) == (299, "row 299")


async def test_a_key_is_found_on_the_pages_read_and_later_among_all_keys(readers: Readers) -> None:
    pages = pages_of(Numbers(range(0, 2000, 2)), readers)
    await pages.read_first(0, 40)
    assert pages.find_index(100, near=0) == 50
    assert pages.find_index(1500, near=0) is None
    pages.read_remaining()
    await until(lambda: pages.keys is not None)
    assert pages.find_index(1500, near=0) == 750
    assert pages.find_index(1501, near=0) is None


async def test_an_error_is_told_once_and_ends_the_reading(readers: Readers) -> None:
    source = Numbers(range(1000))
    seen = Seen()
    pages = pages_of(source, readers, seen)
    await pages.read_first(0, 1)
    source.error = OSError("the disk is gone")
    pages.request_rows(500, 1)
    await until(lambda: seen.errors)
    pages.request_rows(700, 1)
    await asyncio.sleep(0.03)
    assert len(seen.errors) == 1
    assert seen.arrived == []


async def test_nothing_is_told_after_close(readers: Readers) -> None:
    source = Numbers(range(1000))
    seen = Seen()
    pages = pages_of(source, readers, seen)
    await pages.read_first(0, 1)
    source.hold.clear()
    pages.request_rows(500, 1)
    pages.read_remaining()
    pages.close()
    source.hold.set()
    await asyncio.sleep(0.05)
    assert (seen.arrived, seen.counted) == ([], 0)


async def test_reading_never_happens_on_the_thread_of_the_loop(readers: Readers) -> None:
    source = Numbers(range(1000))
    pages = pages_of(source, readers)
    await pages.read_first(0, 40)
    assert threading.current_thread().name not in source.threads


async def test_keys_of_any_size_are_kept(readers: Readers) -> None:
    pages = pages_of(Numbers([*range(5000), 2**40, -1]), readers)
    await pages.read_first(0, 40)
    pages.read_remaining()
    await until(lambda: pages.keys is not None)
    assert pages.keys is not None
    assert [pages.keys[at] for at in (0, 4999, 5000, 5001)] == [0, 4999, 2**40, -1]
