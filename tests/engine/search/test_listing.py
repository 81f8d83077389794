"""Lists: total orders, pages that fit together, and plans that do not depend on the length."""

from __future__ import annotations

import random
from itertools import chain
from typing import get_args

import pytest
from memtui.engine.records import MemoryRecord
from memtui.engine.search import listing
from memtui.engine.search.filters import compiler
from memtui.engine.search.listing import SortKey
from memtui.engine.store import sql
from shelf import DAY, NOW, Book


def fill(book: Book) -> None:
    chance = random.Random(3)
    for number in range(60):
        kind = chance.choice(["episode", "fact", "fact", "reflection"])
        book.add(
            chance.choice("abcD") + f" {number // 4}", kind, at=NOW - chance.randrange(5) * DAY,
            created_at=NOW - chance.randrange(5), trust=chance.choice(["user", "agent", "model"]),
            confidence=chance.choice([0.2, 0.9]), decay_rate=0.1 if kind == "fact" else 0.0,
            last_accessed=chance.choice([None, NOW, NOW - DAY]),
        )  # fmt: skip


MAIN = {
    "time": lambda m: (m.event_time, m.rid),
    "created": lambda m: m.created_at,
    "confidence": lambda m: round(m.effective, 9),
    "kind": lambda m: m.kind,
    "content": lambda m: m.content.lower(),
    "trust": lambda m: ["user", "agent", "tool", "model"].index(m.trust),
    "accessed": lambda m: m.last_accessed or 0,
}


def expected(rows: list[MemoryRecord], sort: SortKey, descending: bool) -> list[int]:
    newest_first = sorted(rows, key=lambda m: (m.event_time, m.rid), reverse=True)
    key = MAIN[sort]
    if not descending:
        return [m.rid for m in sorted(newest_first, key=key)]
    groups: dict[object, list[int]] = {}
    for memory in newest_first:
        groups.setdefault(key(memory), []).append(memory.rid)
    return list(chain.from_iterable(groups[value] for value in sorted(groups, reverse=True)))  # type: ignore[type-var]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("sort", [one for one in get_args(SortKey) if one not in ("day", "fades")])
def test_pages_and_rids_follow_one_total_order(book: Book, sort: SortKey, descending: bool) -> None:
    fill(book)
    filter = compiler.compile_filter("kind:fact,episode", NOW)
    everything = listing.page(book.connection, filter, limit=1_000, now=NOW)
    wanted = expected(everything, sort, descending)
    pages = [
        listing.page(
            book.connection, filter, sort=sort, descending=descending, offset=offset, limit=7, now=NOW
        )
        for offset in range(0, 63, 7)
    ]
    assert [m.rid for page in pages for m in page] == wanted
    chunks = listing.rids(book.connection, filter, sort=sort, descending=descending, now=NOW)
    assert list(chain.from_iterable(chunks)) == wanted
    assert listing.count(book.connection, filter) == len(wanted)


@pytest.mark.parametrize(("descending", "expected"), [(False, ["soon", "later"]), (True, ["later", "soon"])])
def test_what_does_not_fade_comes_last_by_the_day_on_which_the_others_do(
    book: Book, descending: bool, expected: list[str]
) -> None:
    book.add("later", decay_rate=0.1, confidence=0.9)
    book.add("confirmed", decay_rate=0.1, confidence=0.9, confirmed_at=NOW)
    book.add("said once")
    book.add("soon", decay_rate=0.1, confidence=0.2)
    filter = compiler.compile_filter("kind:fact", NOW)
    found = listing.page(book.connection, filter, sort="fades", descending=descending, now=NOW)
    assert [one.content for one in found] == [*expected, "said once", "confirmed"]


@pytest.mark.parametrize(("descending", "expected"), [(False, ["soon", "later"]), (True, ["later", "soon"])])
def test_what_is_about_no_day_comes_last_by_day(book: Book, descending: bool, expected: list[str]) -> None:
    book.add("later", happens_at=NOW + 9 * DAY)
    book.add("no day")
    book.add("soon", happens_at=NOW + DAY)
    filter = compiler.compile_filter("", NOW)
    found = listing.page(book.connection, filter, sort="day", descending=descending, now=NOW)
    assert [one.content for one in found] == [*expected, "no day"]


def test_a_page_reads_the_effective_confidence(book: Book) -> None:
    book.add("old", confidence=0.8, decay_rate=0.1, at=NOW - 10 * DAY)
    [memory] = listing.page(book.connection, compiler.compile_filter("", NOW), now=NOW)
    assert memory.effective == pytest.approx(0.8 / 2.718281828459045)


def test_long_lists_come_in_chunks(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "KEYS_AT_ONCE", 2)
    for number in range(5):
        book.add(str(number), at=NOW + number)
    chunks = [
        len(chunk) for chunk in listing.rids(book.connection, compiler.compile_filter("", NOW), now=NOW)
    ]
    assert chunks == [2, 2, 1]


@pytest.mark.parametrize(
    ("expression", "index"),
    [
        ("", "memories_by_time"),
        ("kind:fact,reflection,observation", "notes_by_time"),
        ("-kind:episode", "notes_by_time"),
        ("kind:fact", "notes_by_time"),
        ("kind:fact after:2020", "notes_by_time"),
        ("after:2020", "memories_by_time"),
        ("kind:fact -lisbon", "notes_by_time"),
    ],
)
def test_the_usual_lists_are_read_from_an_index_without_sorting(
    book: Book, expression: str, index: str
) -> None:
    filter = compiler.compile_filter(expression, NOW)
    plan = [
        row[3]
        for row in book.connection.execute(
            f"EXPLAIN QUERY PLAN {listing._select_statement(filter, 'time', True)} LIMIT 128", filter.bindings
        )
    ]
    assert index in plan[0]
    assert not any("TEMP B-TREE FOR ORDER" in step for step in plan)
