"""The inputs of a filter bar. Imported at the first typing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.widgets import Input

from memtui.present.text import Visible
from memtui.ui.action_dispatch import perform
from memtui.ui.actions import Action, Place
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from .completion_list import CompletionList


class FilterInput(Input):
    """An input that returns the focus to the list."""

    DEFAULT_CSS = """
    FilterInput {
        width: 1fr;
        background: $surface;
        &:focus { background: $surface; }
        & > .input--placeholder { color: $text-muted; }
    }
    """
    BINDINGS = [*bindings_at("typing")]
    part: ClassVar[Place] = "typing"
    action_perform = perform

    @message_type
    class Left(Message):
        """Typing is finished."""

    def __init__(self, text: str, placeholder: Visible) -> None:
        super().__init__(text, placeholder=placeholder, compact=True, select_on_focus=False)

    async def _on_key(self, event: events.Key) -> None:
        """Ignore the key that focuses the filter if it is pressed again here."""
        if event.character == "/" and not self.value:
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def do_typed(self) -> None:
        self.post_message(self.Left())

    def do_leave_typing(self) -> None:
        self.post_message(self.Left())


class LanguageInput(FilterInput):
    """An input for the filter language, with completions from ``choices``."""

    BINDINGS = [*bindings_at("filtering")]
    part: ClassVar[Place] = "filtering"

    @message_type
    class Taken(Message):
        """The selected completion was accepted."""

    @message_type
    class Closed(Message):
        """The completions were closed."""

    def __init__(self, text: str, placeholder: Visible, choices: CompletionList) -> None:
        super().__init__(text, placeholder)
        self._choices = choices

    def offers(self, action: Action) -> bool:
        return action.id not in ("complete", "next_choice", "previous_choice") or self._choices.open

    def do_complete(self) -> None:
        if self._choices.open:
            self.post_message(self.Taken())
        else:
            shell_of(self).action_perform("next_part")

    def action_cursor_right(self, select: bool = False) -> None:
        if self._choices.open and not select and self.cursor_at_end:
            self.post_message(self.Taken())
        else:
            super().action_cursor_right(select)

    def do_typed(self) -> None:
        """Accept the completion that was selected with up and down, or the filter as typed."""
        if self._choices.open and self._choices.moved:
            self.post_message(self.Taken())
        else:
            super().do_typed()

    def do_leave_typing(self) -> None:
        if self._choices.open:
            self.post_message(self.Closed())
        else:
            super().do_leave_typing()

    def do_next_choice(self) -> None:
        if self._choices.open:
            self._choices.step(1)
        else:
            super().do_leave_typing()

    def do_previous_choice(self) -> None:
        if self._choices.open:
            self._choices.step(-1)
