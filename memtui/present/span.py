"""A month, quarter or year of an entity: its name and its filter term, and the ones in which it is mentioned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from .format import WHOLE_MONTHS

SpanUnit = Literal["month", "quarter", "year"]
SPAN_UNITS: tuple[SpanUnit, ...] = get_args(SpanUnit)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


class Span(NamedTuple):
    """``months`` months of a year, from the month ``first`` (1 to 12) on."""

    year: int
    first: int
    months: int

    @property
    def filter_term(self) -> str:
        """What stands behind ``on:`` in a filter."""
        if self.months == 12:
            return f"{self.year:04}"
        begin = f"{self.year:04}-{self.first:02}"
        return begin if self.months == 1 else f"{begin}..{self.year:04}-{self.first + self.months - 1:02}"

    @property
    def name(self) -> str:
        """``October 2026``, ``October to December 2026``, ``2026``."""
        if self.months == 12:
            return str(self.year)
        last = "" if self.months == 1 else f" to {WHOLE_MONTHS[self.first + self.months - 2]}"
        return f"{WHOLE_MONTHS[self.first - 1]}{last} {self.year}"


def span_of(unit: SpanUnit, year: int, month: int) -> Span:
    """The span that a month is in."""
    months = _MONTHS[unit]
    return Span(year, (month - 1) // months * months + 1, months)


def filled_spans(unit: SpanUnit, months: Iterable[tuple[int, int, int]]) -> list[Span]:
    """The spans in which there is anything. ``months``: (year, month, memories)."""
    return sorted({span_of(unit, year, month) for year, month, number in months if number})


def neighbouring_span(spans: list[Span], now: Span | None, by: int) -> Span | None:
    """The next span with anything before (-1) or after (1); from all time the last or the first. None if there is none."""
    if now is None:
        return (spans[-1] if by < 0 else spans[0]) if spans else None
    those = [one for one in spans if (one < now if by < 0 else one > now)]
    return (those[-1] if by < 0 else those[0]) if those else None
