"""The filter of a list: an input, the count beside it, and errors below it."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from memtui.present.text import max_cells, one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, line
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from textual.widgets import Static

    from memtui.engine.errors import MemtuiError
    from memtui.engine.search.filters.completion import Completion, Known

    from .filter_input import CompletionList, FilterInput

# Typing settles for that long before the list follows (a held key repeats every 33 ms): a tenth of a second is all there is
DEBOUNCE = 0.02
# An error in the last word waits until typing rests for that long: the word may go on.
ERROR_DELAY = 1.0
# The values of memories are read again if they are older. With 100,000 memories that takes a third of a second.
VALUES_SECONDS = 60.0
# The width of the sign, and of the blanks before the count.
SIGN, GAP = 2, 2


class FilterBar(Widget):
    """Posts ``Typed`` after typing stops for a short time. ``sign`` is shown before the text.

    ``language``: the text is in the filter language of memories. A list below offers completions: keys, existing
    values (read in the background when typing begins) and saved filters.

    Before the first typing it draws the line itself; then an input is put over it. An input from the beginning
    would make every start five per cent slower.
    """

    @message_type
    class Typed(Message):
        """The text of the filter (or search) has changed."""

        text: str

    @message_type
    class TypingEnded(Message):
        """Typing is finished: the focus should go to the list."""

    count: reactive[str] = reactive("")

    def __init__(
        self, placeholder: str, *, sign: str = "/", language: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._language = language
        self._known: Known | None = None
        self._read_at = 0.0
        self._choices: CompletionList | None = None
        self._completion: Completion | None = None
        # The text for which completions were used or closed: nothing is offered for it.
        self._settled: str | None = None
        self._placeholder = placeholder
        self._sign = sign
        self._text = ""
        self._posted = ""
        self._input: FilterInput | None = None
        self._error: Static | None = None
        # An error that waits, and until when.
        self._late_error: MemtuiError | None = None
        self._error_timer: Timer | None = None
        self._timer: Timer | None = None

    def render(self) -> Content:
        count = line(self.count, 28, "$text-muted")
        text_width = max(self.size.width - SIGN - count.cell_length - GAP, 1)
        text = (
            line(self._text, text_width, "$text")
            if self._text
            else line(self._placeholder, text_width, "$text-muted")
        )
        gap = " " * (self.size.width - SIGN - text.cell_length - count.cell_length)
        return assemble((self._sign.ljust(SIGN), "bold $accent"), text, gap, count)

    @property
    def value(self) -> str:
        """The filter. While values of a key are offered, without the unfinished term."""
        if self._input is None:
            return self._text
        if self._completion is not None and self._completion.unfinished:
            return self._input.value[: self._completion.term]
        return self._input.value

    def set_filter(self, text: str, *, quiet: bool = False) -> None:
        """Set the filter. It takes effect at once. ``quiet``: the caller applies it."""
        if quiet:
            self._posted = text
        self._text = self._settled = text
        self._completion = None
        if self._input is not None:
            self._input.value = text
            # Its beginning is shown, until the person types.
            self._input.cursor_position = len(text) if self._input.has_focus else 0
        self.refresh()
        self._post_change()

    def start_typing(self, *, anew: bool = False) -> None:
        """Let the person type. ``anew``: what is there is selected, so that typing replaces it."""
        if self._input is None:
            self._input = self._make_input()
            self._resize_input(self.count)
            self.mount(self._input)
            if self._choices is not None and isinstance(self.parent, Widget):
                self.parent.mount(self._choices, after=self._error or self)
            self.call_after_refresh(self._resize_input, self.count)
        if not self._input.has_focus:
            self._input.cursor_position = len(self._input.value)
        # Now, not in a later message: the next key may be waiting.
        self.screen.set_focus(self._input)
        if anew:
            self._input.action_select_all()

    def _make_input(self) -> FilterInput:
        from .filter_input import FilterInput, LanguageInput

        placeholder = visible_text(self._placeholder)
        if not self._language:
            return FilterInput(self._text, placeholder)
        from .filter_input import CompletionList

        self._choices = CompletionList(self._insert_completion)
        return LanguageInput(self._text, placeholder, self._choices)

    def show_placeholder(self, text: str) -> None:
        """Show a placeholder while the filter is empty."""
        self._placeholder = text
        self._resize_input(self.count)
        self.refresh()

    def show_count(self, text: str) -> None:
        """Show a count at the right end of the line."""
        self.count = text
        self._resize_input(text)

    def _resize_input(self, count: str) -> None:
        if self._input is not None:
            used_width = max_cells(one_line(count, 28)) + GAP
            self._input.styles.margin = (0, used_width, 0, SIGN)
            # One cell is for the cursor.
            width_left = self.size.width - SIGN - used_width - self._input.gutter.width - 1
            self._input.placeholder = one_line(self._placeholder, max(width_left, 1))

    def on_resize(self) -> None:
        self._resize_input(self.count)

    def show_error(self, error: MemtuiError | None) -> None:
        """Show an error in a line below, with its position: at once, or in a word that is being typed when that rests.

        None: no error.
        """
        if self._error is not None:
            self._error.remove()
            self._error = None
        if self._error_timer is not None:
            self._error_timer.stop()
        self._late_error = self._error_timer = None
        if error is None or not isinstance(self.parent, Widget):
            return
        if self._is_in_typed_word(error):
            self._late_error = error
            self._error_timer = self.set_timer(ERROR_DELAY, partial(self._draw_error, error, self.parent))
        else:
            self._draw_error(error, self.parent)

    def _is_in_typed_word(self, error: MemtuiError) -> bool:
        """Whether an error is in the last word, and the cursor behind it."""
        from memtui.engine.errors import FilterError

        if not isinstance(error, FilterError) or self._input is None or not self._input.has_focus:
            return False
        text = self._input.value
        at_end = self._input.cursor_position == len(text) == len(text.rstrip())
        return at_end and error.position + error.length >= len(text.strip())

    def _draw_error(self, error: MemtuiError, parent: Widget) -> None:
        from textual.widgets import Static

        self._late_error = self._error_timer = None

        carets = self._error_carets(error)
        message = assemble(
            (f"{carets}\n" if carets else "", "$error"),
            ("! ", "bold $error"),
            (error.message, "$error"),
            (f"  {error.hint}" if error.hint else "", "$text-muted"),
        )
        self._error = Static(message, classes="filter-error")
        parent.mount(self._error, after=self)

    def _error_carets(self, error: MemtuiError) -> str:
        """Carets under the position of the error, if it is in this text."""
        from memtui.engine.errors import FilterError

        if not isinstance(error, FilterError) or error.expression != self.value.strip():
            return ""
        blanks = len(self.value) - len(self.value.lstrip())
        before = max_cells(visible_text(self.value[: blanks + error.position]))
        return " " * (SIGN + before) + "^" * error.length

    # -- completion

    def on_descendant_focus(self) -> None:
        if self._language:
            # Used or closed completions are not offered again. For an empty text the saved filters are.
            self._settled = self._settled or None
            start_worker(self, self.read_known, "known")

    def on_descendant_blur(self) -> None:
        self._close_choices()
        if self._late_error is not None:
            self.show_error(self._late_error)

    def _close_choices(self) -> None:
        if self._choices is not None and self._choices.is_open:
            self._choices.close()
            self._completion = None
            self._post_change()
            shell_of(self).refresh_keys()

    async def read_known(self) -> None:
        """Read the values that a filter can name. Until then the old values are offered."""
        operations = shell_of(self).operations
        if operations.memory is None:
            return
        if self._known is None or monotonic() - self._read_at > VALUES_SECONDS:
            self._read_at = monotonic()
            self._known = await operations.ask(lambda memory: memory.filters.known(), slow=True)
        else:
            from msgspec.structs import replace

            saved = await operations.ask(lambda memory: memory.filters.saved())
            self._known = replace(self._known, saved=tuple(saved))
        self._show_completions()

    def _show_completions(self) -> None:
        """Show the completions, or hide the list."""
        if self._input is None or self._choices is None or self._known is None:
            return
        from memtui.engine.search.filters.completion import complete_filter

        was_open, text = self._choices.is_open, self._input.value
        self._completion = None
        if self._input.has_focus and text != self._settled:
            self._completion = complete_filter(text, self._input.cursor_position, self._known)
        if self._completion is None:
            self._choices.close()
        else:
            before = max_cells(visible_text(text[: self._completion.start])) - round(self._input.scroll_x)
            left = self.gutter.left + SIGN + before - 1
            self._choices.show_choices(self._completion.choices, left, self.outer_size.width)
        if self._choices.is_open != was_open:
            self._post_change()
            shell_of(self).refresh_keys()

    def on_language_input_taken(self, event: events.Event) -> None:
        event.stop()
        self._insert_completion()

    def on_language_input_closed(self, event: events.Event) -> None:
        event.stop()
        if self._input is not None:
            self._settled = self._input.value
        self._close_choices()

    def _insert_completion(self) -> None:
        """Insert the selected completion. After a key, its values are offered."""
        if self._input is None or self._choices is None or self._completion is None:
            return
        choice, completion = self._choices.selected_choice, self._completion
        if choice is None or completion.end != self._input.cursor_position:
            return
        text = self._input.value
        goes_on = choice.text.endswith((":", "<"))
        whole = f"{text[: completion.start]}{choice.text}{text[completion.end :]}"
        self._settled = None if goes_on else whole
        self._completion = None
        self._choices.close()
        self._input.value = whole
        self._input.cursor_position = completion.start + len(choice.text)
        self._input.focus()
        shell_of(self).refresh_keys()

    # -- typing

    def on_input_changed(self, event: events.Event) -> None:
        event.stop()
        if self._error_timer is not None:
            self._error_timer.reset()
        # Move the cursor behind the value.
        self.call_later(self._show_completions)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE, self._post_change)

    def on_filter_input_typing_ended(self, event: events.Event) -> None:
        event.stop()
        self._post_change()
        self.post_message(self.TypingEnded())

    def _post_change(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.value != self._posted:
            self._posted = self.value
            self.post_message(self.Typed(self.value))

    def on_click(self, event: events.Click) -> None:
        self.start_typing()
