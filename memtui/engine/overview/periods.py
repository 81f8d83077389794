"""The periods of the local calendar: where years, quarters, months, weeks, days and hours begin, and their filter terms.

Times of the local calendar are ``datetime`` without a zone, as in ``filters/dates.py``. So a period here
and the same one in a filter begin and end in the same second, also where the clocks change.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta, tzinfo

from memtui.engine.records.timeline import UNITS, Unit
from memtui.engine.search.filters.dates import seconds_of, wall_clock

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_STEPS = {"week": timedelta(days=7), "day": timedelta(days=1), "hour": timedelta(hours=1)}


def beginning_of_period(unit: Unit, moment: datetime) -> datetime:
    """When the period began that a local time is in."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "hour":
            return day.replace(hour=moment.hour)
        case "day":
            return day
        case "week":
            return shift_period("day", day, -day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)


def shift_period(unit: Unit, beginning: datetime, by: int) -> datetime:
    """The beginning of the period that is so many later; the first or last of the calendar where there is none."""
    try:
        if unit in _STEPS:
            return beginning + by * _STEPS[unit]
        months = beginning.year * 12 + beginning.month - 1 + by * _MONTHS[unit]
        return beginning.replace(year=months // 12, month=months % 12 + 1)
    except (ValueError, OverflowError):
        return datetime(MINYEAR, 1, 1) if by < 0 else datetime(MAXYEAR, 12, 31)


def periods_between(unit: Unit, first: datetime, last: datetime) -> int:
    """How many periods later the second of two beginnings is."""
    if unit in _STEPS:
        return (last - first) // _STEPS[unit]
    months = (last.year - first.year) * 12 + last.month - first.month
    return months // _MONTHS[unit]


def period_bounds(unit: Unit, first: datetime, count: int, tz: tzinfo | None = None) -> tuple[int, ...]:
    """When each of so many periods begins, and when the last one ends; an hour or day that the clocks skip is left out."""
    seconds = (seconds_of(shift_period(unit, first, by), tz) for by in range(count + 1))
    return tuple(sorted(set(seconds)))


def choose_window(
    unit: Unit | None, earliest: int, latest: int, middle: float | None, most: int, tz: tzinfo | None = None
) -> tuple[Unit, tuple[int, ...]]:
    """At most so many periods within the time of everything: those around ``middle``, else the latest ones.

    Without a unit it is the finest that shows everything.
    """
    for one in (unit,) if unit else reversed(UNITS):
        first = beginning_of_period(one, wall_clock(earliest, tz))
        number = periods_between(one, first, beginning_of_period(one, wall_clock(latest, tz))) + 1
        if number <= most or unit or one == "year":
            at = number - most
            if middle is not None:
                at = periods_between(one, first, beginning_of_period(one, wall_clock(middle, tz))) - most // 2
            at = max(min(at, number - most), 0)
            return one, period_bounds(one, shift_period(one, first, at), min(number, most), tz)
    raise AssertionError("a year is a unit")


def filter_term_of_period(unit: Unit, start: int, tz: tzinfo | None = None) -> str:
    """What stands behind ``on:`` for the period that begins then: ``2026``, ``2026-03``, ``2026-03-02..2026-03-08``."""
    first = beginning_of_period(unit, wall_clock(start, tz))
    match unit:
        case "year":
            return f"{first.year:04}"
        case "quarter":
            return f"{first.year:04}-{first.month:02}..{first.year:04}-{first.month + 2:02}"
        case "month":
            return f"{first.year:04}-{first.month:02}"
        case "week":
            return f"{first.date()}..{shift_period('day', first, 6).date()}"
        case "day":
            return f"{first.date()}"
        case "hour":
            return f"{first.date()}T{first.hour:02}"


def period_sql(column: str, bounds: Sequence[int]) -> str:
    """SQL for the number of the period that a time is in: a search by halves."""

    def period_between(low: int, high: int) -> str:
        if high - low == 1:
            return str(low)
        middle = (low + high) // 2
        return f"CASE WHEN {column} < {bounds[middle]} THEN {period_between(low, middle)} ELSE {period_between(middle, high)} END"

    return period_between(0, len(bounds) - 1)
