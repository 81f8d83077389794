"""Where the entities around another one stand on a grid of cells: it in the middle, the others at both sides.

Each has a row of its own side. The stronger a tie, the nearer: in the rows next to the middle, and at a shorter
distance. All distances lie on an ellipse that bends inwards for strong ties, so no line crosses another label.
The same numbers give the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from typing import Literal, NamedTuple

Side = Literal[-1, 0, 1]
MOST = 24
"""So many are drawn at most, however large the window is."""

# Rows between two of the same side: at least, and at most this share of all rows.
_CLOSE, _WIDE_APART = 2, 0.28
# Cells that a label gets before lines become longer, and the shortest line beside the middle.
_LABEL, _LINE = 20, 5
# The strongest tie is at this share of the distance of the weakest.
_NEAREST = 0.5
# A frame around the middle needs this height.
_FRAMED_FROM = 11


class NeighbourLabel(NamedTuple):
    """A label: its row, the column of its first cell, and its width. ``side`` of the middle: -1 is the left."""

    row: int
    left: int
    width: int
    side: Side

    @property
    def near_column(self) -> int:
        """The column of the cell that is nearest to the middle, where its line ends."""
        return self.left + self.width - 1 if self.side < 0 else self.left

    @property
    def end_column(self) -> int:
        """The column after its last cell."""
        return self.left + self.width


class RadialLayout(NamedTuple):
    """``middle``: the label in the middle, with a blank at each end; ``framed``: with a line above and below it.

    ``spots``: where the first entities stand, as many as there is room for.
    """

    middle: NeighbourLabel
    framed: bool
    spots: tuple[NeighbourLabel, ...]


def label_capacity(width: int, height: int) -> int:
    """How many entities fit around the middle at most."""
    if width < 24 or height < 1:
        return 0
    rows = (height + 1) // _CLOSE if height > 6 else height
    return min(2 * rows, MOST)


def lay_out(width: int, height: int, middle: int, labels: Sequence[int], ties: Sequence[int]) -> RadialLayout:
    """Places in ``width`` x ``height`` cells.

    ``middle``, ``labels``: how wide each label wants to be; it may get fewer cells. ``ties``: how strong each is,
    in falling order.
    """
    middle_width = max(min(middle, width // 3 if width >= 24 else width), 1)
    row, left = (height - 1) // 2, (width - middle_width) // 2
    number = min(len(labels), label_capacity(width, height))
    ties = ties[:number]
    spots: dict[int, NeighbourLabel] = {}
    framed = height >= _FRAMED_FROM
    for side in (1, -1):
        ranks = range(0 if side > 0 else 1, number, 2)
        offsets = _row_offsets(len(ranks), height, up_first=side > 0)
        for rank, offset in zip(ranks, offsets, strict=True):
            away = _distance_from_middle(offset, _tie_strength(ties, rank), width, height)
            if abs(offset) <= 1 + framed:
                away = max(away, middle_width / 2 + _LINE)
            away = min(max(away, 2.0), width / 2 - 4)
            edge = width / 2 + side * away
            spot_row = floor((height - 1) / 2 + offset + 0.5)
            if side > 0:
                begin = round(edge)
                spots[rank] = NeighbourLabel(spot_row, begin, min(labels[rank], width - begin), 1)
            else:
                end = round(edge)
                wide = min(labels[rank], end - 1)  # before it is the bar of the cursor
                spots[rank] = NeighbourLabel(spot_row, end - wide, wide, -1)
    return RadialLayout(
        NeighbourLabel(row, left, middle_width, 0), framed, tuple(spots[rank] for rank in range(number))
    )


def _row_offsets(number: int, height: int, *, up_first: bool) -> list[float]:
    """So many rows, counted from that of the middle and evenly apart; the nearest first."""
    if number < 2:
        return [0.0] * number
    row_distance = min((height - 1) / (number - 1), max(height * _WIDE_APART, _CLOSE))
    rows = [(index - (number - 1) / 2) * row_distance for index in range(number)]
    return sorted(rows, key=lambda offset: (round(abs(offset), 6), offset if up_first else -offset))


def _tie_strength(ties: Sequence[int], rank: int) -> float:
    """How strong a tie is: from 0 for the weakest to 1 for the strongest, 0 if all are the same."""
    most, least = ties[0], ties[-1]
    return sqrt((ties[rank] - least) / (most - least)) if most > least else 0.0


def _distance_from_middle(offset: float, strength: float, width: int, height: int) -> float:
    """How far from the middle a label begins, in cells."""
    across = max(min(width / 2 - _LABEL, 1.9 * height / 2), width / 5)
    down = height / 2 + 1
    return across * sqrt(max(1 - (offset / down) ** 2, 0.0)) * (1 - (1 - _NEAREST) * strength)


def neighbour_in_direction(layout: RadialLayout, cursor: int, across: int, down: int) -> int:
    """The place (-1: the middle) to which an arrow goes; the same one if there is none in that direction."""
    at = dict(enumerate(layout.spots))
    here = layout.middle if cursor < 0 else at[cursor]
    if down:
        column = {index: spot for index, spot in at.items() if here.side in (0, spot.side)}
        beyond = {index: spot for index, spot in column.items() if (spot.row - here.row) * down > 0}
    else:
        beyond = {index: spot for index, spot in at.items() if (spot.side - here.side) * across > 0}
        if here.side * across < 0:
            beyond[-1] = layout.middle
    return min(
        beyond, key=lambda index: (_distance_between(here, beyond[index], down), index), default=cursor
    )


def _distance_between(here: NeighbourLabel, there: NeighbourLabel, down: int) -> float:
    rows, columns = abs(here.row - there.row), abs(_middle_column(here) - _middle_column(there)) / 2
    return rows + columns / 8 if down else columns + 3 * rows


def _middle_column(spot: NeighbourLabel) -> int:
    return spot.left + spot.width // 2 if spot.side == 0 else spot.near_column
