"""Two texts side by side, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from memtui.ui.safe import assemble

GAP = 3


def side_by_side(left: Sequence[Content], right: Sequence[Content], width: int) -> Iterable[Content]:
    """``width``: cells of the left side. The right side begins ``GAP`` cells after it."""
    empty = assemble("")
    for index in range(max(len(left), len(right))):
        one = left[index] if index < len(left) else empty
        other = right[index] if index < len(right) else empty
        yield assemble(one, " " * max(width - one.cell_length, 0), " " * GAP, other)
