"""The number of cards in Review, for its tab. It is counted from time to time, because comparing facts is slow."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from .action_dispatch import start

if TYPE_CHECKING:
    from .shell import Shell

FIRST_SECONDS = 1.0
# The share of time that counting may take.
_SHARE = 0.05


class InboxCount:
    """Counts soon after a change, once for several changes in a row. The pane counts itself while it is shown."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._waits = False
        self._cost = 0.0

    def soon(self) -> None:
        """Count again soon: the number may have changed."""
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
