"""The filter of a list: one line to type in, the count beside it, and a mistake pointed at below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.ui.past import past
from memtui.ui.safe import assemble, content, line
from memtui.ui.text import cells, visible

if TYPE_CHECKING:
    from memtui.engine.errors import MemtuiError

# Typing settles for that long before the list follows.
DEBOUNCE = 0.08


class FilterInput(Input):
    """An input that gives the focus back to the list."""

    BINDINGS = [
        Binding("down", "leave", show=False),
        Binding("escape", "leave", show=False),
    ]

    def action_leave(self) -> None:
        self.post_message(FilterBar.Left())


class FilterBar(Horizontal):
    """Posts ``Typed`` when the text has settled. ``sign`` stands before the input."""

    @past
    class Typed(Message):
        """The text to filter by (or to search for) is now this one."""

        text: str

    @past
    class Left(Message):
        """The person is done typing: the focus should go to the list."""

    def __init__(self, placeholder: str, *, sign: str = "/", id: str | None = None) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder
        self._sign = sign
        self._timer: Timer | None = None
        self._told = ""
        self._error: Static | None = None

    def compose(self) -> ComposeResult:
        yield Static(content(self._sign, "bold $accent"), classes="filter-sign")
        yield FilterInput(placeholder=visible(self._placeholder), compact=True, select_on_focus=False)
        yield Static(classes="filter-count")

    @property
    def value(self) -> str:
        return self.query_one(FilterInput).value

    def set_value(self, text: str, *, quiet: bool = False) -> None:
        """Put a filter in; it takes effect at once. ``quiet``: the caller sees to that."""
        if quiet:
            self._told = text
        box = self.query_one(FilterInput)
        box.value = text
        box.cursor_position = len(text)
        self._tell()

    def edit(self) -> None:
        self.query_one(FilterInput).focus()

    def show_count(self, text: str) -> None:
        shown = line(text, 28, "$text-muted")
        count = self.query_one(".filter-count", Static)
        count.update(shown)
        count.styles.width = shown.cell_length

    def show_error(self, error: MemtuiError | None) -> None:
        """Point at the mistake, in a line below; None: there is none."""
        from memtui.engine.errors import FilterError

        if self._error is not None:
            self._error.remove()
            self._error = None
        if error is None:
            return
        pointer = ""
        if isinstance(error, FilterError) and error.expression == self.value.strip():
            lead = len(self.value) - len(self.value.lstrip())
            before = cells(visible(self.value[: lead + error.position]))
            pointer = " " * (2 + before) + "^" * error.length
        told = assemble(
            (f"{pointer}\n" if pointer else "", "$error"),
            ("! ", "bold $error"),
            (error.message, "$error"),
            (f"  {error.hint}" if error.hint else "", "$text-muted"),
        )
        self._error = Static(told, classes="filter-error")
        if isinstance(self.parent, Widget):
            self.parent.mount(self._error, after=self)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE, self._tell)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
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
