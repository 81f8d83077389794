"""Finds the names of an entity in a text, to mark them and to cut a long text around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from memtui.present.text import Visible, one_line
from memtui.ui.widgets.columns import Piece

# Only the start of a longer text is searched, and only the first names of an entity with more.
_LOOKED_AT, _NAMES = 20_000, 50
# A line holds that many code points at most.
_LONGEST_NAME = 200


class NameMarks:
    """The names of one entity."""

    def __init__(self, names: Iterable[str]) -> None:
        longest_first = sorted(
            {name.strip()[:_LONGEST_NAME] for name in names} - {""}, key=len, reverse=True
        )[:_NAMES]
        self._pattern = (
            re.compile("|".join(map(_whole, longest_first)), re.IGNORECASE) if longest_first else None
        )

    def ranges(self, text: str) -> list[tuple[int, int]]:
        """The positions of the names, as ranges of code points."""
        if self._pattern is None:
            return []
        return [found.span() for found in self._pattern.finditer(text, 0, _LOOKED_AT)]

    def line(self, text: str, width: int) -> list[Piece]:
        """One line of at most ``width`` cells: the start of the text, or the part with a name."""
        shown = one_line(text, width)
        ranges = self.ranges(shown)
        if not ranges and (found := self.ranges(text)):
            later = one_line(_from(text, found[0][0], width), width)
            if ranges := self.ranges(later):
                shown = later
        return _pieces(shown, ranges)


def _from(text: str, start: int, width: int) -> str:
    """The text from a little before ``start``, or as much of its end as fits."""
    begin = max(min(start - width // 4, len(text) - width + 1), 0)
    blank = text.find(" ", begin, start)
    return f"…{text[blank + 1 if blank >= 0 else begin : begin + _LOOKED_AT]}"


def _pieces(shown: Visible, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces, at = [], 0
    for start, end in ranges:
        pieces.append(Piece(Visible(shown[at:start])))  # safe-text: a piece of visible text
        pieces.append(Piece(Visible(shown[start:end]), "entity"))  # safe-text: a piece of visible text
        at = end
    pieces.append(Piece(Visible(shown[at:])))  # safe-text: a piece of visible text
    return [piece for piece in pieces if piece.text]


def _whole(name: str) -> str:
    """A pattern for the name as a whole word, if its script separates words by blanks."""
    before = r"(?<!\w)" if _parted(name[0]) else ""
    after = r"(?!\w)" if _parted(name[-1]) else ""
    return f"{before}{re.escape(name)}{after}"


def _parted(letter: str) -> bool:
    return letter.isalnum() and unicodedata.east_asian_width(letter) not in "WF"
