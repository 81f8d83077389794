"""One import at a time: two of the same files would each bring in half."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from memtui.engine.errors import StoreError
from memtui.engine.store import history
from memtui.engine.store.connection import Connections

KIND = "import"
SUFFIX = ".import"


@contextmanager
def only_import(connections: Connections) -> Iterator[None]:
    """Be the one import into this file, after ending what a killed one left open.

    Raises StoreError while another import runs.
    """
    if connections.path is None:
        yield
        return
    lock = FileLock(connections.path.with_name(connections.path.name + SUFFIX), timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        raise StoreError(
            "Another import into this memory is running.", "Wait for it, or cancel it, and try again."
        ) from None
    try:
        history.close_dead(connections)
        yield
    finally:
        lock.release()


def imported_label(turns: int, labels: str) -> str:
    return f"Imported {turns:,} turn{'' if turns == 1 else 's'} from {labels}"


def running_label(labels: str) -> str:
    return f"Importing from {labels}"
