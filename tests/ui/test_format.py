from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.clock import EARLIEST, LATEST
from memtui.present.format import (
    file_size,
    format_count,
    local_date,
    local_time,
    relative_time,
    short_count,
)

NOW = 1_790_000_000
LISBON_SUMMER = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "now"),
        (59, "now"),
        (60, "1m"),
        (3599, "59m"),
        (7200, "2h"),
        (86399, "23h"),
        (3 * 86400, "3d"),
        (13.9 * 86400, "13d"),
        (14 * 86400, "2w"),
        (36 * 86400, "5w"),
        (60 * 86400, "8w"),
        (61 * 86400, "2M"),
        (365 * 86400, "11M"),
        (366 * 86400, "1y"),
        (20 * 366 * 86400, "20y"),
    ],
)
def test_ages_use_the_largest_unit_that_fits(seconds: float, shown: str) -> None:
    assert relative_time(NOW - seconds, NOW) == shown
    if shown != "now":
        assert relative_time(NOW + seconds, NOW) == f"in {shown}"


def test_local_time_drops_the_year_of_now() -> None:
    then = datetime(2026, 10, 28, 21, 14, tzinfo=LISBON_SUMMER).timestamp()
    assert local_time(then, zone=LISBON_SUMMER) == "28 Oct 2026 21:14"
    assert local_time(then, then + 86400, zone=LISBON_SUMMER) == "28 Oct 21:14"
    assert local_date(then, then + 300 * 86400, zone=LISBON_SUMMER) == "28 Oct 2026"


@given(st.integers(EARLIEST, LATEST))
def test_every_time_that_a_memory_may_have_can_be_shown(seconds: int) -> None:
    assert local_time(seconds)


def test_counts_are_grouped_or_shortened_downwards() -> None:
    assert format_count(12408) == "12,408"
    shown = [short_count(n) for n in (0, 999, 1000, 1099, 1999, 12408, 999_999, 3_000_000, 2_500_000_000)]
    assert shown == ["0", "999", "1k", "1k", "1.9k", "12k", "999k", "3M", "2.5G"]


def test_small_files_are_told_in_small_units() -> None:
    assert [file_size(size) for size in (1, 640, 12_400, 3_400_000)] == [
        "1 byte",
        "640 bytes",
        "12 kB",
        "3.4 MB",
    ]
