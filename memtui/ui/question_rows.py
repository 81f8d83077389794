"""How pinned questions fared, in words: for their rows in Search, and for Maintenance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from .format import plural
from .safe import assemble

if TYPE_CHECKING:
    from memtui.engine.store.saved_queries import Place, QuestionResult, SavedQuery

    from .glyphs import Glyphs


def fared_line(results: Sequence[QuestionResult]) -> str:
    """The outcome of all of them in a line."""
    if not results:
        return "no question expects an answer yet"
    failed = sum(not result.passed for result in results)
    if failed:
        return f"{failed} of {plural(len(results), 'question')} without the expected answer"
    return (
        "the question finds what it should"
        if len(results) == 1
        else f"all {len(results)} find what they should"
    )


def fared(saved: SavedQuery, result: QuestionResult | None, glyphs: Glyphs) -> list[Content]:
    """What a question expects, and where it stands; empty when it expects nothing."""
    if not saved.expected:
        return []
    lines = [assemble(("expects  ", "$text-muted"), f"among the first {saved.top}")]
    if result is None:
        lines.append(
            assemble(
                (
                    f"         not asked yet: {plural(len(saved.expected), 'memory', 'memories')}",
                    "$text-muted",
                )
            )
        )
        return lines
    for place in result.places:
        lines += _standing(place, glyphs)
    return lines


def _standing(place: Place, glyphs: Glyphs) -> list[Content]:
    where = "not found" if place.rank is None else f"#{place.rank}"
    sign = glyphs.protected if place.passed else glyphs.conflict
    colour = "$success" if place.passed else "$warning"
    lines = [assemble("  ", (f"{sign} {where:<9}", colour), " ", place.content or place.memory_id)]
    if not place.passed and place.why:
        lines.append(assemble("              ", (place.why, "$text-muted")))
    return lines
