"""A turn of a conversation as lines: speaker and time, the text (folded if long), and the facts drawn from it.

``height`` counts the lines of a turn without drawing it. A test checks that both agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.caution import line as caution_line
from memtui.present.format import count, local_time, plural
from memtui.present.memory import why_ended
from memtui.present.session import speaker, turn_note
from memtui.present.text import Role, Visible, cells, one_line, visible
from memtui.ui.presenters.memory_rows import sign_of
from memtui.ui.presenters.text_layout import wrap
from memtui.ui.widgets.columns import Piece

if TYPE_CHECKING:
    from memtui.engine.records import Caution, MemoryRecord
    from memtui.present.glyphs import Glyphs

# A longer text is folded to this many lines, and one that says how many more there are.
FOLD = 8
INDENT = 2
_MOST_CAUTIONS = 3
_MOST_FACTS = 8
Line = list[Piece]

_ROLE_HUES: dict[str, Role] = {"user": "accent", "assistant": "strong", "tool": "dim", "system": "dim"}


class TurnView(NamedTuple):
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
        body = len(self._text(turn))
        return (
            2
            + len(self._cautions(turn))
            + len(self._facts(turn))
            + (body if whole or body <= FOLD + 1 else FOLD + 1)
        )

    def lines(self, turn: MemoryRecord, *, whole: bool) -> list[Line]:
        """The heading, the cautions, the text, the facts, and an empty line."""
        text = self._text(turn)
        shown = text if whole or len(text) <= FOLD + 1 else text[:FOLD]
        role: Role = "text" if turn.active else "dim"
        lines = [self._heading(turn), *map(self._caution, self._cautions(turn))]
        lines += [self._marked(line, role) for line in shown]
        if len(shown) < len(text):
            more = visible(f"… {count(len(text) - len(shown))} more lines")
            lines.append([_indent(INDENT), Piece(more, "accent"), Piece(Visible("  Enter unfolds"), "dim")])
        lines += self._facts(turn)
        lines.append([])
        return lines

    def _text(self, turn: MemoryRecord) -> list[Visible]:
        return wrap(visible(turn.content.strip(), newlines=True), self.width - INDENT)

    def _cautions(self, turn: MemoryRecord) -> Sequence[Caution]:
        return (self.cautions or {}).get(turn.rid, ())[:_MOST_CAUTIONS] if turn.active else ()

    def _caution(self, caution: Caution) -> Line:
        pieces = [_indent(INDENT), Piece(visible(f"{self.glyphs.conflict} "), "warning")]
        for text, role in caution_line(caution, self.now):
            room = self.width - sum(cells(piece.text) for piece in pieces)
            if room > 1:
                pieces += [Piece(one_line(text, room - 1), role), _indent(1)]
        return pieces

    def _facts(self, turn: MemoryRecord) -> list[Line]:
        facts = (self.drawn or {}).get(turn.rid, ())
        lines = [self._fact(fact) for fact in facts[:_MOST_FACTS]]
        if more := len(facts) - len(lines):
            lines.append([_indent(INDENT), Piece(visible(f"… {plural(more, 'more fact')}"), "dim")])
        return lines

    def _fact(self, fact: MemoryRecord) -> Line:
        sign = sign_of(fact, self.glyphs)
        prefix = [_indent(INDENT), sign, _indent(1)]
        if not fact.active:
            prefix += [Piece(visible(why_ended(fact)), "warning"), _indent(1)]
        room = self.width - sum(cells(piece.text) for piece in prefix)
        return [*prefix, Piece(one_line(fact.content, max(room, 1)), "dim")]

    def _heading(self, turn: MemoryRecord) -> Line:
        role = turn.source_role or "user"
        who = one_line(speaker(turn), max(self.width // 2, 4))
        when = local_time(turn.event_time, self.now)
        line = [
            Piece(who, _ROLE_HUES.get(role, "strong")),
            Piece(visible(f" {self.glyphs.dot} {when}"), "dim"),
        ]
        note, hue = self._state(turn)
        gap = self.width - sum(cells(piece.text) for piece in line) - cells(note)
        if note and gap > 0:
            line += [_indent(gap), Piece(note, hue)]
        return line

    def _state(self, turn: MemoryRecord) -> tuple[Visible, Role]:
        note, role = turn_note(turn, self.through)
        if not note:
            return Visible(""), role
        sign = (
            self.glyphs.ended
            if not turn.active
            else self.glyphs.marked
            if role == "dim"
            else self.glyphs.conflict
        )
        return visible(f"{sign} {note}"), role

    def _marked(self, line: Visible, role: Role) -> Line:
        pieces = [_indent(INDENT)]
        at = 0
        for start, end in _found(line, self.words):
            pieces += [Piece(Visible(line[at:start]), role), Piece(Visible(line[start:end]), "keyword")]
            at = end
        pieces.append(Piece(Visible(line[at:]), role))
        return pieces


def _indent(width: int) -> Piece:
    return Piece(Visible(" " * width))


def _found(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    if not words:
        return []
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [found.span() for found in re.finditer(pattern, line, re.IGNORECASE)]
