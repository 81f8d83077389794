"""A warning above the list if the clock looks wrong, and the key that accepts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from memtui.ui.actions import Action
from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from .pane import Pane


class ClockBanner:
    """What is wrong with the clock, above the list of a pane (see ``engine.jobs.clock_guard``)."""

    def __init__(self, pane: Pane) -> None:
        self._pane = pane
        self._clock = ""
        self._banner: Static | None = None

    def show(self, note: str) -> None:
        """``note``: what is wrong; empty when all is well."""
        if note == self._clock:
            return
        self._clock = note
        if self._banner is not None:
            self._banner.remove()
            self._banner = None
        self._pane.set_class(bool(note), "-warned")
        if note:
            self._banner = Static(self._warning_text(note), classes="clock-banner")
            self._pane.query_one(".list-side").mount(self._banner, before=0)

    def _warning_text(self, note: str) -> Content:
        return assemble(
            (f"{self._pane.shell.glyphs.conflict} ", "bold $warning"), (f"{note[0].upper()}{note[1:]}. ", "$warning"),
            (self._pane.shell.keymap_shown("accept_clock"), "bold $accent"), (" it is right", "$text-muted"),
        )  # fmt: skip

    def unavailable_reason(self, action: Action) -> str:
        return "" if self._clock else "Nothing is wrong with the clock."

    async def do_accept_clock(self) -> None:
        await self._pane.change(lambda memory: memory.jobs.accept_clock(), "accepting the clock")
        self.show("")
        self._pane.show_message("The time is right: what waited for it may run.")
        self._pane.reload()
