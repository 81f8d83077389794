"""A dialog to pick one of a few choices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from memtui.present.text import cells, one_line, visible
from memtui.ui.safe import content
from memtui.ui.widgets.columns import Column, Piece
from memtui.ui.widgets.list_source import ListSource
from memtui.ui.widgets.row_events import RowOpened
from memtui.ui.widgets.row_table import RowTable

from .dialog import Dialog

# Lines of the list; the rest is scrolled.
_MOST = 12
_KIND, _NUMBER = 12, 8
# If a name is longer, the dialog gets the width of the window.
_LONG = 32


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
        self.wide = any(cells(visible(choice.text)) > _LONG for choice in choices)
        self.hints = (("Enter", yes), ("j k", "choose"))
        self._text = text
        self._at = at

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        if self._text:
            yield Static(content(self._text, "$text-muted", limit=600), classes="dialog-text")
        table: RowTable[tuple[int, Choice]] = RowTable(
            self._columns(), id="pick-rows", glyphs=self.shell.glyphs, markable=False
        )
        table.styles.height = min(len(self._choices), _MOST)
        yield table

    def _columns(self) -> list[Column[tuple[int, Choice]]]:
        def text(row: tuple[int, Choice], width: int) -> Iterable[Piece]:
            yield Piece(one_line(row[1].text, width))

        def kind(row: tuple[int, Choice], width: int) -> Iterable[Piece]:
            yield Piece(one_line(row[1].kind, width), "dim")

        def note(row: tuple[int, Choice], width: int) -> Iterable[Piece]:
            yield Piece(one_line(row[1].note, width), "dim")

        columns = [Column("text", "", text, least=16)]
        if any(choice.kind for _, choice in self._choices):
            columns.append(Column("kind", "", kind, width=_KIND, drop=2))
        if any(choice.note for _, choice in self._choices):
            columns.append(Column("note", "", note, width=_NUMBER, right=True, drop=1))
        return columns

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_header(False)
        table.select(self._at)
        table.show(ListSource(self._choices, lambda row: row[0]), self.shell.operations.readers, top=False)
        table.focus()

    @on(RowOpened)
    def _picked(self, event: RowOpened) -> None:
        event.stop()
        self.dismiss(event.key)
