"""The two parts of Review: the list of cards, and the card."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from memtui.ui.actions import Action, Place
from memtui.ui.keymap import bindings_at
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

from .detail import Laid

Row = TypeVar("Row")


class CardTable(RowTable[Row], inherit_bindings=False):
    BINDINGS = [*bindings_at("card")]
    part: ClassVar[Place] = "card"

    def why_not(self, action: Action) -> str:
        return "There is nothing to decide." if not self.row_count else super().why_not(action)


class CardView(TextView, inherit_bindings=False):
    BINDINGS = [*bindings_at("card")]
    part: ClassVar[Place] = "card"
    _height = 0

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static(classes="card-verdicts")

    def show_card(self, laid: Laid, verdicts: Content, *, of: object) -> None:
        """Show a card and scroll to the picked fact. The verdicts stay below it."""
        same = of == self._shown
        self.show(laid.text, of=of)
        below = self.query_one(".card-verdicts", Static)
        below.update(verdicts)
        below.display = bool(verdicts.plain)
        if same:
            self.call_after_refresh(self._reveal, laid.picked)

    def on_resize(self) -> None:
        super().on_resize()
        if self.outer_size.height != self._height:
            self._height = self.outer_size.height
            self.post_message(self.Rewidened(self.id or ""))

    def _reveal(self, line: int) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if line < top or line >= top + max(height - 3, 1):
            self.scroll_to(y=max(line - 1, 0), animate=False)
