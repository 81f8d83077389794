"""How pinned questions fared, in words: for their rows in Search, and for Maintenance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.format import count, plural
from memtui.ui.safe import assemble, content

if TYPE_CHECKING:
    from memtui.engine.store.saved_queries import Place, QuestionResult, SavedQuery
    from memtui.present.glyphs import Glyphs


def fared_line(results: Sequence[QuestionResult]) -> str:
    """The outcome of all of them in a line."""
    if not results:
        return "none expects an answer yet"
    failed = sum(not result.passed for result in results)
    return f"{failed} of {count(len(results))} fail" if failed else f"all {count(len(results))} pass"


def fared(saved: SavedQuery, result: QuestionResult | None, glyphs: Glyphs, width: int) -> list[Content]:
    """What a question expects, and where it stands; empty when it expects nothing."""
    if not saved.expected:
        return []
    among = "as the first hit" if saved.top == 1 else f"among the first {saved.top}"
    told = f"{plural(len(saved.expected), 'memory')} {among}"
    lines = [
        assemble(("expects  ", "$text-muted"), told, ("" if result else ", not asked yet", "$text-muted"))
    ]
    for place in result.places if result is not None else ():
        lines += _standing(place, glyphs, width)
    return lines


def _standing(place: Place, glyphs: Glyphs, width: int) -> list[Content]:
    sign = glyphs.done if place.passed else glyphs.conflict
    where = "not found" if place.rank is None else f"#{place.rank}"
    lines = [assemble((f"{sign} {where}", "$success" if place.passed else "$warning"))]
    told = [content(place.content or place.memory_id)]
    if not place.passed and place.why:
        told.append(content(place.why, "$text-muted"))
    return lines + [assemble("  ", line) for text in told for line in text.wrap(max(width - 2, 1))]
