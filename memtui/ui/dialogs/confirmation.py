"""A yes-or-no question before a large or surprising change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from memtui.ui.safe import assemble, content
from memtui.ui.widgets.dependents_view import DependsView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Dependents


class Question(Dialog[bool]):
    """Returns True for y, and None or False otherwise. ``yes`` names the action: ``forget 214``.

    ``enter``: Enter means yes as well. People press it without reading, so only where nothing can be lost.
    ``depends``: what depends on what would change, shown below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", show=False),
        Binding("y", "answer(True)", show=False),
        Binding("n", "answer(False)", show=False),
    ]

    def __init__(
        self, title: str, text: str, *, yes: str = "yes", enter: bool = False, depends: Dependents | None = None
    ) -> None:  # fmt: skip
        super().__init__()
        self._title = title
        self._text = text
        self._yes = yes
        self._enter = enter
        self._depends = depends

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield Static(content(self._text, limit=600), classes="dialog-text")
        if self._depends is not None and self._depends.any:
            yield DependsView(self._depends, self.shell.clock())

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
