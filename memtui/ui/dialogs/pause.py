"""A dialog that asks how long to pause recording."""

from __future__ import annotations

from textual import on
from textual.widgets import Input, Static

from memtui.engine.errors import InputError
from memtui.ui.safe import assemble

from .line_input import LineDialog

_ABOUT = (
    "No conversation is recorded, from any program, until then. Agents can still read, and what you write down yourself"
    " is kept. For how long? 1h, 90m, until 18:00, tomorrow. Empty: until you end it."
)


class PauseDialog(LineDialog):
    """Returns a text that names a future time. Empty: a pause without an end."""

    hints = (("Enter", "pause"),)

    def __init__(self) -> None:
        super().__init__(
            "Pause recording", "1h", hint=_ABOUT, placeholder="1h", longest=40,
            empty="Without a time it lasts until you end it.",
        )  # fmt: skip

    @on(Input.Submitted)
    def _check(self, event: Input.Submitted) -> None:
        from memtui.engine.search.moments import later

        try:
            if event.value.strip():
                later(event.value, self.shell.clock())
        except InputError as error:
            event.prevent_default()  # the base class would accept it
            warning = f"! {error.message} {error.hint}"
            self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))
