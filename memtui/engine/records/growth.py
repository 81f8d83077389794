"""The growth of a memory over time."""

from __future__ import annotations

from .base import Record


class Growth(Record):
    """Numbers of active ``facts`` (notes of any kind) and ``turns`` at the end of each step.

    The steps cover ``start`` to ``end`` (Unix seconds) evenly; all are empty for an empty memory.
    """

    start: int
    end: int
    facts: tuple[int, ...]
    turns: tuple[int, ...]
