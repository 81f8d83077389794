"""A moment as people name it, for looking back: ``2026-03-03``, ``last tuesday``, ``october``, ``2d``, ``3 weeks ago``.

A minute, a day, a week, a month or a year means its end: "what was there on Tuesday" is what was there when Tuesday ended.
A time that memtui shows can be typed to look back at it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from memtui.engine.clock import EARLIEST, LATEST, unix_seconds
from memtui.engine.errors import InputError

from .filters import dates

EXAMPLES = (
    '2026-03-03, "2026-03-03 14:30", 14:30, "3 mar 14:30", yesterday, "last tuesday", "last month", october, 10m, 2d, '
    '"3 weeks ago"'
)

_AGO = re.compile(r"(?:(\d{1,5})|an?)\s*(minute|min|hour|day|week|month|year)s?(?:\s+ago)?")
_UNITS = {"minute": "m", "min": "m", "hour": "h", "day": "d", "week": "w", "month": "mo", "year": "y"}
_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(
    rf"(\d{{1,2}})\.?\s+({'|'.join(_MONTHS)})[a-z]*(?:\s+(\d{{4}}))?(?:\s+(\d{{1,2}}):(\d{{2}}))?",
    re.IGNORECASE,
)
_TO_THE_MINUTE = re.compile(r".*\d[ t]\d{1,2}:\d{2}")
_WEEKDAY = re.compile(r"(?:last\s+|on\s+)?(mon|tue|wed|thu|fri|sat|sun)[a-z]*")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WHOLE = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "tues",
    "weds",
    "thur",
    "thurs",
)


_SPAN = re.compile(r"(?:for\s+)?([1-9]\d{0,3})\s*(minute|min|m|hour|h|day|d|week|w)s?")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LATER = '1h, 90m, 2 days, "until 18:00", tomorrow, 2026-03-03'


def parse_future_time(when: str, now: float, tz: tzinfo | None = None) -> int:
    """The Unix seconds of a time to come: ``1h``, ``until 18:00``, or the beginning of ``tomorrow``, a weekday, a date.

    Raises InputError for a text that is none.
    """
    word = " ".join(when.casefold().split()).removeprefix("until ")
    here = datetime.fromtimestamp(now, tz)
    found: datetime | None = None
    if span := _SPAN.fullmatch(word):
        return int(now) + int(span[1]) * _SECONDS[span[2][0]]
    try:
        midnight = datetime(here.year, here.month, here.day, tzinfo=tz)
        weekday = _WEEKDAY.fullmatch(word)
        if time := _TIME.fullmatch(word):
            found = midnight.replace(hour=int(time[1]), minute=int(time[2]))
            found = found if found.timestamp() > now else found + timedelta(days=1)
        elif word == "tomorrow":
            found = midnight + timedelta(days=1)
        elif weekday and word in (*_DAYS, *_WHOLE):
            found = midnight + timedelta(days=(_DAYS.index(weekday[1]) - here.weekday() - 1) % 7 + 1)
        else:
            found = datetime.fromisoformat(word.upper())
            found = found if found.tzinfo is not None else found.replace(tzinfo=tz)
        then = int(found.timestamp())
    except (ValueError, OverflowError, OSError):
        then = 0
    if then <= now:
        raise InputError(f"{when!r} is not a time in the future.", f"Try {LATER}.")
    return then


def parse_past_time(when: str | float | datetime, now: float, tz: tzinfo | None = None) -> int:
    """The Unix seconds that ``when`` names, at most ``now``; ``tz`` None being the local time zone.

    A weekday is the last one before today. Raises InputError for a text that is not a time.
    """
    found = _parse(when, now, tz) if isinstance(when, str) else unix_seconds(when)
    if found is None or not EARLIEST <= found <= LATEST:
        raise InputError(f"{when!r} is not a time.", f"Try {EXAMPLES}.")
    return min(found, int(now))


def _parse(text: str, now: float, tz: tzinfo | None) -> int | None:
    word = " ".join(text.casefold().split())
    if word == "now":
        return int(now)
    if ago := _AGO.fullmatch(word):
        word = f"{ago[1] or 1}{_UNITS[ago[2]]}"
    if period := dates.parse_period(word.removeprefix("in "), now, tz):
        # A span back begins at the moment that is meant; a day ends with it.
        return period[0] if period[1] == int(now) + 1 else period[1] - 1
    try:
        return (
            _clock_time(word, now, tz)
            or _parse_weekday(word, now, tz)
            or _parse_named_day(word, now, tz)
            or _parse_iso(word, tz)
        )
    except (ValueError, OverflowError, OSError):
        return None


def _clock_time(word: str, now: float, tz: tzinfo | None) -> int | None:
    if not (match := _TIME.fullmatch(word)):
        return None
    here = datetime.fromtimestamp(now, tz)
    then = here.replace(hour=int(match[1]), minute=int(match[2]), second=59, microsecond=0)
    if then.replace(second=0) <= here < then:  # the minute that goes on
        return int(now)
    return int((then if then <= here else then - timedelta(days=1)).timestamp())


def _parse_weekday(word: str, now: float, tz: tzinfo | None) -> int | None:
    match = _WEEKDAY.fullmatch(word)
    if not match or word.split()[-1] not in (*_DAYS, *_WHOLE):
        return None
    today = datetime.fromtimestamp(now, tz).replace(hour=0, minute=0, second=0, microsecond=0)
    days_back = (today.weekday() - _DAYS.index(match[1]) - 1) % 7
    return int((today - timedelta(days=days_back)).replace(tzinfo=tz).timestamp()) - 1


def _parse_named_day(word: str, now: float, tz: tzinfo | None) -> int | None:
    """``3 mar``, ``3 mar 2025 14:30``; without a year the last one that is past."""
    if not (match := _NAMED.fullmatch(word)):
        return None
    here = datetime.fromtimestamp(now, tz)
    hour, minute = (int(match[4]), int(match[5])) if match[4] else (23, 59)
    year = int(match[3] or here.year)
    then = datetime(year, _MONTHS.index(match[2]) + 1, int(match[1]), hour, minute, 59, tzinfo=here.tzinfo)
    if not match[3] and then.date() > here.date():
        then = then.replace(year=year - 1)
    return int(then.replace(tzinfo=tz).timestamp())


def _parse_iso(word: str, tz: tzinfo | None) -> int | None:
    """An ISO date and time, with a zone or in the local one."""
    then = datetime.fromisoformat(word.upper())
    if _TO_THE_MINUTE.fullmatch(word):
        then = then.replace(second=59)
    return int((then if then.tzinfo is not None else then.replace(tzinfo=tz)).timestamp())
