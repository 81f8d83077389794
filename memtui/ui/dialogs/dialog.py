"""The base of all dialogs: a panel with a title, and its keys in the last line. Also those with a text to write,
and the one that shows an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import Static, TextArea

from memtui.present.text import max_cells, visible_text
from memtui.ui.safe import assemble, line
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from memtui.ui.shell import Shell
from pathlib import Path

from memtui.engine.errors import MemtuiError

T = TypeVar("T")
# In a window narrower than this, the keys have one line. Frame, padding and margins take this many cells.
_NARROW, _BORDERS = 60, 6
# The longest title of a narrow dialog.
_TITLE = 60


# What stands between two keys with what they do.
_BETWEEN_HINTS = "   "


def _hints_cells(hints: Sequence[tuple[str, str]]) -> int:
    """The width of keys with what they do in one line."""
    return sum(max_cells(visible_text(f"{key} {what}")) for key, what in hints) + len(_BETWEEN_HINTS) * (
        len(hints) - 1
    )


class HintLine(Static):
    """The keys of a dialog. It is broken only between a key with what it does and the next one."""

    def _hint_lines(self, width: int) -> list[Content]:
        hints = self.content
        if not isinstance(hints, Content) or hints.cell_length <= width:
            return [hints] if isinstance(hints, Content) else []
        lines: list[Content] = []
        for hint in hints.split(_BETWEEN_HINTS):
            if lines and lines[-1].cell_length + len(_BETWEEN_HINTS) + hint.cell_length <= width:
                lines[-1] = assemble(lines[-1], _BETWEEN_HINTS, hint)
            elif hint.plain.strip():
                lines.append(hint)
        return lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self._hint_lines(width)), 1)

    def render(self) -> Content:
        return assemble("\n").join(self._hint_lines(self.content_size.width))


class Dialog(ModalScreen[T], Generic[T]):
    """Esc leaves it with None, and so does q if no text is typed.

    A subclass supplies ``title_text``, ``body`` and the ``hints`` of its last line (key, what it does).
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "leave", show=False)]
    CSS_PATH: ClassVar[CSSPathType | None] = "../styles/dialogs.tcss"
    # Roomy: beside a wide dialog whole words of the page are seen.
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-stacked"), (116, "-roomy")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
    hints: tuple[tuple[str, str], ...] = ()
    # Styles: small fits its text, wide takes most of the window.
    wide: bool = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide" if self.wide else "dialog") as box:
            box.border_title = line(self.title_text(), max(self.app.size.width, 30) if self.wide else _TITLE)
            yield from self.body()
            yield HintLine(self.hint_line(), classes="dialog-hints")

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    def title_text(self) -> str:
        return ""

    def body(self) -> ComposeResult:
        yield from ()

    def hint_line(self) -> Content:
        return self.fitting_hints(self.hints)

    def fitting_hints(self, hints: Iterable[tuple[str, str]], out: str = "leave") -> Content:
        """The keys that fit, always with what Esc does (``out``; empty: nothing). In a wide window they may take two lines."""
        shown_hints, way_out = [*hints], [("Esc", out)] if out else []
        if (width := self.app.size.width) < _NARROW:
            while len(shown_hints) > 1 and _hints_cells([*shown_hints, *way_out]) > width - _BORDERS:
                shown_hints.pop()
            if way_out and _hints_cells([*shown_hints, *way_out]) > width - _BORDERS:
                way_out = [("Esc", "")]
        parts: list[Content | str] = []
        for key, what in (*shown_hints, *way_out):
            parts += [_BETWEEN_HINTS] if parts else []
            parts += [assemble((key, "bold $accent"), (f" {what}" if what else "", "$text-muted"))]
        return assemble(*parts)

    def action_leave(self) -> None:
        self.dismiss(None)


# The keys of a new line. Terminals that do not tell shift+Enter from Enter send at least the first one.
_NEW_LINE = "ctrl+j,shift+enter,alt+enter"
LINE_HINT = ("ctrl+j", "new line")
CLEAR_HINT = ("ctrl+u", "clear")


class TextEntry(TextArea):
    """A text to write. Enter is left to the dialog, which saves. ctrl+u clears the line as typed, not as wrapped."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding(_NEW_LINE, "new_line", show=False)]

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # the base class would insert a line

    def action_new_line(self) -> None:
        self.replace("\n", *self.selection)

    def action_delete_to_start_of_line(self) -> None:
        """Delete the whole line under the cursor, however the screen wraps it. An empty one goes with its line break."""
        row = self.cursor_location[0]
        text = self.document.get_line(row)
        start = (row, 0) if text or row == 0 else (row - 1, len(self.document.get_line(row - 1)))
        self.delete(start, (row, len(text)), maintain_selection_offset=False)


class EditingDialog(Dialog[T], Generic[T]):
    """A dialog with one text to write. Enter and ctrl+s save. Esc leaves, and asks first if something would be lost.

    ``body`` has the text (``area``) and a Static of class dialog-warning.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("enter", "save", show=False),
    ]
    _begun = ""
    _asked = False

    def make_text_area(self, text: str = "") -> TextArea:
        self._begun = text.strip()
        return TextEntry(text, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)

    def replace_text(self, text: str) -> None:
        """Start with another text: what was typed is gone."""
        self._begun = text.strip()
        area = self.query_one(TextArea)
        area.text = text
        area.move_cursor(area.document.end)

    def show_warning(self, text: str) -> None:
        self.query_one(".dialog-warning", Static).update(assemble((f"! {text}" if text else "", "$warning")))

    @property
    def typed_text(self) -> str:
        return self.query_one(TextArea).text.strip()

    def is_too_long(self, limit: int) -> bool:
        """Whether the text has more characters than the memory takes; then the dialog says so and stays."""
        if (length := len(self.typed_text)) <= limit:
            return False
        self.show_warning(f"The text has {length:,} characters; it may have {limit:,}. Shorten it.")
        return True

    def action_leave(self) -> None:
        if self.typed_text == self._begun or self._asked:
            self.dismiss(None)
            return
        self._asked = True
        self.show_warning("What you typed is not saved. Esc again throws it away.")

    @on(TextArea.Changed)
    def _is_editing(self) -> None:
        self._asked = False


class ErrorDialog(Dialog[None]):
    """``task``: the name of what failed. ``report``: the crash report of an unexpected error."""

    def __init__(self, error: Exception, task: str, report: Path | None = None) -> None:
        super().__init__()
        self._error = error
        self._failed_task = task
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
        if self._failed_task:
            parts += [("while  ", "$text-muted"), self._failed_task.replace("_", " "), "\n"]
        if hint:
            parts += [("next   ", "$text-muted"), hint]
        if self._report is not None and not known:
            parts += ["\n", ("report ", "$text-muted"), str(self._report)]
        yield Static(assemble(*parts), classes="dialog-text")
