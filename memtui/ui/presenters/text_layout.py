"""The layout of previews: labels at the left, texts beside them, wrapped by their width in cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from memtui.present.glyphs import Glyphs
import re

from memtui.present.text import VisibleText, max_cells

# Width of the labels in cells.
LABEL = 12
# A longer list is cut, and the rest counted.
LISTED = 12


class TextLayout:
    """Lays out texts for a preview ``width`` cells wide, as of ``now``."""

    def __init__(self, width: int, now: float, glyphs: Glyphs) -> None:
        self.width = max(width, 20)
        self.now = now
        self.glyphs = glyphs

    def _paragraph_group(self, *parts: Iterable[Content]) -> Iterable[Content]:
        """Parts that belong together, after a blank line."""
        lines = [one for part in parts for one in part]
        return [assemble(""), *lines] if lines else []

    def _more_line(self, number: int) -> Iterable[Content]:
        if number > LISTED:
            yield from self.labelled("", assemble((f"and {number - LISTED:,} more", "$text-muted")))

    def level_bar(self, share: float, cells: int = 8) -> str:
        """A number between 0 and 1 as a bar."""
        filled = round(max(0.0, min(share, 1.0)) * cells)
        return self.glyphs.bar * filled + self.glyphs.empty * (cells - filled)

    def labelled(self, label: str, text: Content) -> Iterable[Content]:
        return labelled_block(label, text, self.width, LABEL)

    def _indent_text(self, text: Content, by: int) -> Iterable[Content]:
        for part in text.wrap(self.width - by):
            yield assemble(" " * by, part)


def labelled_block(label: str, text: Content, width: int, cells: int) -> Iterable[Content]:
    """A label of ``cells`` cells and the text beside it, wrapped to the rest of ``width``."""
    head = assemble((label.ljust(cells), "$text-muted"))
    for index, part in enumerate(text.wrap(max(width - cells, 8))):
        yield assemble(head if index == 0 else " " * cells, part)


def stack_lines(lines: Iterable[Content]) -> Content:
    """The lines below one another."""
    return Content("\n").join(lines)


# The width of the widest character. A line has room for at least one.
_WIDEST = 2
_pieces = re.compile(r"\s+|\S+")


def wrap_text(text: VisibleText, width: int) -> list[VisibleText]:
    """The lines of a text, none wider than ``width`` cells. Its own line breaks are kept.

    It is broken at blanks, and inside words that are longer than a line. Blanks at the start of a line are
    kept (code); blanks at a break are removed.
    """
    width = max(width, _WIDEST)
    lines: list[VisibleText] = []
    for paragraph in text.split("\n"):
        if max_cells(paragraph) <= width:
            lines.append(VisibleText(paragraph.rstrip()))
        else:
            lines += _break_line(paragraph, width)
    return lines


def _break_line(paragraph: str, width: int) -> list[VisibleText]:
    lines: list[VisibleText] = []
    line, width_left = "", width
    for match in _pieces.finditer(paragraph):
        piece = match[0]
        size = max_cells(piece)
        if piece.isspace():
            if size < width_left and (line or not lines):
                line, width_left = line + piece, width_left - size
            else:
                width_left = min(width_left, 0)
            continue
        if size > width_left and (line.strip() or width_left < _WIDEST):
            if line.strip():
                lines.append(VisibleText(line.rstrip()))  # safe-text: a piece of visible text
            line, width_left = "", width
        while size > width_left:
            head = _fitting_start(piece, width_left)
            lines.append(VisibleText(line + head))  # safe-text: a piece of visible text
            piece = piece[len(head) :]
            size, line, width_left = max_cells(piece), "", width
        line, width_left = line + piece, width_left - size
    if line.strip():
        lines.append(VisibleText(line.rstrip()))  # safe-text: a piece of visible text
    return lines


def _fitting_start(piece: str, width: int) -> str:
    """As many characters as fit, at least one. Marks and joiners stay with their characters."""
    used = 0
    for at, character in enumerate(piece):
        used += max_cells(character)
        if used > width and at:
            return piece[:at]
    return piece
