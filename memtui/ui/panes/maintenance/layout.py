"""The layout of previews in Maintenance: labels at the left, texts beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.presenters.text_layout import labelled
from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from memtui.present.glyphs import Glyphs

LABEL = 11


class Labelled:
    """Lays out a preview of ``width`` cells and ``height`` lines, as of ``now``. ``keys``: action id -> key."""

    def __init__(self, width: int, height: int, now: float, glyphs: Glyphs, keys: Mapping[str, str]) -> None:
        self.width = max(width, 20)
        self.height = height
        self.now = now
        self.glyphs = glyphs
        self.keys = keys

    def way(self, action: str, what: str) -> Iterable[Content]:
        """A key, and what it does here."""
        return assemble((self.keys[action], "bold $accent"), (f"  {what}", "$text-muted")).wrap(self.width)

    def labelled(self, label: str, text: Content) -> Iterable[Content]:
        return labelled(label, text, self.width, LABEL)
