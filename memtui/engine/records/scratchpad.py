"""Notes of the scratchpad."""

from __future__ import annotations

from .base import Record


class ScratchpadNote(Record):
    """One entry. ``updated_at``: Unix seconds. ``pad_id`` stays the same until the key is deleted."""

    pad_id: int
    key: str
    value: str
    updated_at: int
