"""The filter of a list: one line to type in, the count beside it, and a mistake pointed at below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from memtui.present.text import cells, one_line, visible
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, line

if TYPE_CHECKING:
    from textual.widgets import Static

    from memtui.engine.errors import MemtuiError

    from .filter_input import FilterInput

# Typing settles for that long before the list follows (a held key repeats every 33 ms): a tenth of a second is all there is
DEBOUNCE = 0.02
# Cells of the sign, and of the blanks before the count.
SIGN, GAP = 2, 2


class FilterBar(Widget):
    """Posts ``Typed`` when the text has settled. ``sign`` stands before the text.

    Until somebody types it draws the line itself; then an input lies over it (an input at the start
    would cost every start a twentieth).
    """

    @message_type
    class Typed(Message):
        """The text to filter by (or to search for) is now this one."""

        text: str

    @message_type
    class Left(Message):
        """The person is done typing: the focus should go to the list."""

    count: reactive[str] = reactive("")

    def __init__(self, placeholder: str, *, sign: str = "/", id: str | None = None) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder
        self._sign = sign
        self._text = ""
        self._told = ""
        self._input: FilterInput | None = None
        self._error: Static | None = None
        self._timer: Timer | None = None

    def render(self) -> Content:
        count = line(self.count, 28, "$text-muted")
        room = max(self.size.width - SIGN - count.cell_length - GAP, 1)
        text = line(self._text, room, "$text") if self._text else line(self._placeholder, room, "$text-muted")
        gap = " " * (self.size.width - SIGN - text.cell_length - count.cell_length)
        return assemble((self._sign.ljust(SIGN), "bold $accent"), text, gap, count)

    @property
    def value(self) -> str:
        return self._text if self._input is None else self._input.value

    def set_value(self, text: str, *, quiet: bool = False) -> None:
        """Put a filter in; it takes effect at once. ``quiet``: the caller sees to that."""
        if quiet:
            self._told = text
        self._text = text
        if self._input is not None:
            self._input.value = text
            self._input.cursor_position = len(text)
        self.refresh()
        self._tell()

    def edit(self) -> None:
        """Let the person type."""
        if self._input is None:
            from .filter_input import FilterInput

            self._input = FilterInput(self._text, visible(self._placeholder))
            self._make_room(self.count)
            self.mount(self._input)
            self.call_after_refresh(self._make_room, self.count)
        self._input.focus()

    def show_placeholder(self, text: str) -> None:
        """What stands there while no filter does."""
        self._placeholder = text
        self._make_room(self.count)
        self.refresh()

    def show_count(self, text: str) -> None:
        """A count, at the right end of the line."""
        self.count = text
        self._make_room(text)

    def _make_room(self, count: str) -> None:
        if self._input is not None:
            taken = cells(one_line(count, 28)) + GAP
            self._input.styles.margin = (0, taken, 0, SIGN)
            # One cell is the cursor's.
            room = self.size.width - SIGN - taken - self._input.gutter.width - 1
            self._input.placeholder = one_line(self._placeholder, max(room, 1))

    def on_resize(self) -> None:
        self._make_room(self.count)

    def show_error(self, error: MemtuiError | None) -> None:
        """Point at the mistake, in a line below; None: there is none."""
        if self._error is not None:
            self._error.remove()
            self._error = None
        if error is None or not isinstance(self.parent, Widget):
            return
        from textual.widgets import Static

        pointer = self._pointer(error)
        told = assemble(
            (f"{pointer}\n" if pointer else "", "$error"),
            ("! ", "bold $error"),
            (error.message, "$error"),
            (f"  {error.hint}" if error.hint else "", "$text-muted"),
        )
        self._error = Static(told, classes="filter-error")
        self.parent.mount(self._error, after=self)

    def _pointer(self, error: MemtuiError) -> str:
        """Carets under the place of the mistake, when it is one in this text."""
        from memtui.engine.errors import FilterError

        if not isinstance(error, FilterError) or error.expression != self.value.strip():
            return ""
        lead = len(self.value) - len(self.value.lstrip())
        before = cells(visible(self.value[: lead + error.position]))
        return " " * (SIGN + before) + "^" * error.length

    def on_input_changed(self, event: events.Event) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE, self._tell)

    def on_input_submitted(self, event: events.Event) -> None:
        event.stop()
        self._tell()
        self.post_message(self.Left())

    def on_filter_input_left(self, event: events.Event) -> None:
        event.stop()
        self._tell()
        self.post_message(self.Left())

    def _tell(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.value != self._told:
            self._told = self.value
            self.post_message(self.Typed(self.value))

    def on_click(self, event: events.Click) -> None:
        self.edit()
