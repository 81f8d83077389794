"""A statement that says several changes at once: "moved to Lyon, new job at Renault, and we left Slack for Teams".

As a whole it is likest to one known fact; each of its parts may change another one. A part counts where it says of a change
itself, and one known fact is clearly the likeliest for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import update_model
from .change_words import says_change
from .compatible import are_compatible
from .look_alikes import looks_like_one
from .pair_features import Statement
from .values import shares_words

_join = re.compile(
    r"(?:\s*[,;]\s+|\s+)(?:and|but|und|aber|sowie|et|mais|y|e|pero)\s+|\s*[;:]\s+|,\s+|\s+[-–—]\s+",
    re.IGNORECASE,
)
_FEWEST_WORDS = 3
_MOST_PARTS = 6
_CERTAINLY = 1.8  # log-odds that a part replaces a known statement


def changed_parts(text: str) -> list[str]:
    """The parts of a statement that say of a change; empty where fewer than two do."""
    parts = [part.strip() for part in _join.split(text)]
    found = [part for part in parts if len(part.split()) >= _FEWEST_WORDS and says_change(part)]
    return found[:_MOST_PARTS] if len(found) > 1 else []


def is_in_another_part(text: str, old: str, other: str) -> bool:
    """Whether a part of a statement shares a word with a known one, and none with the ``other`` that the statement changes."""
    parts = [part for part in _join.split(text) if len(part.split()) >= _FEWEST_WORDS]
    return len(parts) > 1 and any(shares_words(part, old) and not shares_words(part, other) for part in parts)


def changed_by_parts(text: str, known: Sequence[Statement]) -> dict[int, float]:
    """The places of the known statements that single parts of ``text`` change, each with its log-odds."""
    found: dict[int, float] = {}
    for part in changed_parts(text) if known else ():
        odds = update_model.update_model().replacement_odds(Statement(part), known)
        place = max(range(len(known)), key=lambda at: odds[at])
        old = known[place].text
        if (
            odds[place] >= _CERTAINLY
            and shares_words(part, old)
            and not (are_compatible(part, old) or looks_like_one(part, old))
        ):
            found[place] = max(odds[place], found.get(place, 0.0))
    return found
