"""Small plots out of block characters: columns over time, and bars beside labels.

Pure functions from numbers to lines; a plot is at most as wide and as high as asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual.content import Content

from memtui.present.format import count, short_count
from memtui.present.glyphs import Glyphs
from memtui.ui.safe import assemble

_AXIS = 6


class Bar(NamedTuple):
    """A labelled bar of two parts; ``second`` stands behind ``first``, in another filling."""

    label: str
    first: int
    second: int = 0


def stretched(values: Sequence[int], width: int, pick: Callable[[Sequence[int]], int] = max) -> list[int]:
    """``values`` on ``width`` places: repeated where there are fewer, one of several (``pick``) where there are more."""
    if not values or width < 1:
        return []
    places = []
    for place in range(width):
        first = place * len(values) // width
        end = max((place + 1) * len(values) // width, first + 1)
        places.append(pick(values[first:end]))
    return places


def columns(
    values: Sequence[int],
    width: int,
    height: int,
    glyphs: Glyphs,
    style: str,
    *,
    ends: tuple[str, str] = ("", ""),
) -> list[Content]:
    """Values as columns, their scale at the left, and below what the first and the last one stand for."""
    room = max(width - _AXIS, 4)
    shown = stretched(values, room)
    top = max([*shown, 1])
    levels = [*glyphs.curve, glyphs.arms["keyword"]]
    lines = []
    for row in range(height, 0, -1):
        drawn = "".join(_piece(value / top * height - (row - 1), levels) for value in shown)
        mark = short_count(top) if row == height else "0" if row == 1 else ""
        lines.append(assemble((f"{mark:>{_AXIS - 1}} ", "$text-muted"), (drawn, style)))
    first, last = ends
    gap = " " * max(room - len(first) - len(last), 1)
    lines.append(assemble((f"{' ' * _AXIS}{first}{gap}{last}", "$text-muted")).truncate(width))
    return lines


def _piece(filled: float, levels: Sequence[str]) -> str:
    """One cell of a column of which ``filled`` (any number) is to be drawn in it."""
    if filled <= 0:
        return " "
    return levels[min(int(filled * len(levels)), len(levels) - 1)]


def bars(rows: Sequence[Bar], width: int, glyphs: Glyphs, styles: tuple[str, str]) -> list[Content]:
    """A line each: label, bar, number. A number that is not 0 has at least one cell."""
    labels = max((len(row.label) for row in rows), default=0)
    top = max((row.first + row.second for row in rows), default=0) or 1
    room = max(width - labels - 1 - 8, 4)
    lines = []
    for row in rows:
        first = _cells(row.first, top, room)
        second = min(_cells(row.second, top, room), room - first)
        lines.append(
            assemble(
                (f"{row.label:>{labels}} ", "$text-muted"),
                (glyphs.arms["keyword"] * first, styles[0]), (glyphs.arms["vector"] * second, styles[1]),
                (f" {count(row.first + row.second)}" if row.first + row.second else "", "$text-muted"),
            )
        )  # fmt: skip
    return lines


def _cells(value: int, top: int, room: int) -> int:
    return max(round(value / top * room), 1) if value else 0
