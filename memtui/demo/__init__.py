"""The demo memory: seven weeks of an invented person's life, made from ``assets/demo.jsonl``.

The file has conversations, the facts that the program drew from them (``assets/make_demo.py``), and the person's
decisions. ``lines`` reads it. ``story`` replays it: each change with the real code, its author and its time.
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
    """Build the demo memory at ``path``, where no file may exist. Its last turn is some hours before ``now``.

    ``now`` is in Unix seconds; dates in the texts are local ones around it. Entity links are made. Vectors are made
    when the file is opened. Raises StoreError if the file cannot be created.
    """
    if path.exists():
        raise StoreError(f"{path} already exists.", "Give the demo memory a path of its own.")
    connections = open_file(path)
    try:
        with connections.exclusive() as writer:
            writer.pragma("synchronous", 0)  # a demo that is lost in a power cut is made again
        Story(connections, read_lines(now)).write()
        Indexer(connections, lambda: now, lambda space: None).run()
    finally:
        connections.close()
