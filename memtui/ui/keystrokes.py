"""Handles keys one after another: the next one only when the one before has had its effect.

Over a slow connection several keys arrive at once, and people type before a pane or dialog is ready. Textual
gives a key to the widget with the focus when it arrives. So letters meant for a search could run as commands.
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

# The longest wait, in seconds.
_PATIENCE = 1.0
_LOOK = 0.01


class Keystrokes:
    """``hand_on`` gives a key to the widget with the focus. ``takes_keys``: whether that widget is ready."""

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
    def seconds_since_key(self) -> float:
        """Seconds since the last key."""
        return monotonic() - self._latest

    def add(self, event: Event) -> None:
        self._latest = monotonic()
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._handle_keys())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _handle_keys(self) -> None:
        try:
            while self._waiting:
                end = monotonic() + _PATIENCE
                while not self._app_is_closing() and not self._takes_keys() and monotonic() < end:
                    await asyncio.sleep(_LOOK)
                if self._app_is_closing():
                    return
                target = self._app.focused or self._app.screen
                await self._hand_on(self._waiting.popleft())
                await self._wait_for_key(target)
        except Exception as error:
            self._app._handle_exception(error)

    def _app_is_closing(self) -> bool:
        """Whether the app is closing, so that the focused widget may be gone."""
        return self._app._exit or not self._app.screen_stack

    async def _wait_for_key(self, target: DOMNode) -> None:
        """Wait until a key has passed from the focused widget up to the app."""
        end = monotonic() + _PATIENCE
        for node in target.ancestors_with_self:
            done = asyncio.Event()
            if node.call_later(done.set):
                while not done.is_set() and node.is_running and monotonic() < end:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(done.wait(), _LOOK)
        for _ in range(3):  # a worker that the key started reaches its first await
            await asyncio.sleep(0)
