"""A question that wants a yes: before many rows change at once, or something old is undone."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from memtui.ui.safe import assemble, content

from .dialog import Dialog


class Question(Dialog[bool]):
    """Answers True for y, and None or False otherwise. ``yes`` names the deed: ``forget 214``.

    ``enter``: Enter says yes as well. It is often pressed without reading, so only for what loses nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", show=False),
        Binding("y", "answer(True)", show=False),
        Binding("n", "answer(False)", show=False),
    ]

    def __init__(self, title: str, text: str, *, yes: str = "yes", enter: bool = False) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._yes = yes
        self._enter = enter

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield Static(content(self._text, limit=600), classes="dialog-text")

    def hint_line(self) -> Content:
        return assemble(
            ("Enter" if self._enter else "y", "bold $accent"),
            " ",
            (self._yes, "$text"),
            "   ",
            ("n", "bold $accent"),
            (" leave it", "$text-muted"),
        )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

    def action_enter(self) -> None:
        if self._enter:
            self.dismiss(True)
