"""An error as a dialog: what happened, where, and what to do next."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.widgets import Static

from memtui.engine.errors import MemtuiError
from memtui.ui.safe import assemble

from .dialog import Dialog


class ErrorDialog(Dialog[None]):
    """``place``: the name of what failed. ``report``: the crash report of an unexpected error."""

    def __init__(self, error: Exception, place: str, report: Path | None = None) -> None:
        super().__init__()
        self._error = error
        self._place = place
        self._report = report

    def action_copy_text(self) -> None:
        """ctrl+c copies the selected text. If none is selected it leaves, as everywhere else."""
        if self.get_selected_text():
            super().action_copy_text()
        else:
            self.action_leave()

    def title_text(self) -> str:
        return "! That did not work"

    def body(self) -> ComposeResult:
        error = self._error
        known = isinstance(error, MemtuiError)
        cause = (
            error.message
            if isinstance(error, MemtuiError)
            else f"An unexpected error ({type(error).__name__})."
        )
        hint = (
            error.hint if isinstance(error, MemtuiError) else "Nothing that was saved is lost. You can go on."
        )
        parts: list[str | tuple[str, str]] = [(cause, "$error"), "\n\n"]
        if self._place:
            parts += [("while  ", "$text-muted"), self._place.replace("_", " "), "\n"]
        if hint:
            parts += [("next   ", "$text-muted"), hint]
        if self._report is not None and not known:
            parts += ["\n", ("report ", "$text-muted"), str(self._report)]
        yield Static(assemble(*parts), classes="dialog-text")
