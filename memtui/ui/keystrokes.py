"""Keys one after another: each is carried out before the next one is looked at.

Several arrive at once over a slow line, and a person may type ahead of a pane or a dialog that is only being made. Textual
hands a key to what has the focus when it arrives: the letters of a search that the first of them begins would be commands.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from textual.app import App
from textual.dom import DOMNode
from textual.events import Event

# Seconds. What takes longer than that is not waited for.
_PATIENCE = 1.0
_LOOK = 0.01


class Keystrokes:
    """``hand_on`` gives a key to what has the focus; ``takes_keys`` says whether that is there yet."""

    def __init__(
        self, app: App[Any], hand_on: Callable[[Event], Awaitable[None]], takes_keys: Callable[[], bool]
    ) -> None:
        self._app = app
        self._hand_on = hand_on
        self._takes_keys = takes_keys
        self._waiting: deque[Event] = deque()
        self._task: asyncio.Task[None] | None = None
        self._latest = monotonic()

    @property
    def quiet(self) -> float:
        """Seconds since the last key."""
        return monotonic() - self._latest

    def add(self, event: Event) -> None:
        self._latest = monotonic()
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _work(self) -> None:
        try:
            while self._waiting:
                end = monotonic() + _PATIENCE
                while not self._is_over() and not self._takes_keys() and monotonic() < end:
                    await asyncio.sleep(_LOOK)
                if self._is_over():
                    return
                target = self._app.focused or self._app.screen
                await self._hand_on(self._waiting.popleft())
                await self._carried_out(target)
        except Exception as error:
            self._app._handle_exception(error)

    def _is_over(self) -> bool:
        """The app is being left: what takes keys may be gone already."""
        return self._app._exit or not self._app.screen_stack

    async def _carried_out(self, target: DOMNode) -> None:
        """A key travels from what has the focus up to the app; each on the way is done when it comes to a later message."""
        end = monotonic() + _PATIENCE
        for node in target.ancestors_with_self:
            done = asyncio.Event()
            if node.call_later(done.set):
                while not done.is_set() and node.is_running and monotonic() < end:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(done.wait(), _LOOK)
        for _ in range(3):  # a worker that the key began comes to its first wait
            await asyncio.sleep(0)
