"""Review cards as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .text import Part

if TYPE_CHECKING:
    from memtui.engine.review.cards import ReviewItem, ReviewKind

_OLD_NAME: Part = ("old name", "warning")
_KINDS: Mapping[ReviewKind, Part] = {
    "agent_change": ("by an agent", "error"),
    "conflict": ("conflict", "error"),
    "choice": ("change?", "error"),
    "devices": ("devices", "error"),
    "dependents": ("outdated?", "warning"),
    "change_request": ("request", "accent"),
    "quarantined": ("quarantined", "warning"),
    "duplicate": ("duplicate", "warning"),
    "entities": ("same?", "accent"),
    "suspicious": ("suspicious", "warning"),
    "fading": ("fading", "dim"),
    "new": ("new", "accent"),
}
KIND_CELLS = max(len(words) for words, _ in (_OLD_NAME, *_KINDS.values()))
"""So many cells the longest kind has: in a list the texts behind all of them begin in one column."""


def quarantine_note(card: ReviewItem) -> str:
    """What agents get of a text that is held back."""
    if card.turns_served:
        return "not remembered as a fact yet; agents get the turn as it was said"
    return "not remembered yet, and shown to no agent"


def card_kind(card: ReviewItem) -> Part:
    """The kind of a card, in one or two words."""
    return _OLD_NAME if card.only_named else _KINDS[card.kind]
