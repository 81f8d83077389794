"""A memory to try things on: seven weeks of an invented person's life, fresh from ``assets/demo.jsonl``.

``lines`` reads the file, ``story`` replays it: each change as a named operation of whoever would have
made it, when it would have been made. So every pane has something to show, and all of it is the real thing.
"""

from __future__ import annotations

from pathlib import Path

from memtui.engine.errors import StoreError
from memtui.engine.maintain.indexer import Indexer
from memtui.engine.store.file import open_file

from .lines import read_lines
from .story import Story

__all__ = ["create_demo"]


def create_demo(path: Path, *, now: float) -> None:
    """Build the demo memory at ``path``, where no file may be yet; its last turn is hours before ``now``.

    ``now`` is in Unix seconds; dates in the texts are local ones around it. Entity links are made, vectors
    are left to whoever opens the file. Raises StoreError when the file cannot be made.
    """
    if path.exists():
        raise StoreError(f"{path} is there already.", "Give the demo memory a path of its own.")
    connections = open_file(path)
    try:
        Story(connections, read_lines(now), int(now)).write()
        Indexer(connections, lambda: now, lambda space: None).run()
    finally:
        connections.close()
