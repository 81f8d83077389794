"""Small plots made of block characters: columns over time, and bars with labels.

Pure functions from numbers to lines. A plot is never wider or higher than asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual.content import Content

from memtui.present.format import format_count, short_count
from memtui.present.glyphs import Glyphs
from memtui.ui.safe import assemble

_AXIS = 6


class PlotBar(NamedTuple):
    """A bar with a label and two parts. ``second`` comes after ``first``, with another filling."""

    label: str
    first: int
    second: int = 0


def resample_values(
    values: Sequence[int], width: int, pick: Callable[[Sequence[int]], int] = max
) -> list[int]:
    """``values`` stretched to ``width``: repeated if there are fewer, one of several (``pick``) if there are more."""
    if not values or width < 1:
        return []
    places = []
    for index in range(width):
        first = index * len(values) // width
        end = max((index + 1) * len(values) // width, first + 1)
        places.append(pick(values[first:end]))
    return places


def column_chart(
    values: Sequence[int],
    width: int,
    height: int,
    glyphs: Glyphs,
    style: str,
    *,
    ends: tuple[str, str] = ("", ""),
) -> list[Content]:
    """Values as columns, with a scale at the left and labels for the first and the last below."""
    chart_width = max(width - _AXIS, 4)
    shown = resample_values(values, chart_width)
    top = max([*shown, 1])
    levels = [*glyphs.curve, glyphs.retrievers["keyword"]]
    lines = []
    for row in range(height, 0, -1):
        cells = "".join(_column_cell(value / top * height - (row - 1), levels) for value in shown)
        mark = short_count(top) if row == height else "0" if row == 1 else ""
        lines.append(assemble((f"{mark:>{_AXIS - 1}} ", "$text-muted"), (cells, style)))
    first, last = ends
    gap = " " * max(chart_width - len(first) - len(last), 1)
    lines.append(assemble((f"{' ' * _AXIS}{first}{gap}{last}", "$text-muted")).truncate(width))
    return lines


def _column_cell(filled: float, levels: Sequence[str]) -> str:
    """One cell of a column. ``filled`` (any number): how much of it is drawn."""
    if filled <= 0:
        return " "
    return levels[min(int(filled * len(levels)), len(levels) - 1)]


def bar_chart(rows: Sequence[PlotBar], width: int, glyphs: Glyphs, styles: tuple[str, str]) -> list[Content]:
    """A line for each row: label, bar, number. A number above 0 has at least one cell."""
    labels = max((len(row.label) for row in rows), default=0)
    top = max((row.first + row.second for row in rows), default=0) or 1
    bar_width = max(width - labels - 1 - 8, 4)
    lines = []
    for row in rows:
        first = _bar_cells(row.first, top, bar_width)
        second = min(_bar_cells(row.second, top, bar_width), bar_width - first)
        lines.append(
            assemble(
                (f"{row.label:>{labels}} ", "$text-muted"),
                (glyphs.retrievers["keyword"] * first, styles[0]), (glyphs.retrievers["vector"] * second, styles[1]),
                (f" {format_count(row.first + row.second)}" if row.first + row.second else "", "$text-muted"),
            )
        )  # fmt: skip
    return lines


def _bar_cells(value: int, maximum: int, width: int) -> int:
    return max(round(value / maximum * width), 1) if value else 0
