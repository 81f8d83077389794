"""The days that a prompt names (today, Saturday, 28 November, 2026-11-28), and the facts that happen on them."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date, datetime, timedelta
from pathlib import Path

import apsw

from memtui.engine import word_lists
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories
from memtui.engine.store.tokens import text_words

from .filters import dates
from .scope import Scope

MOST = 5
"""So many facts of named days at most."""
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "heute": 0, "morgen": 1, "demain": 1, "hoy": 0}
# A line a day, from Monday.
_WEEKDAYS = word_lists.read_lines(Path(__file__).parent / "words" / "weekdays.txt")
_WEEKDAY_NUMBERS = {word: number for number, names in enumerate(_WEEKDAYS) for word in names.split()}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*"
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b", re.IGNORECASE)
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def find_days(prompt: str, now: float) -> list[date]:
    """The days, those to come: a weekday is the next one, today too; a date without a year the next such."""
    today = datetime.fromtimestamp(now).date()
    found: dict[date, None] = {}
    for word in text_words(prompt):
        if word in _NEAR:
            found[today + timedelta(days=_NEAR[word])] = None
        elif word in _WEEKDAY_NUMBERS:
            found[today + timedelta(days=(_WEEKDAY_NUMBERS[word] - today.weekday()) % 7)] = None
    pairs = [(int(day), month) for day, month in _DAY_FIRST.findall(prompt)]
    pairs += [(int(day), month) for month, day in _MONTH_FIRST.findall(prompt)]
    for day, month in pairs:
        month_number = _MONTHS.index(month.lower()) + 1
        try:
            one = date(today.year, month_number, day)
            found[one if one >= today else date(today.year + 1, month_number, day)] = None
        except ValueError:
            continue
    for written in _ISO.findall(prompt):
        try:
            found[date.fromisoformat(written)] = None
        except ValueError:
            continue
    return list(found)


def facts_on_days(
    connection: apsw.Connection, days: Collection[date], scope: Scope, now: float
) -> list[tuple[date, MemoryRecord]]:
    """The facts that happen on these days, the latest said first."""
    found: list[tuple[date, MemoryRecord]] = []
    for day in days:
        period = dates.parse_period(day.isoformat(), now)
        if period is None:
            continue
        rows = connection.execute(
            f"""
            SELECT m.rid FROM memories m INDEXED BY memories_by_day
            WHERE m.kind = 'fact' AND m.valid_until IS NULL
              AND m.happens_at >= :day_from AND m.happens_at < :day_to AND {scope.where}
            ORDER BY m.event_time DESC, m.rid DESC LIMIT {MOST}
            """,
            {**scope.bindings, "day_from": period[0], "day_to": period[1]},
        )
        found += [(day, one) for one in memories.by_rid(connection, [rid for (rid,) in rows], now)]
    return found[:MOST]
