"""Moments as people name them, for looking back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.errors import InputError
from memtui.engine.search.time_expressions import parse_past_time

# A Sunday.
NOW = datetime(2026, 11, 22, 15, 10, tzinfo=UTC).timestamp()


def at(when: str) -> str:
    return datetime.fromtimestamp(parse_past_time(when, NOW, UTC), UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("now", "2026-11-22 15:10:00"),
        ("today", "2026-11-22 15:10:00"),
        ("yesterday", "2026-11-21 23:59:59"),
        ("2026-11-03", "2026-11-03 23:59:59"),
        ("2026-10", "2026-10-31 23:59:59"),
        ("2026-11-03 14:30", "2026-11-03 14:30:59"),
        ("2026-11-03T14:30:05", "2026-11-03 14:30:05"),
        ("2026-11-03T14:30:00Z", "2026-11-03 14:30:00"),
        ("14:30", "2026-11-22 14:30:59"),
        ("15:10", "2026-11-22 15:10:00"),
        ("16:00", "2026-11-21 16:00:59"),
        ("2d", "2026-11-20 15:10:00"),
        ("2 days ago", "2026-11-20 15:10:00"),
        ("an hour ago", "2026-11-22 14:10:00"),
        ("10 minutes", "2026-11-22 15:00:00"),
        ("10m", "2026-11-22 15:00:00"),
        ("2mo", "2026-09-22 15:10:00"),
        ("3 months ago", "2026-08-22 15:10:00"),
        ("3 Nov", "2026-11-03 23:59:59"),
        ("3 Nov 14:30", "2026-11-03 14:30:59"),
        ("24 December", "2025-12-24 23:59:59"),
        ("3 Nov 2024 09:08", "2024-11-03 09:08:59"),
        ("last tuesday", "2026-11-17 23:59:59"),
        ("Tue", "2026-11-17 23:59:59"),
        ("saturday", "2026-11-21 23:59:59"),
        ("sunday", "2026-11-15 23:59:59"),
        ("2027-01-01", "2026-11-22 15:10:00"),
        ("last month", "2026-10-31 23:59:59"),
        ("last week", "2026-11-15 23:59:59"),
        ("last year", "2025-12-31 23:59:59"),
        ("this week", "2026-11-22 15:10:00"),
        ("october", "2026-10-31 23:59:59"),
        ("in  October", "2026-10-31 23:59:59"),
        ("Oct 2026", "2026-10-31 23:59:59"),
        ("december", "2025-12-31 23:59:59"),
        ("november", "2026-11-22 15:10:00"),
        ("october 2024", "2024-10-31 23:59:59"),
        ("in 2025", "2025-12-31 23:59:59"),
        ("on monday", "2026-11-16 23:59:59"),
        ("a week ago", "2026-11-15 15:10:00"),
    ],
)
def test_a_moment_is_what_people_mean_by_it(said: str, meant: str) -> None:
    assert at(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "",
        "soon",
        "tuesdayish",
        "2026-13-01",
        "25:00",
        "30 feb",
        "3 nov 25:00",
        "montag",
        "\x00",
        "-3d",
        "last",
        "octopus",
        "oct 99999",
        "last decade",
    ],
)
def test_what_names_no_time_is_refused_with_examples(said: str) -> None:
    with pytest.raises(InputError, match="is not a time"):
        parse_past_time(said, NOW, UTC)


def test_days_end_in_the_local_zone_and_numbers_and_datetimes_are_taken_as_they_are() -> None:
    east = timezone(timedelta(hours=9))
    assert (
        parse_past_time("2026-11-20", NOW, east) == datetime(2026, 11, 20, 14, 59, 59, tzinfo=UTC).timestamp()
    )
    assert parse_past_time(1_700_000_000.9, NOW) == 1_700_000_000
    assert (
        parse_past_time(datetime(2026, 1, 1, tzinfo=UTC), NOW) == datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    )


@given(st.text(max_size=20))
def test_any_text_names_a_time_until_now_or_is_refused(said: str) -> None:
    try:
        assert parse_past_time(said, NOW, UTC) <= NOW
    except InputError:
        pass
