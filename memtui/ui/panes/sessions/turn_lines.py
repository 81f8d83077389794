"""A turn of a conversation as lines: speaker and time, the text (folded if long), and the facts drawn from it.

``height`` counts the lines of a turn without drawing it. A test checks that both agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.caution import caution_line as caution_line
from memtui.present.format import format_count, local_time, plural
from memtui.present.memory import ended_reason
from memtui.present.session import speaker_name, turn_note
from memtui.present.text import Role, VisibleText, max_cells, one_line, visible_text
from memtui.ui.presenters.memory_rows import memory_sign
from memtui.ui.presenters.text_layout import wrap_text
from memtui.ui.widgets.columns import StyledText

if TYPE_CHECKING:
    from memtui.engine.records import Caution, MemoryRecord
    from memtui.present.glyphs import Glyphs

# A longer text is folded to this many lines, and one that says how many more there are.
FOLD = 8
INDENT = 2
_MOST_CAUTIONS = 3
_MOST_FACTS = 8
Line = list[StyledText]

_ROLE_HUES: dict[str, Role] = {"user": "accent", "assistant": "strong", "tool": "dim", "system": "dim"}


class TurnLayout(NamedTuple):
    """How turns are drawn: ``width`` cells wide, as of ``now``; ``through``: the last consolidated rid.

    ``words`` are marked everywhere. ``cautions``: statements of turns (by rid) that are no longer true. ``drawn``:
    the facts that were drawn from them. Both are filled as turns are read.
    """

    width: int
    now: float
    glyphs: Glyphs
    through: int | None = None
    words: tuple[str, ...] = ()
    cautions: dict[int, tuple[Caution, ...]] | None = None
    drawn: dict[int, tuple[MemoryRecord, ...]] | None = None

    def height(self, turn: MemoryRecord, *, whole: bool) -> int:
        """The number of lines that ``lines`` returns."""
        body = len(self._text_lines(turn))
        return (
            2
            + len(self._caution_lines(turn))
            + len(self._fact_lines(turn))
            + (body if whole or body <= FOLD + 1 else FOLD + 1)
        )

    def lines(self, turn: MemoryRecord, *, whole: bool) -> list[Line]:
        """The heading, the cautions, the text, the facts, and an empty line."""
        text = self._text_lines(turn)
        shown = text if whole or len(text) <= FOLD + 1 else text[:FOLD]
        role: Role = "text" if turn.active else "dim"
        lines = [self._heading_line(turn), *map(self._caution_line, self._caution_lines(turn))]
        lines += [self._mark_matches(line, role) for line in shown]
        if len(shown) < len(text):
            more = visible_text(f"… {format_count(len(text) - len(shown))} more lines")
            lines.append(
                [
                    _indent_line(INDENT),
                    StyledText(more, "accent"),
                    StyledText(VisibleText("  Enter unfolds"), "dim"),
                ]
            )
        lines += self._fact_lines(turn)
        lines.append([])
        return lines

    def _text_lines(self, turn: MemoryRecord) -> list[VisibleText]:
        return wrap_text(visible_text(turn.content.strip(), newlines=True), self.width - INDENT)

    def _caution_lines(self, turn: MemoryRecord) -> Sequence[Caution]:
        return (self.cautions or {}).get(turn.rid, ())[:_MOST_CAUTIONS] if turn.active else ()

    def _caution_line(self, caution: Caution) -> Line:
        pieces = [_indent_line(INDENT), StyledText(visible_text(f"{self.glyphs.conflict} "), "warning")]
        for text, role in caution_line(caution, self.now):
            width_left = self.width - sum(max_cells(piece.text) for piece in pieces)
            if width_left > 1:
                pieces += [StyledText(one_line(text, width_left - 1), role), _indent_line(1)]
        return pieces

    def _fact_lines(self, turn: MemoryRecord) -> list[Line]:
        facts = (self.drawn or {}).get(turn.rid, ())
        lines = [self._fact_line(fact) for fact in facts[:_MOST_FACTS]]
        if more := len(facts) - len(lines):
            lines.append(
                [_indent_line(INDENT), StyledText(visible_text(f"… {plural(more, 'more fact')}"), "dim")]
            )
        return lines

    def _fact_line(self, fact: MemoryRecord) -> Line:
        glyph = memory_sign(fact, self.glyphs)
        prefix = [_indent_line(INDENT), glyph, _indent_line(1)]
        if not fact.active:
            prefix += [StyledText(visible_text(ended_reason(fact)), "warning"), _indent_line(1)]
        width_left = self.width - sum(max_cells(piece.text) for piece in prefix)
        return [*prefix, StyledText(one_line(fact.content, max(width_left, 1)), "dim")]

    def _heading_line(self, turn: MemoryRecord) -> Line:
        role = turn.source_role or "user"
        who = one_line(speaker_name(turn), max(self.width // 2, 4))
        when = local_time(turn.event_time, self.now)
        line = [
            StyledText(who, _ROLE_HUES.get(role, "strong")),
            StyledText(visible_text(f" {self.glyphs.dot} {when}"), "dim"),
        ]
        note, hue = self._state_line(turn)
        gap = self.width - sum(max_cells(piece.text) for piece in line) - max_cells(note)
        if note and gap > 0:
            line += [_indent_line(gap), StyledText(note, hue)]
        return line

    def _state_line(self, turn: MemoryRecord) -> tuple[VisibleText, Role]:
        note, role = turn_note(turn, self.through)
        if not note:
            return VisibleText(""), role
        glyph = (
            self.glyphs.ended
            if not turn.active
            else self.glyphs.marked
            if role == "dim"
            else self.glyphs.conflict
        )
        return visible_text(f"{glyph} {note}"), role

    def _mark_matches(self, line: VisibleText, role: Role) -> Line:
        pieces = [_indent_line(INDENT)]
        at = 0
        for start, end in _match_ranges(line, self.words):
            pieces += [
                StyledText(VisibleText(line[at:start]), role),
                StyledText(VisibleText(line[start:end]), "keyword"),
            ]
            at = end
        pieces.append(StyledText(VisibleText(line[at:]), role))
        return pieces


def _indent_line(width: int) -> StyledText:
    return StyledText(VisibleText(" " * width))


def _match_ranges(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    if not words:
        return []
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [match.span() for match in re.finditer(pattern, line, re.IGNORECASE)]
