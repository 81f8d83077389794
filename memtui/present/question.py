"""Pinned questions as text: what each should find, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .format import format_count, plural
from .text import Part

if TYPE_CHECKING:
    from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedQuery


def results_line(results: Sequence[QuestionResult]) -> str:
    """The results of all questions, in one line."""
    if not results:
        return "none expects an answer yet"
    failed = sum(not result.passed for result in results)
    return (
        f"{failed} of {format_count(len(results))} fail"
        if failed
        else f"all {format_count(len(results))} pass"
    )


def expectation_text(saved: SavedQuery) -> str:
    """``2 memories among the first 10``. Empty if it expects nothing."""
    if not saved.expected:
        return ""
    among = "as the first hit" if saved.top == 1 else f"among the first {saved.top}"
    return f"{plural(len(saved.expected), 'memory')} {among}"


def question_verdict(saved: SavedQuery, result: QuestionResult | None) -> Part:
    """Whether it finds what it should."""
    if not saved.expected:
        return "pinned", "dim"
    if result is None:
        return "not asked yet", "warning"
    return ("passes", "success") if result.passed else ("fails", "error")


def rank_of_expected(expected: ExpectedMemory) -> Part:
    """The rank at which an expected memory was found."""
    where = "not found" if expected.rank is None else f"#{expected.rank}"
    return where, "success" if expected.passed else "warning"


def question_scope_rows(saved: SavedQuery) -> list[tuple[str, str]]:
    """(label, value) of the question's filter and profile."""
    known = (("only in", saved.filter), ("profile", saved.profile or ""))
    return [(label, value) for label, value in known if value]
