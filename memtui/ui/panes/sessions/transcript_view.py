"""A conversation to read: keys and mouse on ``TranscriptLines``."""

from __future__ import annotations

from typing import ClassVar

from textual import events

from memtui.ui.actions import Action, Place
from memtui.ui.keymap import bindings_at
from memtui.ui.perform import Performs

from .transcript_lines import TranscriptLines


class TranscriptView(Performs, TranscriptLines, can_focus=True, inherit_bindings=False):
    """Moves from turn to turn, scrolls through long ones, folds and unfolds them."""

    BINDINGS = [*bindings_at("transcript")]
    part: ClassVar[Place] = "transcript"

    def why_not(self, action: Action) -> str:
        return "" if len(self._turns) else "There is no turn here."

    def _scroll_on(self, by: int) -> None:
        """Scroll by lines, and take the cursor along."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)
        top = self.scroll_offset.y - len(self._head)
        if not len(self._turns):
            return
        first = self._turns.turn_at(max(top, 0))
        if top > self._turns.span(first)[0]:
            first += 1
        last = self._turns.turn_at(max(top + self.size.height - 1, 0))
        self.cursor = max(min(self.cursor, last), min(first, last))
        self.refresh()

    def do_up(self) -> None:
        if not len(self._turns):
            return
        first = self._turns.span(self.cursor)[0] + len(self._head)
        if first < self.scroll_offset.y:
            self.scroll_to(y=max(first, self.scroll_offset.y - max(self.size.height // 2, 1)), animate=False)
        else:
            self.put_cursor(self.cursor - 1)

    def do_down(self) -> None:
        if not len(self._turns):
            return
        end = self._turns.span(self.cursor)[1] + len(self._head)
        if end > self.scroll_offset.y + self.size.height + 1:
            self.scroll_to(y=self.scroll_offset.y + max(self.size.height // 2, 1), animate=False)
        else:
            self.put_cursor(self.cursor + 1)

    def do_top(self) -> None:
        self.put_cursor(0)
        self.scroll_to(y=0, animate=False)

    def do_bottom(self) -> None:
        self.put_cursor(len(self._turns) - 1)

    def do_unfold(self) -> None:
        self._turns.fold(self.cursor)
        self._fit()
        self.put_cursor(self.cursor)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y - len(self._head)
        if 0 <= line < self._turns.height:
            self.cursor = self._turns.turn_at(line)
            if event.chain == 2:
                self.do_unfold()
            self.refresh()
