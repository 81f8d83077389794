"""Pages and log: after this no page of the file holds what no row does, and the log is empty."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import apsw

from memtui.engine.store.connecting import wait_as_usual
from memtui.engine.store.connection import Connections

# A larger file is written anew by way of the disk, not of memory.
_IN_MEMORY_BYTES = 256_000_000


def compact(connections: Connections, wait: float) -> str:
    """Write the file anew and empty its log; why the log is not empty, "" when it is.

    A program that still reads the state of before keeps it in the file for as long; ``wait``: seconds to be patient.
    """
    if connections.path is None:
        return ""
    with connections.exclusive() as connection:
        size = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
        large = size > _IN_MEMORY_BYTES
        if large:
            connection.pragma("temp_store", 1)
        try:
            connection.execute("VACUUM")
        finally:
            if large:
                connection.pragma("temp_store", 2)
        connection.set_busy_handler(_patience(wait))
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return "another program still reads the memory as it was, which keeps the old pages in its log"
        finally:
            wait_as_usual(connection)
    return ""


def _patience(seconds: float) -> Callable[[int], bool]:
    until = time.monotonic() + seconds

    def ask_again(asked: int) -> bool:
        time.sleep(random.uniform(0.002, 0.02))
        return time.monotonic() < until

    return ask_again
