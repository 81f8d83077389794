"""Wraps text by its width in cells. Measuring in a thread and drawing use the same function."""

from __future__ import annotations

import re

from memtui.present.text import Visible, cells

# The width of the widest character. A line has room for at least one.
_WIDEST = 2
_pieces = re.compile(r"\s+|\S+")


def wrap(text: Visible, width: int) -> list[Visible]:
    """The lines of a text, none wider than ``width`` cells. Its own line breaks are kept.

    It is broken at blanks, and inside words that are longer than a line. Blanks at the start of a line are
    kept (code); blanks at a break are removed.
    """
    width = max(width, _WIDEST)
    lines: list[Visible] = []
    for paragraph in text.split("\n"):
        if cells(paragraph) <= width:
            lines.append(Visible(paragraph.rstrip()))
        else:
            lines += _broken(paragraph, width)
    return lines


def _broken(paragraph: str, width: int) -> list[Visible]:
    lines: list[Visible] = []
    line, room = "", width
    for found in _pieces.finditer(paragraph):
        piece = found[0]
        size = cells(piece)
        if piece.isspace():
            if size < room and (line or not lines):
                line, room = line + piece, room - size
            else:
                room = min(room, 0)
            continue
        if size > room and (line.strip() or room < _WIDEST):
            lines += [Visible(line.rstrip())] if line.strip() else []  # safe-text: a piece of visible text
            line, room = "", width
        while size > room:
            head = _head(piece, room)
            lines.append(Visible(line + head))  # safe-text: a piece of visible text
            piece = piece[len(head) :]
            size, line, room = cells(piece), "", width
        line, room = line + piece, room - size
    if line.strip():
        lines.append(Visible(line.rstrip()))  # safe-text: a piece of visible text
    return lines


def _head(piece: str, room: int) -> str:
    """As many characters as fit, at least one. Marks and joiners stay with their characters."""
    used = 0
    for at, character in enumerate(piece):
        used += cells(character)
        if used > room and at:
            return piece[:at]
    return piece
