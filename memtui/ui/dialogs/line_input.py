"""A dialog for one line of text: a name, another name, a summary."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from memtui.present.text import visible
from memtui.ui.safe import assemble, content

from .dialog import Dialog


class LineDialog(Dialog[str]):
    """Returns the text without blanks around it. ``empty``: what an empty line means, if it is allowed."""

    hints = (("Enter", "save"),)

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        hint: str = "",
        placeholder: str = "",
        longest: int,
        empty: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._hint = hint
        self._placeholder = placeholder
        self._longest = longest
        self._empty = empty

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        if self._hint:
            yield Static(content(self._hint, "$text-muted", limit=600), classes="dialog-text")
        # A text that is too long is kept until the person shortens it.
        longest = max(self._longest, len(self._text))
        yield Input(self._text, placeholder=visible(self._placeholder), max_length=longest, compact=True)
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        warning = self._empty if self._text and not event.value.strip() else ""
        self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))

    @on(Input.Submitted)
    def _save(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if text or self._empty:
            self.dismiss(text)
        else:
            self.query_one(".dialog-warning", Static).update(
                assemble(("! There is nothing to save yet.", "$warning"))
            )
