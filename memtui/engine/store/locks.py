"""Locks beside a memory file: one import, one erase, one run of jobs at a time, in whatever process. The kernel frees them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import StoreError

if TYPE_CHECKING:
    from filelock import FileLock

KINDS = ("import", "erase", "jobs", "consolidate", "lead", "sync")
"""What is locked, and the ends of the files' names."""
_WORK = {"erase": "an erase", "import": "an import", "jobs": "a maintenance job"}


class BusyError(StoreError):
    """Something runs in this memory that must not be crossed."""


def work_lock(path: Path, kind: str) -> FileLock:
    """The lock of one kind of work on the memory at ``path``; who takes it while another has it gets Timeout at once.

    Raises StoreError where something else has the lock's name.
    """
    from filelock import FileLock  # 50 ms, and most programs need none

    lock_path = path.with_name(f"{path.name}.{kind}")
    if os.path.lexists(lock_path) and (lock_path.is_symlink() or not lock_path.is_file()):
        what = "a symbolic link" if lock_path.is_symlink() else "not a file"
        raise StoreError(
            f"{lock_path} is {what}: memtui cannot lock the memory with it.",
            "Move it away and try again; it holds nothing of the memory.",
        )
    return FileLock(lock_path, timeout=0, mode=0o600, thread_local=False)


@contextmanager
def exclusive_work(
    path: Path, wait: float, advice: str, waiting: Callable[[str], None] = lambda work: None
) -> Iterator[None]:
    """No import, job or erase runs meanwhile. Raises BusyError, which ends with ``advice``, if one goes on for ``wait`` seconds.

    ``waiting`` is called with what must end first.
    """
    from filelock import Timeout

    with ExitStack() as locks:
        for kind, work in _WORK.items():
            lock = work_lock(path, kind)
            try:
                locks.enter_context(lock.acquire())
                continue
            except Timeout:
                waiting(work)
            try:
                locks.enter_context(lock.acquire(timeout=wait))
            except Timeout:
                raise BusyError(
                    f"In this memory {work} is running.",
                    f"Wait for it to end, or cancel it, and try again. {advice}",
                ) from None
        yield
