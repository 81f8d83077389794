"""The base of all dialogs: a panel with a title, and its keys in the last line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import Static

from memtui.present.text import cells, visible
from memtui.ui.safe import assemble, line
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from memtui.ui.shell import Shell

T = TypeVar("T")
# In a window narrower than this, the keys have one line. Frame, padding and margins take this many cells.
_NARROW, _BORDERS = 60, 8


class Dialog(ModalScreen[T], Generic[T]):
    """Esc leaves it with None, and so does q if no text is typed.

    A subclass supplies ``title_text``, ``body`` and the ``hints`` of its last line (key, what it does).
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "leave", show=False)]
    CSS_PATH: ClassVar[CSSPathType | None] = "../styles/dialogs.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
    hints: tuple[tuple[str, str], ...] = ()
    # Styles: small fits its text, wide takes most of the window.
    wide: bool = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide" if self.wide else "dialog") as box:
            box.border_title = line(self.title_text(), 60)
            yield from self.body()
            yield Static(self.hint_line(), classes="dialog-hints")

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    def title_text(self) -> str:
        return ""

    def body(self) -> ComposeResult:
        yield from ()

    def hint_line(self) -> Content:
        return self.hints_of(self.hints)

    def hints_of(self, hints: Iterable[tuple[str, str]], out: str = "leave") -> Content:
        """The keys that fit, always with what Esc does (``out``). In a wide window they may take two lines."""
        shown_hints, way_out = [*hints], ("Esc", out)
        width = self.app.size.width
        if width < _NARROW:
            room = width - _BORDERS
            while (
                len(shown_hints) > 1
                and sum(cells(visible(f"{key} {what}")) + 3 for key, what in (*shown_hints, way_out)) - 3
                > room
            ):
                shown_hints.pop()
        parts: list[Content | str] = []
        for key, what in (*shown_hints, way_out):
            parts += [assemble((key, "bold $accent"), " ", (what, "$text-muted")), "   "]
        return assemble(*parts)

    def action_leave(self) -> None:
        self.dismiss(None)
