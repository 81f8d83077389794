"""How many cards wait in Review, for its tab: counted now and then, since comparing facts takes a while."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from .action_dispatch import start

if TYPE_CHECKING:
    from .shell import Shell

FIRST_SECONDS = 1.0
# Counting may take this share of the time.
_SHARE = 0.05


class InboxCount:
    """``soon`` after every change; several changes in a row are counted once. The pane, while shown, counts itself."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._waits = False
        self._cost = 0.0

    def soon(self) -> None:
        """The number may be another one now."""
        if not self._waits:
            self._waits = True
            self._shell.app.set_timer(max(FIRST_SECONDS, self._cost / _SHARE), self._start)

    def _start(self) -> None:
        self._waits = False
        if not self._shell.is_leaving and self._shell.place_shown != "review":
            start(self._shell.app, self._count, "inbox")

    async def _count(self) -> None:
        began = monotonic()
        number = await self._shell.operations.ask(lambda memory: len(memory.review.inbox().items))
        self._cost = monotonic() - began
        if not self._shell.is_leaving:
            self._shell.show_count("review", number)
