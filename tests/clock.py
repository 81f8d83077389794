"""A clock for tests: it stands still until it is told otherwise."""

from __future__ import annotations


class Clock:
    """``now`` in Unix seconds."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
