"""Dialogs to add an observation, and to add or change a text of the scratchpad."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static, TextArea

from memtui.ui.safe import assemble, content, line

from .dialog import Dialog
from .edit import AddDialog

_LONGEST_KEY = 200
_TITLES = {
    "finding": "Write down a finding: a fact that was discovered",
    "insight": "Write down an insight: a conclusion and its reason",
    "lesson": "Write down a lesson: what to do the next time",
}


class AddObservation(AddDialog):
    """A new observation of a category: text and tags."""

    def __init__(self, category: str) -> None:
        super().__init__()
        self._category = category

    def title_text(self) -> str:
        return _TITLES[self._category]


class Entry(NamedTuple):
    """A key and its text, as typed."""

    key: str
    text: str


class NoteDialog(Dialog[Entry]):
    """Edits the text of a key. If ``key`` is None, the key is typed too.

    ``warning`` is shown until something is typed: another program changed the text, and saving replaces it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", show=False, priority=True)]
    wide = True
    hints = (("ctrl+s", "save"),)

    def __init__(self, key: str | None = None, text: str = "", *, warning: str = "") -> None:
        super().__init__()
        self._key = key
        self._text = text
        self._warning = warning

    def title_text(self) -> str:
        return "Change a text of the scratchpad" if self._key is not None else "Write on the scratchpad"

    def body(self) -> ComposeResult:
        if self._key is None:
            yield Static(assemble(("key", "$text-muted")), classes="dialog-label")
            yield Input(placeholder="api.limit", max_length=_LONGEST_KEY, compact=True)
            yield Static(assemble(("text", "$text-muted")), classes="dialog-label")
        else:
            yield Static(content(self._key, "bold $accent"), classes="dialog-label")
        yield TextArea(
            self._text, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True
        )
        yield Static(assemble((self._warning, "$warning")), classes="dialog-warning")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        if self._key is None:
            self.query_one(Input).focus()
        else:
            area.focus()
            area.move_cursor(area.document.end)

    @on(Input.Submitted)
    def _on_to_the_text(self) -> None:
        self.query_one(TextArea).focus()

    def action_save(self) -> None:
        key = self._key if self._key is not None else self.query_one(Input).value.strip()
        text = self.query_one(TextArea).text
        if not key:
            self.query_one(".dialog-warning", Static).update(line("! Give it a key first.", 60, "$warning"))
            self.query_one(Input).focus()
        else:
            self.dismiss(Entry(key, text))
