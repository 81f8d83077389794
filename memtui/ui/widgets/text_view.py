"""A view for text. It scrolls with the same keys as a list."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from memtui.ui.action_dispatch import chord, perform
from memtui.ui.actions import Place
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type

# As in .text-body of lists.tcss.
GAP = 1


class TextView(VerticalScroll, can_focus=True, inherit_bindings=False):
    """``show`` displays a text from its top, or at the same position if it is about the same thing."""

    BINDINGS = [*bindings_at("text")]
    part: ClassVar[Place] = "text"
    action_perform, action_chord = perform, chord

    @message_type
    class Rewidened(Message):
        """The width has changed: the text may need another layout."""

        view: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: object = None
        self._width = 0

    def compose(self) -> ComposeResult:
        yield Static(classes="text-body")

    @property
    def text_width(self) -> int:
        """The width of a line in cells, with one cell left free before the scroll bar.

        A hidden widget has no size; then this is its last width.
        """
        shown = self.scrollable_content_region.width
        return max(shown - GAP, 10) if shown else max(self._width, 10)

    def show(self, text: Content, *, of: object = None) -> None:
        """Show a text. ``of`` identifies its subject: a newer text about it keeps the scroll position."""
        self.query_one(".text-body", Static).update(text)
        if of is None or of != self._shown:
            self.scroll_home(animate=False)
        self._shown = of

    def on_resize(self) -> None:
        if self.text_width != self._width:
            self._width = self.text_width
            self.post_message(self.Rewidened(self.id or ""))

    def do_up(self) -> None:
        self.scroll_up(animate=False)

    def do_down(self) -> None:
        self.scroll_down(animate=False)

    def do_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def do_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def do_half_up(self) -> None:
        self.scroll_relative(y=-max(self.size.height // 2, 1), animate=False)

    def do_half_down(self) -> None:
        self.scroll_relative(y=max(self.size.height // 2, 1), animate=False)

    def do_top(self) -> None:
        self.scroll_home(animate=False)

    def do_bottom(self) -> None:
        self.scroll_end(animate=False)
