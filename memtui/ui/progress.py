"""Progress and cancellation of long work, shared by its thread and the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

# Work that does not react to a cancellation is interrupted after this time.
PATIENCE = 1.0


class Work:
    """One piece of work. Its thread calls ``progress`` and checks ``cancelled``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = 0
        self.total = 0
        self.detail = ""
        self.started = monotonic()
        # A further way to end work that waits for a network. Called from another thread.
        self.interrupt: Callable[[], None] | None = None
        self._stop = threading.Event()

    def progress(self, done: int, total: int, detail: str = "") -> None:
        self.done, self.total, self.detail = done, total, detail

    def cancelled(self) -> bool:
        return self._stop.is_set()

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        if not self._stop.is_set():
            self._stop.set()
            timer = threading.Timer(PATIENCE, self._interrupt_work)
            timer.daemon = True
            timer.start()

    def _interrupt_work(self) -> None:
        if self.interrupt is not None:
            self.interrupt()

    @property
    def seconds_left(self) -> float | None:
        """The estimated remaining time. None if it is not known."""
        spent = monotonic() - self.started
        if not self.total or not self.done or spent < 1:
            return None
        return spent / self.done * (self.total - self.done)
