"""A dialog for the name of something that is saved."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from memtui.ui.safe import assemble

from .dialog import Dialog

BUILT_IN = ("default", "rrf")
LONGEST = 60


class NameDialog(Dialog[str]):
    """Asks for a name that is not built in. A name in ``taken`` is replaced, with a warning."""

    hints = (("Enter", "save"),)

    def __init__(self, title: str, taken: Sequence[str], suggested: str = "") -> None:
        super().__init__()
        self._title = title
        self._taken = taken
        self._suggested = "" if suggested in BUILT_IN else suggested

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield Input(self._suggested, placeholder="a name", max_length=LONGEST, compact=True)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        name = event.value.strip()
        warning = ""
        if name in BUILT_IN:
            warning = "! This one is built in and cannot be replaced: choose another name."
        elif name in self._taken:
            warning = "! This name exists: it will be replaced."
        self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))

    @on(Input.Submitted)
    def _save(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if name and name not in BUILT_IN:
            self.dismiss(name)
