"""Progress: one line on a terminal that is overwritten. Elsewhere nothing is printed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from memtui import operating_system
from memtui.present.text import one_line

_SECONDS = 0.1


class ProgressMeter:
    """Writes to stderr, so that pipes get the answer only. ``shown``: whether anybody can see it."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        if self.shown:
            operating_system.prepare_terminal()
        self._next = 0.0
        self._dirty = False

    def show(self, text: str, *, now: bool = False) -> None:
        """Show ``text`` in place of what was there, at most ten times a second."""
        if not self.shown or (time.monotonic() < self._next and not now):
            return
        self._next = time.monotonic() + _SECONDS
        import shutil

        width = max(10, shutil.get_terminal_size().columns - 1)
        sys.stderr.write(f"\r\x1b[K{one_line(text, width)}")
        sys.stderr.flush()
        self._dirty = True

    def clear(self) -> None:
        """Remove the line."""
        if self._dirty:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._dirty = False


@contextmanager
def cancelled_by_signal(hurry: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Ctrl+C asks the work to end at its next pause; a second one ends it at once.

    ``hurry`` is called in a thread after Ctrl+C, so that the work pauses soon.
    """
    stop = threading.Event()

    def request_stop() -> None:
        stop.set()
        hurry()

    with on_signals(request_stop, [operating_system.INTERRUPT]):
        yield stop.is_set


@contextmanager
def on_signals(call: Callable[[], None], numbers: Sequence[int] = ()) -> Iterator[None]:
    """The signals have ``call`` called in a thread; the second time they end the program.

    Without ``numbers``: all that ask a program to end.
    """

    numbers = numbers or operating_system.stop_signals()

    def call_in_thread(number: int) -> None:
        operating_system.default_handling(numbers)
        # Not in the handler: it may interrupt whoever holds the lock that this call needs.
        threading.Thread(target=call, daemon=True).start()

    with operating_system.signals_handled(numbers, call_in_thread):
        yield
