"""Locks that show which long operations are still running.

An operation of many transactions stays ``running`` in between. Its process holds an OS lock on a file beside
the memory for as long; the kernel frees it when the process dies, and whoever opens the memory next can tell.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


class RunLocks:
    """The locks of one process on one file; ``path`` None is an in-memory database, which no other process opens."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._held: dict[str, BaseFileLock] = {}
        self._taken: set[str] = set()

    def acquire(self) -> str | None:
        """Take a lock before a long operation begins; returns the token that names it."""
        if self._path is None:
            return None
        token = os.urandom(6).hex()
        lock = self._lock_of_run(token)
        lock.acquire()
        self._held[token] = lock
        self._taken.add(token)
        return token

    def is_own_token(self, token: str | None) -> bool:
        """Whether this process took ``token``, ended or not."""
        return self._path is None or token in self._taken

    def release(self, token: str | None) -> None:
        """The operation has ended."""
        lock = self._held.pop(token, None) if token else None
        if lock is not None:
            self._release_lock(lock)

    def release_all(self) -> None:
        while self._held:
            self._release_lock(self._held.popitem()[1])

    def is_alive(self, token: str | None) -> bool:
        """Whether the process that took ``token`` still runs."""
        if self._path is None or token is None or token in self._held:
            return token in self._held
        from filelock import Timeout

        lock = self._lock_of_run(token)
        try:
            lock.acquire()
        except Timeout:
            return True
        self._release_lock(lock)
        return False

    def _lock_of_run(self, token: str) -> BaseFileLock:
        from .locks import work_lock  # most programs never run a long operation

        assert self._path is not None
        return work_lock(self._path, f"run-{token}")

    @staticmethod
    def _release_lock(lock: BaseFileLock) -> None:
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)
