"""Draws one line of a list: the header, a row, or a row that is still being read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.present.glyphs import Glyphs
from memtui.present.text import Role, max_cells, one_line
from memtui.ui.safe import segment
from memtui.ui.widgets.line_view import State

from .columns import Column, StyledText, fit_columns

Row = TypeVar("Row")

StyleOf = Callable[[State, Role], Style]

# The bar of the cursor, the mark, and a blank.
GUTTER = 3
_RULE = Style(underline=True)


class RowPainter(Generic[Row]):
    """Draws lines ``width`` cells wide. It does not know about scrolling."""

    def __init__(self, columns: Sequence[Column[Row]], glyphs: Glyphs, style: StyleOf) -> None:
        self.columns = columns
        self.glyphs = glyphs
        # The rows with a line drawn below them.
        self.ruled: Callable[[Row], bool] = lambda row: False
        self._style = style
        self._fitted: list[tuple[Column[Row], int]] = []
        self._width = -1

    def fit_columns(self, width: int) -> list[tuple[Column[Row], int]]:
        """The columns that fit, with their widths."""
        if width != self._width:
            self._width = width
            self._fitted = fit_columns(self.columns, max(width - GUTTER - 1, 1))
        return self._fitted

    def paint_header(self, width: int, order: tuple[str, bool]) -> Strip:
        """The header labels. A label may extend over columns at its right without a label."""
        sort, falling = order
        blank = self._style("plain", "dim")
        parts = [Segment(" " * GUTTER, blank)]
        fitted = self.fit_columns(width)
        for index, (column, column_width) in enumerate(fitted):
            if index and not column.label:
                continue
            for after, more in fitted[index + 1 :]:
                if after.label:
                    break
                column_width += after.gap + more
            chosen = bool(column.sort) and column.sort == sort
            glyph = (self.glyphs.descending if falling else self.glyphs.ascending) if chosen else ""
            label = StyledText(
                one_line(f"{column.label}{glyph}", column_width), "accent" if chosen else "dim"
            )
            parts += self._paint_cell([label], column_width, column, index, "plain")
        return Strip(parts).adjust_cell_length(width, blank)

    def paint_row(self, row: Row, width: int, state: State, marked: bool) -> Strip:
        parts = self._paint_gutter(state, marked)
        fitted = self.fit_columns(width)
        index = 0
        while index < len(fitted):
            column, column_width = fitted[index]
            after = index + 1
            while column.spills and after < len(fitted) and self._empty_cell(row, *fitted[after]):
                column_width += fitted[after][0].gap + fitted[after][1]
                after += 1
            parts += self._paint_cell(column.cell(row, column_width), column_width, column, index, state)
            index = after
        strip = Strip(parts).adjust_cell_length(width, self._style(state, "text"))
        return strip.apply_style(_RULE) if self.ruled(row) else strip

    @staticmethod
    def _empty_cell(row: Row, column: Column[Row], width: int) -> bool:
        return not any(piece.text for piece in column.cell(row, width))

    def paint_skeleton(self, index: int, width: int, state: State, marked: bool) -> Strip:
        """A row whose page is being read: grey bars of different lengths."""
        parts = self._paint_gutter(state, marked)
        for position, (column, column_width) in enumerate(self.fit_columns(width)):
            length = column_width if column.width else max(column_width * (45 + index * 37 % 40) // 100, 1)
            bar = StyledText(one_line(self.glyphs.skeleton * length, column_width), "dim")
            parts += self._paint_cell(
                [bar] if column.width != 1 else [], column_width, column, position, state
            )
        return Strip(parts).adjust_cell_length(width, self._style(state, "text"))

    def _paint_gutter(self, state: State, marked: bool) -> list[Segment]:
        here = state in ("cursor", "cursor-blurred")
        bar_role: Role = "accent" if state == "cursor" else "dim"
        return [
            segment(self.glyphs.cursor if here else " ", self._style(state, bar_role)),
            segment(self.glyphs.marked if marked else " ", self._style(state, "accent")),
            Segment(" ", self._style(state, "text")),
        ]

    def _paint_cell(
        self, pieces: Iterable[StyledText], width: int, column: Column[Row], index: int, state: State
    ) -> list[Segment]:
        parts: list[Segment] = []
        width_left = width
        for piece in pieces:
            text = one_line(piece.text, width_left) if max_cells(piece.text) > width_left else piece.text
            if text:
                parts.append(segment(text, self._style(state, piece.role)))
                width_left -= max_cells(text)
            if width_left <= 0:
                break
        blank = self._style(state, "text")
        if width_left > 0:
            parts.insert(0 if column.right else len(parts), Segment(" " * width_left, blank))
        if index:
            parts.insert(0, Segment(" " * column.gap, blank))
        return parts
