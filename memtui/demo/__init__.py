"""A memory to try things on: seven weeks of an invented person's life, fresh from ``assets/demo.jsonl``.

The file has talks, what the program drew from them when it was run on them (``assets/make_demo.py``), and what the
person decided. ``lines`` reads it, ``story`` replays it: each change by the verb that makes it in earnest, signed by
whoever made it, when it was made.
"""

from __future__ import annotations

from pathlib import Path

from memtui.engine.errors import StoreError
from memtui.engine.jobs.indexer import Indexer
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
        with connections.exclusive() as writer:
            writer.pragma("synchronous", 0)  # if the power fails half-way, there is no demo to lose
        Story(connections, read_lines(now)).write()
        Indexer(connections, lambda: now, lambda space: None).run()
    finally:
        connections.close()
