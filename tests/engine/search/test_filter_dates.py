"""Dates in filters are local, calendar-wise, and whole periods."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.search.filters import dates

NOW = datetime(2026, 3, 31, 15, 30, tzinfo=UTC).timestamp()


def period(text: str, tz: object = UTC) -> tuple[str, str]:
    found = dates.parse_period(text, NOW, tz)  # type: ignore[arg-type]
    assert found is not None
    return tuple(datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%d %H:%M") for end in found)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2026", "2026-01-01 00:00", "2027-01-01 00:00"),
        ("2026-02", "2026-02-01 00:00", "2026-03-01 00:00"),
        ("2025-12", "2025-12-01 00:00", "2026-01-01 00:00"),
        ("2024-2-29", "2024-02-29 00:00", "2024-03-01 00:00"),
        ("2026-03-31T14", "2026-03-31 14:00", "2026-03-31 15:00"),
        ("2025-12-31t23", "2025-12-31 23:00", "2026-01-01 00:00"),
        ("2025-12-31", "2025-12-31 00:00", "2026-01-01 00:00"),
        ("today", "2026-03-31 00:00", "2026-04-01 00:00"),
        ("Yesterday", "2026-03-30 00:00", "2026-03-31 00:00"),
        ("12h", "2026-03-31 03:30", "2026-03-31 15:30"),
        ("7d", "2026-03-24 15:30", "2026-03-31 15:30"),
        ("2w", "2026-03-17 15:30", "2026-03-31 15:30"),
        ("90m", "2026-03-31 14:00", "2026-03-31 15:30"),
        ("1mo", "2026-02-28 15:30", "2026-03-31 15:30"),
        ("3MO", "2025-12-31 15:30", "2026-03-31 15:30"),
        ("1y", "2025-03-31 15:30", "2026-03-31 15:30"),
        ("last month", "2026-02-01 00:00", "2026-03-01 00:00"),
        ("last-month", "2026-02-01 00:00", "2026-03-01 00:00"),
        ("this month", "2026-03-01 00:00", "2026-04-01 00:00"),
        ("next month", "2026-04-01 00:00", "2026-05-01 00:00"),
        ("last week", "2026-03-23 00:00", "2026-03-30 00:00"),
        ("this week", "2026-03-30 00:00", "2026-04-06 00:00"),
        ("last year", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("next year", "2027-01-01 00:00", "2028-01-01 00:00"),
        ("march", "2026-03-01 00:00", "2026-04-01 00:00"),
        ("October", "2025-10-01 00:00", "2025-11-01 00:00"),
        ("in October", "2025-10-01 00:00", "2025-11-01 00:00"),
        ("sept", "2025-09-01 00:00", "2025-10-01 00:00"),
        ("Oct 2024", "2024-10-01 00:00", "2024-11-01 00:00"),
        ("last december", "2025-12-01 00:00", "2026-01-01 00:00"),
        ("last march", "2025-03-01 00:00", "2025-04-01 00:00"),
        ("last tuesday", "2026-03-24 00:00", "2026-03-25 00:00"),
        ("last mon", "2026-03-30 00:00", "2026-03-31 00:00"),
    ],
)
def test_a_date_names_a_period(text: str, first: str, after: str) -> None:
    assert period(text) == (first, after)


@pytest.mark.parametrize(
    "text",
    [
        "2026-13",
        "2026-02-30",
        "2026-00",
        "0000",
        "26",
        "7",
        "d",
        "7x",
        "",
        "99999y",
        "+7h",
        "octopus",
        "last",
        "last decade",
        "oct 20",
        "marchs",
        "week",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert dates.parse_period(text, NOW, UTC) is None


@pytest.mark.parametrize("text", ["+0d", "0d", "+7d"])
def test_a_span_is_never_empty(text: str) -> None:
    first, after = dates.parse_period(text, NOW, UTC) or (0, 0)
    assert first <= NOW < after


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("march", "2026-03"), ("may", "2026-05"), ("september", "2026-09"), ("october", "2025-10"), ("feb", "2026-02"),
        ("in-december", "2025-12"), ("december 2026", "2026-12"), ("last december", "2025-12"), ("last may", "2025-05"),
    ],
)  # fmt: skip
def test_of_a_month_without_a_year_the_nearest_is_meant_where_days_lie_ahead(text: str, first: str) -> None:
    found = dates.parse_period(text, NOW, UTC, nearest=True)
    assert found is not None and f"{datetime.fromtimestamp(found[0], UTC):%Y-%m}" == first


def test_days_are_local_days() -> None:
    assert period("2026-03-01", timezone(timedelta(hours=9)))[0] == "2026-02-28 15:00"


def test_a_day_on_which_the_clocks_change_is_shorter() -> None:
    first, after = dates.parse_period("2026-03-29", NOW, ZoneInfo("Europe/Berlin")) or (0, 0)
    assert after - first == 23 * 3600


def test_the_last_year_ends_where_time_does() -> None:
    assert dates.parse_period("9999", NOW, UTC) is not None
    assert dates.parse_period("9999-12-31", NOW, UTC) is not None


@given(st.text(max_size=12), st.integers(0, 4_000_000_000))
def test_any_text_is_a_period_or_none(text: str, now: int) -> None:
    found = dates.parse_period(text, now, UTC)
    assert found is None or found[0] < found[1]
