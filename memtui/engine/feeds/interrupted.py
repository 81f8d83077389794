"""One import at a time, and what becomes of one that was killed.

An import is one operation over many transactions. When its process dies, the operation stays open: what it
brought in is there, but plain undo does not offer it. Whoever holds the lock beside the file knows that no
other import lives, and closes what was left open, so that it can be undone like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from filelock import FileLock, Timeout

from memtui.engine.errors import StoreError
from memtui.engine.store import history
from memtui.engine.store.connection import Connections

KIND = "import"
SUFFIX = ".import"


@contextmanager
def only_import(connections: Connections) -> Iterator[None]:
    """Be the one import into this file, after closing what a killed one left open.

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
        _close_dead(connections)
        yield
    finally:
        lock.release()


def imported_label(turns: int, labels: str) -> str:
    return f"Imported {turns:,} turn{'' if turns == 1 else 's'} from {labels}"


def running_label(labels: str) -> str:
    return f"Importing from {labels}"


def _close_dead(connections: Connections) -> None:
    with connections.read() as connection:
        dead: Any = connection.execute(
            """
            SELECT op_id, label,
                   (SELECT coalesce(sum(hi - lo + 1), 0) FROM changes c
                    WHERE c.op_id = o.op_id AND tbl = 'memories' AND act = 'insert')
            FROM ops o WHERE kind = ? AND state = 'running'
            """,
            (KIND,),
        ).fetchall()
    for op_id, label, turns in dead:
        labels = str(label).removeprefix(running_label(""))
        history.finish(connections, op_id, f"{imported_label(turns, labels)} (interrupted)")
