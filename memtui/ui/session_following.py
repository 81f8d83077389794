"""Imports new turns of sessions on this machine while the app is open (the setting ``feeds.watch``)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

# How long closing waits for a running check of the files.
END_SECONDS = 10.0


class SessionFollowing:
    """The thread that follows. It calls ``began`` when it knows its files, and ``failed`` with the error that ends it."""

    def __init__(self, began: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        self._began = began
        self._failed = failed
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.places = 0
        # Never in a demo.
        self.allowed = True

    def start(self, memory: Memory, home: Path) -> None:
        """Import into this memory. Ends following for another memory first."""
        self.stop()
        if not self.allowed:
            return
        self._stopped = stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(memory, home, stopped), name="following", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        self._stopped.set()
        self.places = 0
        if thread is not None:
            thread.join(END_SECONDS)

    def _run(self, memory: Memory, home: Path, stopped: threading.Event) -> None:
        from memtui.engine.importers.known_places import known_sources

        try:
            places = [source.path for source in known_sources(home) if source.live]
            if places and not stopped.is_set():
                self.places = len(places)
                self._began()
                memory.files.follow(places, stopped)
        except Exception as error:
            if not stopped.is_set():
                self.places = 0
                self._failed(error)
