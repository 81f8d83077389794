"""The first lines of the portrait: what waits, and what went on since. Each opens what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtui.present.portrait import Notice, Since
from memtui.present.text import max_cells, one_line, visible_text
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.stop_view import GUTTER

from .rows import HEAD_SECTION, PortraitRow, Stop, blank_cells

BY_MONTH = Notice("months", calls=False, text="who and what, by month", short="by month", shortest="by month")


class Head(NamedTuple):
    """The lines with what goes on, each of rows and their widths. ``beside``: the rows of a line stand beside one another."""

    lines: list[list[tuple[PortraitRow, int]]]
    beside: bool


def lay_head_out(notices: Sequence[Notice], since: Since, width: int) -> Head:
    """The notices in one line where they fit; else in two, the second for what is of one period; else each in its own."""
    for texts in ([one.text for one in notices], [one.short for one in notices]):
        if _fit_in_line(texts, width):
            line = _notice_tiles(notices, texts)
            return Head([line] if line else [], beside=True)
    lasting = [one for one in notices if not one.of_period]
    of_period = [one for one in notices if one.of_period]
    period = f"{since.text.capitalize()}:"
    second = [one.shortest for one in of_period]
    for first in (
        [one.text for one in lasting],
        [one.short for one in lasting],
        [one.shortest for one in lasting],
    ):
        if _fit_in_line(first, width) and _fit_in_line([period, *second], width):
            title = PortraitRow(lambda width: [StyledText(one_line(period, width), "dim")])
            lines = [
                _notice_tiles(lasting, first),
                [(title, max_cells(period) + 1), *_notice_tiles(of_period, second)] if second else [],
            ]
            return Head([line for line in lines if line], beside=True)
    return Head([[(_notice_row(one, one.text), width)] for one in notices], beside=False)


def _notice_tiles(notices: Sequence[Notice], texts: Sequence[str]) -> list[tuple[PortraitRow, int]]:
    drawn = zip(notices, texts, strict=True)
    return [(_notice_row(one, text), max_cells(text) + 1) for one, text in drawn]


def _fit_in_line(texts: Sequence[str], width: int) -> bool:
    return sum(max_cells(text) + GUTTER + 1 for text in texts) <= width


def _notice_row(notice: Notice, text: str) -> PortraitRow:
    number, _, rest = text.partition(" ") if text[:1].isdecimal() else ("", "", text)

    def draw(width: int) -> list[StyledText]:
        counted = [
            StyledText(visible_text(number), "accent" if notice.calls else "strong"), blank_cells(1)
        ]  # fmt: skip
        return [
            *(counted if number else ()),
            StyledText(one_line(rest, width), "text" if notice.calls else "dim"),
        ]

    return PortraitRow(draw, Stop(HEAD_SECTION + notice.about, about=notice.about))
