"""How many cards wait in Review, for its tab: counted now and then, since comparing facts takes a while."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from .perform import start

if TYPE_CHECKING:
    from .app import MemtuiApp

FIRST_SECONDS = 1.0
# Counting may take this share of the time.
_SHARE = 0.05


class InboxCount:
    """``soon`` after every change; several changes in a row are counted once. The pane, while shown, counts itself."""

    def __init__(self, app: MemtuiApp) -> None:
        self._app = app
        self._waits = False
        self._cost = 0.0

    def soon(self) -> None:
        """The number may be another one now."""
        if not self._waits:
            self._waits = True
            self._app.set_timer(max(FIRST_SECONDS, self._cost / _SHARE), self._start)

    def _start(self) -> None:
        self._waits = False
        if not self._app.is_leaving and self._app.main.active != "review":
            start(self._app, self._count, "inbox")

    async def _count(self) -> None:
        began = monotonic()
        number = await self._app.operations.ask(lambda memory: len(memory.upkeep.inbox().items))
        self._cost = monotonic() - began
        if not self._app.is_leaving:
            self._app.main.show_count("review", number)
