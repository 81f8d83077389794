"""The input inside a filter bar; imported when somebody first types."""

from __future__ import annotations

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

from memtui.present.text import Visible
from memtui.ui.messages import message_type


class FilterInput(Input):
    """An input that gives the focus back to the list."""

    DEFAULT_CSS = """
    FilterInput {
        width: 1fr;
        background: $surface;
        &:focus { background: $surface; }
        & > .input--placeholder { color: $text-muted; }
    }
    """
    BINDINGS = [
        Binding("down", "leave", show=False),
        Binding("escape", "leave", show=False),
    ]

    @message_type
    class Left(Message):
        """Escape, or down: the person is done typing."""

    def __init__(self, text: str, placeholder: Visible) -> None:
        super().__init__(text, placeholder=placeholder, compact=True, select_on_focus=False)

    def action_leave(self) -> None:
        self.post_message(self.Left())
