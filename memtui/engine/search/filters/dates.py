"""Dates in filters: an hour, a day, a month, a year, or a span back from now, in the local time zone.

A date stands for a whole period, from its first second up to the first second after it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from memtui.engine.clock import EARLIEST, LATEST

Period = tuple[int, int]
"""First second, and first second after it, in Unix seconds."""

EXAMPLES = (
    "2026, 2026-01, 2026-01-31, 2026-01-31T14, october, today, yesterday, tomorrow, last-week, last-month, "
    "or back from now: 30m 12h 7d 2w 3mo 1y, on from now: +7d"
)

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[Tt]([0-9]{1,2}))?)?)?")
_BACK = re.compile(r"([0-9]{1,5})(mo|[mhdwy])")
_ON = re.compile(r"\+([0-9]{1,4})(mo|[dwy])")
_SECONDS = {"m": 60, "h": 3_600}
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}
_WHICH = {"last": -1, "this": 0, "next": 1}
_UNIT = re.compile(r"(last|this|next) (week|month|year)")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = re.compile(
    rf"(last )?({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?(?: ([0-9]{{4}}))?"
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(rf"last ({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _DAYS)})")


def parse_period(text: str, now: float, tz: tzinfo | None = None, *, nearest: bool = False) -> Period | None:
    """The period that a date names, ``tz`` None being the local time zone; None if it names none.

    A span back from now (``7d``) is the period from then until now; one on from now (``+7d``) that from now until then.
    A month without a year (``october``, ``in October``) is the latest one that has begun; ``nearest``: the nearest
    one, be it ahead. Words may be joined by hyphens.
    """
    word = text.casefold()
    try:
        if word in _NEAR:
            today = wall_clock(now, tz).replace(hour=0, minute=0, second=0, microsecond=0)
            first = today + _NEAR[word] * _DAY
            return seconds_of(first, tz), seconds_of(first + _DAY, tz)
        if match := _BACK.fullmatch(word):
            return _moment_before(now, int(match[1]), match[2], tz), int(now) + 1
        if match := _ON.fullmatch(word):
            return int(now), _moment_before(now, -int(match[1]), match[2], tz) + 1
        if match := _DATE.fullmatch(word):
            return _calendar_period(match[1], match[2], match[3], tz, hour=match[4])
        return _named_period(" ".join(word.replace("-", " ").split()).removeprefix("in "), now, tz, nearest)
    except (ValueError, OverflowError, OSError):
        return None


def parse_bounds(text: str, now: float, tz: tzinfo | None = None) -> Period | None:
    """The first second of a date or span (``2026-03..2026-05``; either end may be open), and the first one after it."""
    first, dots, last = text.partition("..")
    start = parse_period(first, now, tz) if first else (EARLIEST, EARLIEST)
    end = parse_period(last, now, tz) if last else (LATEST, LATEST) if dots else start
    return None if start is None or end is None or not (first or last) else (start[0], end[1])


def is_date_range(text: str) -> bool:
    """Whether a word without a key is meant as dates: ``2026-01..2026-03``."""
    first, dots, last = text.partition("..")
    return bool(dots and (first or last) and all(not end or _DATE.fullmatch(end) for end in (first, last)))


def _named_period(words: str, now: float, tz: tzinfo | None, nearest: bool) -> Period | None:
    """``last week``, ``this month``, ``october``, ``oct 2026``, ``last tuesday``."""
    today = wall_clock(now, tz).replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _UNIT.fullmatch(words):
        steps = _WHICH[match[1]]
        if match[2] == "week":
            first = today + (7 * steps - today.weekday()) * _DAY
            return seconds_of(first, tz), seconds_of(first + 7 * _DAY, tz)
        if match[2] == "year":
            return _calendar_period(str(today.year + steps), None, None, tz)
        first = _months_before(today.replace(day=1), -steps)
        return _calendar_period(str(first.year), str(first.month), None, tz)
    if match := _MONTH.fullmatch(words):
        month = next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(match[2][:3]))
        if nearest and not match[1]:
            away = (month - today.month + 5) % 12 - 5  # as far as half a year to both sides
            latest = today.year + (today.month - 1 + away) // 12
        else:
            begun = month < today.month if match[1] else month <= today.month
            latest = today.year if begun else today.year - 1
        year = match[3] or str(latest)
        return _calendar_period(year, str(month), None, tz)
    if match := _WEEKDAY.fullmatch(words):
        number = next(at for at, name in enumerate(_DAYS) if name.startswith(match[1]))
        first = today - ((today.weekday() - number - 1) % 7 + 1) * _DAY
        return seconds_of(first, tz), seconds_of(first + _DAY, tz)
    return None


def _calendar_period(
    year: str, month: str | None, day: str | None, tz: tzinfo | None, *, hour: str | None = None
) -> Period:
    first = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0))
    if first.year == datetime.max.year:  # what comes after it cannot be written
        return seconds_of(first, tz), LATEST
    if hour:
        after = first + _HOUR
    elif day:
        after = first + _DAY
    elif month:
        after = _months_before(first, -1)
    else:
        after = first.replace(year=first.year + 1)
    return seconds_of(first, tz), seconds_of(after, tz)


def _moment_before(now: float, count: int, unit: str, tz: tzinfo | None) -> int:
    if unit in _SECONDS:
        return int(now) - count * _SECONDS[unit]
    moment = wall_clock(now, tz)
    if unit in "dw":
        return seconds_of(moment - count * (7 if unit == "w" else 1) * _DAY, tz)
    return seconds_of(_months_before(moment, count * (12 if unit == "y" else 1)), tz)


def _months_before(moment: datetime, count: int) -> datetime:
    """The same day of an earlier month, or that month's last: a month before 31 March is 28 February."""
    year, month = divmod(moment.year * 12 + moment.month - 1 - count, 12)
    first = moment.replace(year=year, month=month + 1, day=1)
    length = (first.replace(day=28) + 4 * _DAY).replace(day=1) - first
    return first.replace(day=min(moment.day, length.days))


def wall_clock(now: float, tz: tzinfo | None = None) -> datetime:
    """Local time without its zone: days added to it keep the time of day when the clocks change."""
    return datetime.fromtimestamp(now, tz).replace(tzinfo=None)


def seconds_of(wall: datetime, tz: tzinfo | None = None) -> int:
    """The Unix time of a local time without its zone."""
    return int(min(max(wall.replace(tzinfo=tz).timestamp(), EARLIEST), LATEST))
