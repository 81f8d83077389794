"""The columns of a list: content, width, and which are dropped first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from memtui.present.text import Role, VisibleText

Row = TypeVar("Row")

GAP = 2


class StyledText(NamedTuple):
    """Text in one role. The role decides its colour."""

    text: VisibleText
    role: Role = "text"


class Column(NamedTuple, Generic[Row]):
    """One column.

    ``cell(row, width)`` gives the pieces to show; long ones are cut. ``width`` 0: it gets the rest of the room, at
    least ``least`` cells. ``drop``: without room, the highest is dropped first; 0 is never dropped. ``sort``: the
    ``Order.sort`` that its header chooses, or empty. ``spills``: long text continues over empty columns at its right.
    """

    id: str
    label: str
    cell: Callable[[Row, int], Iterable[StyledText]]
    width: int = 0
    least: int = 24
    drop: int = 0
    right: bool = False
    gap: int = GAP
    sort: str = ""
    spills: bool = False


class Order(NamedTuple):
    """An order of the list: its name for the source, and its labels (``newest first``)."""

    sort: str
    falling: bool
    falling_label: str
    rising_label: str

    def label(self, falling: bool) -> str:
        """The label of this order in one direction."""
        return self.falling_label if falling else self.rising_label


def fit_columns(columns: Sequence[Column[Row]], width: int) -> list[tuple[Column[Row], int]]:
    """The columns that fit, each with its width. They fill ``width`` exactly if one is elastic."""
    kept = list(columns)
    while True:
        used_width = sum(column.width for column in kept) + sum(column.gap for column in kept[1:])
        elastic = [column for column in kept if not column.width]
        width_left = width - used_width
        droppable = [column for column in kept if column.drop]
        if width_left >= sum(column.least for column in elastic) or not droppable:
            break
        kept.remove(max(droppable, key=lambda column: column.drop))
    if not elastic:
        return [(column, column.width) for column in kept]
    share, rest = divmod(max(width_left, len(elastic)), len(elastic))
    return [(column, column.width or share + (rest if column is elastic[0] else 0)) for column in kept]
