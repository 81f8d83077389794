"""Jump mode: every part of the window gets a letter, and the letter goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.ui.safe import content

LETTERS = "asdfghjklwertuio"


class JumpScreen(ModalScreen[int]):
    """Returns the number of the chosen region, or None if the key was not one of the letters."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, regions: Sequence[Region]) -> None:
        super().__init__()
        self._regions = regions[: len(LETTERS)]

    def compose(self) -> ComposeResult:
        for letter, region in zip(LETTERS, self._regions, strict=False):
            label = Static(content(f" {letter} ", "bold"), classes="jump-label")
            label.styles.offset = (region.x, region.y)  # no title or row begins here
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        index = LETTERS.find(event.character or " ")
        self.dismiss(index if 0 <= index < len(self._regions) else None)
