"""Dialogs that ask: one of a few choices, or yes or no before a large or surprising change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from memtui.present.text import max_cells, one_line, visible_text
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowOpened, RowTable
from memtui.ui.widgets.text_view import DependsView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Dependents


# Lines of the list; the rest is scrolled.
_MOST = 12
_KIND, _NUMBER = 12, 8
# If a name is longer, the dialog gets the width of the window.
_LONG = 32
# A letter that comes so soon after one that is no answer is part of a word, in seconds.
_PAUSE = 1.0
_FIRST = "Answer this first:"


class Choice(NamedTuple):
    """A choice: its name, its kind, and a number or note at the right."""

    text: str
    kind: str = ""
    note: str = ""


class PickDialog(Dialog[int]):
    """Returns the index of the choice. ``text`` is shown above the list. ``at``: where the cursor begins."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        yes: str,
        text: str = "",
        at: int = 0,
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = list(enumerate(choices))
        self.wide = any(max_cells(visible_text(choice.text)) > _LONG for choice in choices)
        self.hints = (("Enter", yes), ("j k", "choose"))
        self._text = text
        self._at = at

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        if self._text:
            yield Static(content(self._text, "$text-muted", limit=600), classes="dialog-text")
        table: RowTable[tuple[int, Choice]] = RowTable(
            self._choice_columns(), id="pick-rows", glyphs=self.shell.glyphs, markable=False
        )
        table.styles.height = min(len(self._choices), _MOST)
        yield table

    def _choice_columns(self) -> list[Column[tuple[int, Choice]]]:
        def text_cell(row: tuple[int, Choice], width: int) -> Iterable[StyledText]:
            yield StyledText(one_line(row[1].text, width))

        def kind_cell(row: tuple[int, Choice], width: int) -> Iterable[StyledText]:
            yield StyledText(one_line(row[1].kind, width), "dim")

        def note_cell(row: tuple[int, Choice], width: int) -> Iterable[StyledText]:
            yield StyledText(one_line(row[1].note, width), "dim")

        columns = [Column("text", "", text_cell, least=16)]
        if any(choice.kind for _, choice in self._choices):
            columns.append(Column("kind", "", kind_cell, width=_KIND, drop=2))
        if any(choice.note for _, choice in self._choices):
            columns.append(Column("note", "", note_cell, width=_NUMBER, right=True, drop=1))
        return columns

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_header(False)
        table.select_key(self._at)
        table.show_source(
            ListSource(self._choices, lambda row: row[0]), self.shell.operations.readers, top=False
        )
        table.focus()

    @on(RowOpened)
    def _choose_row(self, event: RowOpened) -> None:
        event.stop()
        self.dismiss(event.key)


class Question(Dialog[bool]):
    """Returns True for y, and None or False otherwise. ``yes`` names the action: ``forget 214``.

    A word that is typed on answers nothing: after a key that is no answer, the others wait for a pause, and the last
    line says so. Esc leaves at once.
    ``enter``: Enter means yes as well. People press it without reading, so only where nothing can be lost.
    ``depends``: what depends on what would change, shown below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", show=False),
        Binding("y", "answer(True)", show=False),
        Binding("n", "answer(False)", show=False),
    ]

    def __init__(
        self, title: str, text: str, *, yes: str = "yes", enter: bool = False, depends: Dependents | None = None
    ) -> None:  # fmt: skip
        super().__init__()
        self._title = title
        self._text = text
        self._yes = yes
        self._enter = enter
        self._depends = depends
        self._typed_at: float | None = None

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield Static(content(self._text, limit=600), classes="dialog-text")
        if self._depends is not None and self._depends.any:
            yield DependsView(self._depends, self.shell.clock())

    def hint_line(self) -> Content:
        return assemble(
            ("Enter" if self._enter else "y", "bold $accent"),
            " ",
            (self._yes, "$text"),
            "   ",
            ("n", "bold $accent"),
            (" leave it", "$text-muted"),
        )

    def on_key(self, event: Key) -> None:
        """Take a key that is part of typing away from the answers, and say that the question comes first."""
        if not (event.is_printable or event.key == "enter"):
            return
        now = self.shell.clock()
        within_word = self._typed_at is not None and abs(now - self._typed_at) < _PAUSE
        if within_word or event.key not in self.active_bindings:
            event.stop()
            self._typed_at = now
            self.query_one(".dialog-hints", Static).update(
                assemble((_FIRST, "$warning"), "   ", self.hint_line(), "   ", ("Esc", "bold $accent"))
            )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

    def action_enter(self) -> None:
        if self._enter:
            self.dismiss(True)
