"""The inputs of a filter bar, and the completions below. Imported at the first typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList

from memtui.present.text import VisibleText, max_cells, one_line
from memtui.ui.action_dispatch import perform_action
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, line
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from memtui.engine.search.filters.completion import Choice


LINES = 6
"""The greatest height, in lines."""
# It takes at most this share of a low list, so that rows stay visible.
_SHARE = 3
_WIDEST_NAME, _WIDEST_ABOUT, _NARROWEST = 34, 40, 12
# The blanks at both sides, the gap before the description of a choice, and the scrollbar.
_SIDES, _GAP = 2, 3


class CompletionList(OptionList, can_focus=False):
    """Shown between the filter and the list, which moves down. The input passes its keys on."""

    DEFAULT_CSS = f"""
    CompletionList {{
        display: none; height: auto; max-height: {LINES}; min-width: {_NARROWEST};
        border: none; padding: 0; background: $panel; overflow-x: hidden;
        scrollbar-size-vertical: 1; scrollbar-background: $panel; scrollbar-color: $frame;
        & > .option-list--option {{ padding: 0 1; }}
        & > .option-list--option-highlighted {{ background: $row-cursor; color: $text; text-style: none; }}
    }}
    """

    def __init__(self, take: Callable[[], None]) -> None:
        """``take`` inserts the selected completion after a click."""
        super().__init__(markup=False)
        self._take = take
        self.choices: tuple[Choice, ...] = ()
        self.moved = False
        """Whether the person moved in the list."""

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    @property
    def selected_choice(self) -> Choice | None:
        at = self.highlighted
        return self.choices[at] if self.is_open and at is not None and at < len(self.choices) else None

    def show_choices(self, choices: tuple[Choice, ...], left: int, width_left: int) -> None:
        """Show ``choices`` ``left`` cells from the beginning of the bar, which has ``width_left`` cells."""
        names = [one_line(one.name, _WIDEST_NAME) for one in choices]
        abouts = [one_line(_kind_label(one), _WIDEST_ABOUT) for one in choices]
        name = max(map(max_cells, names))
        about = max(map(max_cells, abouts))
        scrolls = len(choices) > LINES
        width = max(name + (about + _GAP if about else 0) + _SIDES + scrolls, _NARROWEST)
        width = min(width, width_left)
        self.choices, self.moved = choices, False
        self.styles.width = width
        self.styles.margin = (0, 0, 0, max(min(left, width_left - width), 0))
        beside = self.parent.size.height if isinstance(self.parent, Widget) else 0
        self.styles.max_height = min(max(beside // _SHARE, 2), LINES)
        inner = width - _SIDES - scrolls
        self.set_options([_choice_row(one, inner, name) for one in choices])
        self.highlighted = 0
        self.display = True

    def close(self) -> None:
        self.display = False

    def on_option_list_option_selected(self, event: events.Event) -> None:
        event.stop()
        self._take()

    def on_option_list_option_highlighted(self, event: events.Event) -> None:
        event.stop()

    def move_selection(self, by: int) -> None:
        self.moved = True
        self.highlighted = ((self.highlighted or 0) + by) % len(self.choices)


def _kind_label(choice: Choice) -> str:
    return choice.about if choice.found is None else f"{choice.found:,}"


def _choice_row(choice: Choice, width: int, widest: int) -> Content:
    """The name at the left, and a count at the right end or a description in its own column."""
    name = line(choice.name, min(widest, width), "bold $accent" if choice.saved else "$text")
    about = line(_kind_label(choice), max(width - min(widest, width) - _GAP, 0), "$text-muted")
    gap = width - name.cell_length - about.cell_length
    if choice.found is None:
        gap = min(widest + _GAP - name.cell_length, gap)
    return assemble(name, " " * max(gap, 0), about)


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
    part: ClassVar[ActionContext] = "typing"
    action_perform = perform_action

    @message_type
    class TypingEnded(Message):
        """Typing is finished."""

    def __init__(self, text: str, placeholder: VisibleText) -> None:
        super().__init__(text, placeholder=placeholder, compact=True, select_on_focus=False)

    async def _on_key(self, event: events.Key) -> None:
        """Ignore the key that focuses the filter if it is pressed again here."""
        if event.character == "/" and not self.value:
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def do_typed(self) -> None:
        self.post_message(self.TypingEnded())

    def do_leave_typing(self) -> None:
        self.post_message(self.TypingEnded())


class LanguageInput(FilterInput):
    """An input for the filter language, with completions from ``choices``."""

    BINDINGS = [*bindings_at("filtering")]
    part: ClassVar[ActionContext] = "filtering"

    @message_type
    class Taken(Message):
        """The selected completion was accepted."""

    @message_type
    class Closed(Message):
        """The completions were closed."""

    def __init__(self, text: str, placeholder: VisibleText, choices: CompletionList) -> None:
        super().__init__(text, placeholder)
        self._choices = choices

    def offers(self, action: Action) -> bool:
        return action.id not in ("complete", "next_choice", "previous_choice") or self._choices.is_open

    def do_complete(self) -> None:
        if self._choices.is_open:
            self.post_message(self.Taken())
        else:
            shell_of(self).action_perform("next_part")

    def action_cursor_right(self, select: bool = False) -> None:
        if self._choices.is_open and not select and self.cursor_at_end:
            self.post_message(self.Taken())
        else:
            super().action_cursor_right(select)

    def do_typed(self) -> None:
        """Accept the completion that was selected with up and down, or the filter as typed."""
        if self._choices.is_open and self._choices.moved:
            self.post_message(self.Taken())
        else:
            super().do_typed()

    def do_leave_typing(self) -> None:
        if self._choices.is_open:
            self.post_message(self.Closed())
        else:
            super().do_leave_typing()

    def do_next_choice(self) -> None:
        if self._choices.is_open:
            self._choices.move_selection(1)
        else:
            super().do_leave_typing()

    def do_previous_choice(self) -> None:
        if self._choices.is_open:
            self._choices.move_selection(-1)
