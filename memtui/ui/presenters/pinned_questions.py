"""Results of pinned questions as text, for Search and Maintenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.question import expectation_text, rank_of_expected
from memtui.ui.safe import assemble, content, content_of_line

if TYPE_CHECKING:
    from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedQuery
    from memtui.present.glyphs import Glyphs


def question_outcome(
    saved: SavedQuery, result: QuestionResult | None, glyphs: Glyphs, width: int
) -> list[Content]:
    """The memories that a question expects, and the rank of each. Empty if it expects nothing."""
    if not saved.expected:
        return []
    lines = [
        assemble(
            ("expects  ", "$text-muted"),
            expectation_text(saved),
            ("" if result else ", not asked yet", "$text-muted"),
        )
    ]
    for expected in result.places if result is not None else ():
        lines += _expected_lines(expected, glyphs, width)
    return lines


def _expected_lines(expected: ExpectedMemory, glyphs: Glyphs, width: int) -> list[Content]:
    glyph = glyphs.done if expected.passed else glyphs.conflict
    where, role = rank_of_expected(expected)
    lines = [content_of_line(((f"{glyph} {where}", role),))]
    texts = [content(expected.content or expected.memory_id)]
    if not expected.passed and expected.why:
        texts.append(content(expected.why, "$text-muted"))
    return lines + [assemble("  ", line) for text in texts for line in text.wrap(max(width - 2, 1))]
