"""Review cards as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .text import Part

if TYPE_CHECKING:
    from memtui.engine.review.cards import ReviewKind

_KINDS: Mapping[ReviewKind, Part] = {
    "conflict": ("conflict", "error"),
    "devices": ("devices", "error"),
    "dependents": ("source changed", "warning"),
    "change_request": ("change request", "accent"),
    "quarantined": ("quarantined", "warning"),
    "duplicate": ("duplicate", "warning"),
    "entities": ("same?", "accent"),
    "suspicious": ("suspicious", "warning"),
    "fading": ("fading", "dim"),
    "new": ("new", "accent"),
}
NOT_YET = "not remembered yet, and shown to no agent"


def kind(card: ReviewKind) -> Part:
    """The kind of a card, in one or two words."""
    return _KINDS[card]
