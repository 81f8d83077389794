"""What is to be known of a memory before it is believed: something that was drawn from it was corrected or forgotten."""

from __future__ import annotations

from typing import Literal

from .base import Record
from .memories import MemoryRecord


class Caution(Record):
    """``old`` was drawn from the memory (or the memory from ``old``, or it is ``old`` itself), and no longer holds.

    ``at``: since when. ``replaced``: nobody corrected it, a later statement took its place; ``at`` is when that was made.
    ``successor``: what stands in its place; None where nothing does, or nobody may know it.
    ``disputed``: another device has ``successor`` instead, and the person has not decided; both are active.
    ``withheld``: the person keeps the turns that it was drawn from away from agents.
    """

    how: Literal["corrected", "forgotten", "disputed"]
    at: int
    old: MemoryRecord
    successor: MemoryRecord | None = None
    withheld: bool = False
    replaced: bool = False

    @property
    def what(self) -> str:
        """``corrected``, ``replaced`` or ``forgotten``, for whoever reads it."""
        return "replaced" if self.replaced else self.how
