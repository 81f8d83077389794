"""A yes-or-no option in a dialog: a mark and its label."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.ui.safe import assemble


class Toggle(Widget, can_focus=True):
    """Space changes it. ``on``: its value."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "turn", show=False)]

    on: reactive[bool] = reactive(False)

    def __init__(self, label: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._label = label

    def render(self) -> Content:
        mark = ("[x] ", "bold $accent") if self.on else ("[ ] ", "$text-muted")
        return assemble(mark, (self._label, "bold $text" if self.has_focus else "$text"))

    def action_turn(self) -> None:
        self.on = not self.on

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_turn()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
