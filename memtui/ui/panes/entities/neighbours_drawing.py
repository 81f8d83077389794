"""The neighbourhood of an entity as a drawing: labels at their places, and lines of dots between them and the middle."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.entity import type_sign
from memtui.present.format import format_count
from memtui.present.text import Role, VisibleText, max_cells, one_line, visible_text
from memtui.ui.widgets.columns import StyledText

from .radial_layout import NeighbourLabel, RadialLayout, lay_out

if TYPE_CHECKING:
    from memtui.engine.records import Companion, Neighbourhood
    from memtui.present.glyphs import Glyphs

# The bits of a Braille character, by column and row of its dots.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_ACROSS, _DOWN = 2, 4
_FRAME = ("╭─╮", "│ │", "╰─╯")
_PLAIN_FRAME = ("+-+", "| |", "+-+")
_NAME = 60
# Rather than to cut a name shorter, the number behind it is left out.
_SHORTEST = 8


class PieceRun(NamedTuple):
    """Pieces that begin at a column. ``companion``: the label that they are of (-1 is the middle), None for a line."""

    left: int
    pieces: tuple[StyledText, ...]
    companion: int | None = None


class Drawing(NamedTuple):
    """``rows``: the runs of each line, from left to right, without overlap."""

    layout: RadialLayout
    rows: tuple[tuple[PieceRun, ...], ...]


def draw_neighbours(
    neighbourhood: Neighbourhood, width: int, height: int, glyphs: Glyphs, cursor: int
) -> Drawing:
    """The drawing with the line to the ``cursor`` (-1: the middle) standing out."""
    around = neighbourhood.companions
    middle = one_line(neighbourhood.entity.canonical_name, _NAME)
    layout = lay_out(
        width,
        height,
        max_cells(middle) + 4,
        [_label_width(one) for one in around],
        [one.together for one in around],
    )
    label_cells = _LabelCells(layout, width, height)
    lines = _DotLines(width, height, ties=glyphs.ties)
    most = around[0].together if around else 1
    for index, spot in enumerate(layout.spots):
        lines.add_line(
            layout.middle, spot, _line_thickness(around[index].together, most), chosen=index == cursor
        )
    rows: list[list[PieceRun]] = [[] for _ in range(height)]
    for row in range(height):
        rows[row] += lines.runs_of_row(row, label_cells)
    for index, spot in enumerate(layout.spots):
        rows[spot.row].append(PieceRun(spot.left, _companion_label(around[index], spot, glyphs), index))
    for row, text in _middle_label(layout, middle, glyphs):
        rows[row].append(text)
    return Drawing(layout, tuple(tuple(sorted(row, key=lambda run: run.left)) for row in rows))


def _label_width(one: Companion) -> int:
    return max_cells(one_line(one.entity.canonical_name, _NAME)) + 3 + len(format_count(one.together))


def _companion_label(one: Companion, spot: NeighbourLabel, glyphs: Glyphs) -> tuple[StyledText, ...]:
    """The sign of its type, next to the line; its name; the number of memories. Mirrored at the left."""
    glyph, role = type_sign(one.entity.type, glyphs)
    number = visible_text(format_count(one.together))
    name_width = spot.width - 3 - max_cells(number)
    name = one_line(one.entity.canonical_name, _NAME)
    if name_width < min(max_cells(name), _SHORTEST):
        number, name_width = VisibleText(""), spot.width - 2
    name = one_line(name, name_width)
    blank = StyledText(VisibleText(" "))
    pieces = [StyledText(visible_text(glyph), role), blank, StyledText(name, "text")]
    if number:
        pieces += [blank, StyledText(number, "dim")]
    spare = spot.width - sum(max_cells(piece.text) for piece in pieces)
    pieces.append(StyledText(visible_text(" " * max(spare, 0))))
    return tuple(reversed(pieces) if spot.side < 0 else pieces)


def _middle_label(layout: RadialLayout, name: VisibleText, glyphs: Glyphs) -> Iterator[tuple[int, PieceRun]]:
    spot, frame = layout.middle, _PLAIN_FRAME if glyphs.ties.isascii() else _FRAME
    shown = one_line(name, spot.width - 4)
    spare = spot.width - 4 - max_cells(shown)
    before, after = visible_text(" " * (spare // 2 + 1)), visible_text(" " * (spare - spare // 2 + 1))
    sides = [StyledText(visible_text(frame[1][0]), "accent"), StyledText(visible_text(frame[1][2]), "accent")]
    inside = [StyledText(before), StyledText(shown, "strong"), StyledText(after)]
    yield spot.row, PieceRun(spot.left, (sides[0], *inside, sides[1]), -1)
    if layout.framed:
        for row, ends in ((spot.row - 1, frame[0]), (spot.row + 1, frame[2])):
            edge = StyledText(visible_text(ends[0] + ends[1] * (spot.width - 2) + ends[2]), "accent")
            yield row, PieceRun(spot.left, (edge,))


def _line_thickness(together: int, most: int) -> int:
    """1 to 3: one memory is always thin, the strongest of several thick."""
    return 1 if together < 2 else 1 + (together * 3 >= most) + (together * 3 >= most * 2)


class _LabelCells:
    """The cells in which no line is drawn: the labels, with a blank around them."""

    def __init__(self, layout: RadialLayout, width: int, height: int) -> None:
        self._spans: list[list[tuple[int, int]]] = [[] for _ in range(height)]
        for spot in (layout.middle, *layout.spots):
            self._spans[spot.row].append((spot.left - 1, spot.end_column + 1))
        if layout.framed:
            for row in (layout.middle.row - 1, layout.middle.row + 1):
                self._spans[row].append((layout.middle.left, layout.middle.end_column))

    def is_taken(self, row: int, column: int) -> bool:
        return any(first <= column < end for first, end in self._spans[row])


class _DotLines:
    """Lines as dots on the grid. Where two meet in a cell, it has the colour of the thicker one."""

    def __init__(self, width: int, height: int, *, ties: str) -> None:
        self._width, self._height, self._ties = width, height, ties
        self._marks: list[list[int]] = [[0] * width for _ in range(height)]
        self._ranks: list[list[int]] = [[0] * width for _ in range(height)]

    def add_line(self, middle: NeighbourLabel, spot: NeighbourLabel, thickness: int, *, chosen: bool) -> None:
        """A line from the middle to the label. ``chosen``: in the colour of the cursor."""
        rank = 9 if chosen else thickness
        if self._ties.isascii():
            self._add_plain(middle, spot, rank, thickness)
            return
        begin = (middle.left + middle.width / 2) * _ACROSS, (middle.row + 0.5) * _DOWN
        end = (spot.near_column + 0.5) * _ACROSS, (spot.row + 0.5) * _DOWN
        across, down = end[0] - begin[0], end[1] - begin[1]
        steps = max(int(max(abs(across), abs(down)) * 1.5), 1)
        flat = abs(across) >= abs(down)
        for number in range(steps + 1):
            x, y = begin[0] + across * number / steps, begin[1] + down * number / steps
            for beside in range(thickness):
                offset = beside - (thickness - 1) / 2
                self._set_dot(x if flat else x + offset, y + offset if flat else y, rank)

    def _set_dot(self, x: float, y: float, rank: int) -> None:
        column, row = int(x // _ACROSS), int(y // _DOWN)
        if 0 <= column < self._width and 0 <= row < self._height:
            self._marks[row][column] |= _DOTS[int(x) % _ACROSS][int(y) % _DOWN]
            self._ranks[row][column] = max(self._ranks[row][column], rank)

    def _add_plain(self, middle: NeighbourLabel, spot: NeighbourLabel, rank: int, thickness: int) -> None:
        start = middle.left + middle.width // 2, middle.row
        across, down = spot.near_column - start[0], spot.row - start[1]
        steps = max(abs(across), abs(down), 1)
        for number in range(steps + 1):
            column, row = start[0] + round(across * number / steps), start[1] + round(down * number / steps)
            if rank >= self._ranks[row][column]:
                self._marks[row][column], self._ranks[row][column] = thickness, rank

    def runs_of_row(self, row: int, label_cells: _LabelCells) -> Iterator[PieceRun]:
        """The pieces of line in a row, outside the labels."""
        marks, ranks = self._marks[row], self._ranks[row]

        def piece_kind(column: int) -> int:
            """0 where nothing is drawn."""
            return ranks[column] if marks[column] and not label_cells.is_taken(row, column) else 0

        for rank, columns in groupby(range(self._width), piece_kind):
            if rank:
                these = list(columns)
                text = "".join(self._dots_character(marks[column]) for column in these)
                yield PieceRun(these[0], (StyledText(visible_text(text), _role_of_line(rank)),))

    def _dots_character(self, mark: int) -> str:
        return self._ties[mark - 1] if self._ties.isascii() else chr(0x2800 + mark)


def _role_of_line(rank: int) -> Role:
    return "accent" if rank == 9 else "dim" if rank > 1 else "faint"
