"""A clock that cannot be believed: one line above the list, and the key that says it is right."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.content import Content
from textual.widgets import Static

from memtui.ui.actions import Action
from memtui.ui.safe import assemble

from .list_pane import ListPane

Row = TypeVar("Row")


class WarnsOfClock(ListPane[Row], Generic[Row]):
    """A list with what is wrong with the clock above it (see ``engine.maintain.schedule.clock_guard``)."""

    _clock = ""
    _banner: Static | None = None

    def show_clock(self, note: str) -> None:
        """``note``: what is wrong; empty when all is well."""
        if note == self._clock:
            return
        self._clock = note
        if self._banner is not None:
            self._banner.remove()
            self._banner = None
        self.set_class(bool(note), "-warned")
        if note:
            self._banner = Static(self._warning(note), classes="clock-banner")
            self.query_one(".list-side").mount(self._banner, before=0)

    def _warning(self, note: str) -> Content:
        return assemble(
            (f"{self.shell.glyphs.conflict} ", "bold $warning"), (f"{note[0].upper()}{note[1:]}. ", "$warning"),
            (self.shell.keymap_shown("accept_clock"), "bold $accent"), (" it is right", "$text-muted"),
        )  # fmt: skip

    def why_not(self, action: Action) -> str:
        if action.id == "accept_clock":
            return "" if self._clock else "Nothing is wrong with the clock."
        return super().why_not(action)

    async def do_accept_clock(self) -> None:
        await self.change(lambda memory: memory.jobs.accept_clock(), "accepting the clock")
        self.show_clock("")
        self.say("The time is right: what waited for it may run.")
        self.reload()
