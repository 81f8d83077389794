"""Months, quarters and years of an entity: their names and filter terms, and the way from one to the next."""

from __future__ import annotations

from memtui.present.span import Span, filled_spans, neighbouring_span, span_of

MONTHS = [(2025, 12, 3), (2026, 1, 0), (2026, 2, 1), (2026, 3, 4)]


def test_names_and_terms() -> None:
    said = [
        (one.name, one.filter_term)
        for one in (span_of(unit, 2026, 5) for unit in ("month", "quarter", "year"))
    ]  # type: ignore[arg-type]
    assert said == [("May 2026", "2026-05"), ("April to June 2026", "2026-04..2026-06"), ("2026", "2026")]


def test_only_spans_with_anything_are_stepped_through() -> None:
    there = filled_spans("month", MONTHS)
    assert there == [Span(2025, 12, 1), Span(2026, 2, 1), Span(2026, 3, 1)]
    assert neighbouring_span(there, None, -1) == Span(2026, 3, 1) and neighbouring_span(
        there, None, 1
    ) == Span(2025, 12, 1)
    assert neighbouring_span(there, Span(2026, 2, 1), -1) == Span(2025, 12, 1)
    assert neighbouring_span(there, Span(2026, 3, 1), 1) is None and neighbouring_span([], None, -1) is None
    assert filled_spans("quarter", MONTHS) == [Span(2025, 10, 3), Span(2026, 1, 3)]
    assert filled_spans("year", MONTHS) == [Span(2025, 1, 12), Span(2026, 1, 12)]
