"""The day that a statement names ("in three weeks", "am 3. März", "on Friday"), counted from when it was said.

The words of a day are found by a list of patterns (``day_words.txt``) and read by a library. A week, a month, a part of a
month or a year that lies ahead is named by its last day; a month that is over has no single day. What comes again and
again ("every Friday") is no day.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, NamedTuple

from memtui.engine import word_lists
from memtui.engine.clock import EARLIEST, LATEST, local_time
from memtui.engine.errors import InputError
from memtui.engine.records import Topic

_LANGUAGES = ("en", "de", "fr", "es")
_LIST = Path(__file__).with_name("day_words.txt")
_MAX_LENGTH = 600
_CONTEXT_LENGTH = 24  # characters before the words of a day
_PARTS = ("month", "weekday", "count", "unit")
# What comes again and again, or holds on any day.
_UNDATED: frozenset[Topic] = frozenset(("routine", "rule", "preference", "identity"))
_SIGNS = (
    "put right", "again", "recurring", "no longer", "done", "over", "either tense", "between clauses", "holds now",
)  # fmt: skip
_FAR_AHEAD_DAYS = 270  # days: a month that is further ahead was more likely the last one of that name
_EARLY_DAY, _MIDDLE_DAY = 10, 20  # the last day of the first, and of the second third of a month
_year = re.compile(r"\d{4}")
_said = re.compile(r" \(said [^()]*\)$")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_quick = re.compile(
    rf"(?P<weekday>{'|'.join(_WEEKDAYS)})|(?:(?P<number>\d\d?) )?(?P<month>{'|'.join(_MONTHS)})(?: (?P<year>\d{{4}}))?",
    re.IGNORECASE,
)
_article = re.compile(r"(?:the|der|den|le|la|el|um|im|am) ", re.IGNORECASE)


class _NamedDay(NamedTuple):
    """A day and where its words are. ``exact``: the words have its number and its month; ``month``: only the month, no year."""

    start: int
    day: date
    exact: bool
    month: bool


def find_named_day(
    text: str, said_at: float, *, ahead: bool = False, zone: tzinfo | None = None
) -> int | None:
    """Noon of the day that a text names, in Unix seconds; None where it names none.

    ``said_at``: when it was said; ``zone``: where, else here. Of several days it is the last that still holds ("moved from
    Friday to Monday"). ``ahead``: a plan, whose days lie ahead whatever the tense, unless it begins with what
    was done.
    """
    text = _after_correction(_said.sub("", text)[:_MAX_LENGTH].replace("’", "'"))
    found = _day_patterns()
    if not found.any.search(text):
        return None
    text = _clause_that_holds(text)
    here = local_time(said_at, zone)
    over = not ahead and found.signs["over"].search(text) is not None
    past = over or any(found.signs["done"].match(one) for one in (text, _clause_with_day(text)))
    named = list(_find_days(text, here.replace(tzinfo=None), past))
    if any(found.signs[sign].search(text) for sign in ("over", "either tense")):
        named = [one for one in named if not one.month or (one.day - here.date()).days <= _FAR_AHEAD_DAYS]
    if named and not named[0].exact and found.signs["recurring"].search(text):
        return None
    if not named:
        return None
    holding = [
        one
        for one in named
        if not found.signs["no longer"].search(text[max(one.start - _CONTEXT_LENGTH, 0) : one.start])
    ]
    day = (holding or named)[-1].day if len(holding) < len(named) else named[0].day
    try:
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=here.tzinfo if zone else None)
        seconds = int(noon.timestamp())
    except (OverflowError, OSError, ValueError):
        return None
    return seconds if EARLIEST <= seconds <= LATEST else None


def day_of_fact(content: str, said_at: float, topic: Topic | None) -> int | None:
    """The day that a fact is about (see ``find_named_day``): its own words' day, unless its topic has none."""
    return None if topic in _UNDATED else find_named_day(content, said_at, ahead=topic == "plan")


def parse_typed_day(text: str, now: float, zone: tzinfo | None = None) -> int:
    """Noon of the day that somebody typed: ``2026-06-12``, ``12 june``, ``next friday``, ``in 3 weeks``. Raises InputError."""
    words = " ".join(text.split())
    found = find_named_day(words, now, ahead=True, zone=zone) or find_named_day(
        f"on {words}", now, ahead=True, zone=zone
    )
    if found is None:
        raise InputError(
            f"{text!r} is not a day.", 'For example 2026-06-12, "12 june", "next friday", "in 3 weeks".'
        )
    return found


def _after_correction(text: str) -> str:
    """The text from the day on that puts right the one before it: "on Tuesday, no wait, Thursday"."""
    for match in reversed(list(_day_patterns().signs["put right"].finditer(text))):
        rest = text[match.end() :]
        if _day_patterns().any.match(rest):
            return rest
    return text


def _clause_that_holds(text: str) -> str:
    """The one clause with a day, where it says of itself that it holds: "I quit, my last day is 31 December"."""
    patterns = _day_patterns()
    clauses = [one for one in patterns.signs["between clauses"].split(text) if patterns.any.search(one)]
    if len(clauses) == 1 and (verb := patterns.signs["holds now"].search(clauses[0])):
        return clauses[0] if patterns.any.search(clauses[0], verb.end()) else text
    return text


def _clause_with_day(text: str) -> str:
    """The first clause that names a day: "Finally in Nantes, moved in on the 17th"."""
    patterns = _day_patterns()
    clauses = patterns.signs["between clauses"].split(text)
    return next((one for one in clauses if patterns.any.search(one)), text)


class _DayPatterns(NamedTuple):
    """The patterns of each way to name a day, of all together, and the signs that come before. ``digits``: counts in words."""

    ways: dict[str, re.Pattern[str]]
    any: re.Pattern[str]
    signs: dict[str, re.Pattern[str]]
    weekday_before: re.Pattern[str]
    digits: dict[str, str]


@functools.cache
def _day_patterns() -> _DayPatterns:
    sections = dict(word_lists.read_sections(_LIST))
    parts = {name: "|".join(sections.pop(name)) for name in _PARTS}
    digits = dict(line.split() for line in sections.pop("digits"))

    def compile_lines(lines: list[str]) -> re.Pattern[str]:
        # A group may have its name once in a pattern: each line has its own.
        numbered = [re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>{index}>", line) for index, line in enumerate(lines)]
        whole = "|".join(f"(?:{line})" for line in numbered)
        for name, words in parts.items():
            whole = whole.replace(f"{{{name}}}", words)
        return re.compile(whole, re.IGNORECASE)

    signs = {name: compile_lines(sections.pop(name)) for name in _SIGNS}
    return _DayPatterns(
        ways={name: compile_lines(lines) for name, lines in sections.items()},
        any=compile_lines([line for lines in sections.values() for line in lines]),
        signs=signs,
        weekday_before=re.compile(rf"\b({parts['weekday']}),? (?:the |dem |den |le |el )?$", re.IGNORECASE),
        digits=digits,
    )


def _find_days(text: str, here: datetime, past: bool) -> Iterator[_NamedDay]:
    """The days that a text names, in order; of words that name one in two ways the first way of the list counts."""
    kinds = _day_patterns()
    spans: list[tuple[int, int]] = []
    found: list[_NamedDay] = []
    for name, pattern in kinds.ways.items():
        if any(one.exact for one in found):
            break  # a date with number and month wins over "Friday" and "next week"
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < last and first < end for first, last in spans):
                continue
            if kinds.signs["again"].search(text[max(start - _CONTEXT_LENGTH, 0) : start]):
                spans.append((start, end))
                continue
            group = match.lastindex or 0
            words = match[group]
            day = _WAYS[name](words, here, past)
            if day is not None and name == "exact" and not _year.search(words):
                day = _in_fitting_year(day, text[max(start - _CONTEXT_LENGTH, 0) : start], here)
            if day is not None:
                spans.append((start, end))
                month = name == "month named" and not _year.search(words)
                found.append(_NamedDay(match.start(group), day, name == "exact", month))
    yield from sorted(found)


def _in_fitting_year(day: date, before: str, here: datetime) -> date:
    """A day without its year, in the nearest year in which it is the weekday that stands right before it."""
    weekday = _day_patterns().weekday_before.search(before)
    wanted = _parse_day(weekday[1], here, past=False) if weekday else None
    if wanted is None:
        return day
    found = []
    for year in (here.year - 1, here.year, here.year + 1):
        with suppress(ValueError):  # 29 February
            found.append(day.replace(year=year))
    fitting = [one for one in found if one.weekday() == wanted.weekday()]
    return min(fitting, key=lambda one: abs(one - here.date()), default=day)


def _parse_day(words: str, here: datetime, past: bool, *, last: bool = False) -> date | None:
    """A plain English day or month at once; whatever else as the library reads it, which takes long to load."""
    if (found := _quick.fullmatch(words)) and (last or not found["month"] or found["number"]):
        return _read_quickly(found, here.date(), past)
    if not _has_dateparser():
        return None
    words = " ".join(_day_patterns().digits.get(word.casefold(), word) for word in words.split())
    import dateparser

    settings: Any = {
        "RELATIVE_BASE": here, "PREFER_DATES_FROM": "past" if past else "future", "DATE_ORDER": "DMY",
        "PREFER_DAY_OF_MONTH": "last" if last else "current", "RETURN_AS_TIMEZONE_AWARE": False,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moment = dateparser.parse(_article.sub("", words), languages=list(_LANGUAGES), settings=settings)
    return moment.date() if moment is not None else None


def _read_quickly(match: re.Match[str], today: date, past: bool) -> date | None:
    """A weekday, a date, or a month by its last day."""
    if match["weekday"]:
        wanted = _WEEKDAYS.index(match["weekday"].casefold())
        if past:
            return today - timedelta(days=(today.weekday() - wanted) % 7 or 7)
        return today + timedelta(days=(wanted - today.weekday()) % 7 or 7)
    month, number = _MONTHS.index(match["month"].casefold()) + 1, match["number"]
    # 29 February comes after eight years at the latest.
    years = range(today.year, today.year - 9, -1) if past else range(today.year, today.year + 9)
    for year in [int(match["year"])] if match["year"] else years:
        with suppress(ValueError):
            day = date(year, month, int(number or 1))
            if not number:
                day = _first_of_next_month(day) - timedelta(days=1)
            if match["year"] or (day <= today if past and number else day < today if past else day >= today):
                return day
    return None


@functools.cache
def _has_dateparser() -> bool:
    return importlib.util.find_spec("dateparser") is not None


def _parse_exact_date(words: str, here: datetime, past: bool) -> date | None:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", words):
        try:
            return date.fromisoformat(words)
        except ValueError:
            return None
    return _parse_day(words, here, past)


def _weekday_of_later_week(words: str, here: datetime, past: bool) -> date | None:
    """ "Thursday in two weeks", "a week from Friday", "vendredi en quinze"."""
    first, _, rest = words.partition(" ")
    if from_day := _from.fullmatch(words):
        base, after = (
            _parse_day(from_day["day"], here, past=False),
            _parse_day(f"in {from_day['span']}", here, past=False),
        )
        return base + (after - here.date()) if base and after else None
    weekday = _parse_day(first, here, past=False)
    if weekday is None:
        return None
    if days := _IN_DAYS.get(rest.casefold()):
        return weekday + timedelta(days=days)
    week = _parse_day(rest, here, past=False)
    return week + timedelta(days=weekday.weekday() - week.weekday()) if week else None


def _last_weekday(words: str, here: datetime, past: bool) -> date | None:
    return _parse_day(words, here, True)


def _weekday_of_next_week(words: str, here: datetime, past: bool) -> date | None:
    return _parse_day(words, here + timedelta(days=6 - here.weekday()), past=False)


def _day_of_month(number: str, here: datetime, past: bool) -> date | None:
    """The next month that has such a day, or the last one."""
    day, month = int(number), here.date().replace(day=1)
    for _ in range(13):
        try:
            found = month.replace(day=day)
        except ValueError:
            found = None
        if found is not None and (found <= here.date() if past else found >= here.date()):
            return found
        month = (month - timedelta(days=1)).replace(day=1) if past else _first_of_next_month(month)
    return None


def _find_named_month(words: str, here: datetime, past: bool) -> date | None:
    """The last day of a month that is not over: a plan holds until then. What happened in a month has no single day."""
    found = None if past else _parse_day(words, here, past, last=True)
    if found is None:
        return None
    last_day = _first_of_next_month(found.replace(day=1)) - timedelta(days=1)
    return last_day if last_day >= here.date() else None


def _month_until(number: int) -> Callable[[str, datetime, bool], date | None]:
    """A part of a month, by its last day; None once that is over."""

    def resolve_day(words: str, here: datetime, past: bool) -> date | None:
        month = _find_named_month(words, here, past)
        day = month.replace(day=number) if month is not None else None
        return day if day is not None and day >= here.date() else None

    return resolve_day


def _first_of_next_month(day: date) -> date:
    """The first of the next month."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _week_end(weeks: int) -> Callable[[str, datetime, bool], date]:
    """The Sunday of a week from here."""
    return lambda _, here, past: here.date() + timedelta(days=6 - here.weekday() + 7 * weeks)


def _month_end(months: int) -> Callable[[str, datetime, bool], date]:
    def resolve_day(_: str, here: datetime, past: bool) -> date:
        first = here.date().replace(day=1)
        for _month in range(months + 1):
            first = _first_of_next_month(first)
        return first - timedelta(days=1)

    return resolve_day


_from = re.compile(r"(?P<span>.+) from (?P<day>\w+)", re.IGNORECASE)
_IN_DAYS = {"en huit": 7, "en quinze": 14}
_WAYS: dict[str, Callable[[str, datetime, bool], date | None]] = {
    "exact": _parse_exact_date,
    "weekday of a later week": _weekday_of_later_week,
    "counted": _parse_day,
    "near": _parse_day,
    "last weekday": _last_weekday,
    "weekday of next week": _weekday_of_next_week,
    "weekday with its number": _day_of_month,
    "weekday named": _parse_day,
    "day of month": _day_of_month,
    "end of next weekend": _week_end(1),
    "end of week": _week_end(1),
    "end of this week": _week_end(0),
    "end of month": _month_end(1),
    "end of this month": _month_end(0),
    "early in a month": _month_until(_EARLY_DAY),
    "middle of a month": _month_until(_MIDDLE_DAY),
    "month named": _find_named_month,
    "end of year": lambda _, here, past: date(here.year + 1, 12, 31),
    # "in 2019" is when something was, and no day of it.
    "year named": lambda year, here, past: date(int(year), 12, 31) if int(year) >= here.year else None,
}
