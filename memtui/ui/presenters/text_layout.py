"""The layout of previews: labels at the left, texts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from memtui.present.glyphs import Glyphs

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

    def _group(self, *parts: Iterable[Content]) -> Iterable[Content]:
        """Parts that belong together, after a blank line."""
        lines = [one for part in parts for one in part]
        return [assemble(""), *lines] if lines else []

    def _more(self, number: int) -> Iterable[Content]:
        if number > LISTED:
            yield from self.labelled("", assemble((f"and {number - LISTED:,} more", "$text-muted")))

    def level(self, share: float, cells: int = 8) -> str:
        """A number between 0 and 1 as a bar."""
        filled = round(max(0.0, min(share, 1.0)) * cells)
        return self.glyphs.bar * filled + self.glyphs.empty * (cells - filled)

    def labelled(self, label: str, text: Content) -> Iterable[Content]:
        return labelled(label, text, self.width, LABEL)

    def _indented(self, text: Content, by: int) -> Iterable[Content]:
        for part in text.wrap(self.width - by):
            yield assemble(" " * by, part)


def labelled(label: str, text: Content, width: int, cells: int) -> Iterable[Content]:
    """A label of ``cells`` cells and the text beside it, wrapped to the rest of ``width``."""
    head = assemble((label.ljust(cells), "$text-muted"))
    for index, part in enumerate(text.wrap(max(width - cells, 8))):
        yield assemble(head if index == 0 else " " * cells, part)


def stack(lines: Iterable[Content]) -> Content:
    """The lines below one another."""
    return Content("\n").join(lines)
