"""Work that takes long: how far it is, and the wish to stop it. Shared by a thread and the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

# Work that does not look whether it was cancelled is interrupted after that time.
PATIENCE = 1.0


class Work:
    """One piece of work. The thread that does it calls ``progress`` and asks ``cancelled``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = 0
        self.total = 0
        self.detail = ""
        self.started = monotonic()
        # What else ends it, for work that waits for a network; called from a thread of its own.
        self.interrupt: Callable[[], None] | None = None
        self._stop = threading.Event()

    def progress(self, done: int, total: int, detail: str = "") -> None:
        self.done, self.total, self.detail = done, total, detail

    def cancelled(self) -> bool:
        return self._stop.is_set()

    def cancel(self) -> None:
        """Ask it to end at its next pause."""
        if not self._stop.is_set():
            self._stop.set()
            timer = threading.Timer(PATIENCE, self._interrupt)
            timer.daemon = True
            timer.start()

    def _interrupt(self) -> None:
        if self.interrupt is not None:
            self.interrupt()

    @property
    def seconds_left(self) -> float | None:
        """About how long it still takes; None while that cannot be told."""
        spent = monotonic() - self.started
        if not self.total or not self.done or spent < 1:
            return None
        return spent / self.done * (self.total - self.done)
