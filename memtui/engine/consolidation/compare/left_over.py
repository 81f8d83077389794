"""What an older fact says beyond the statement that a newer one replaces."""

from __future__ import annotations

from ..extract.joined_statements import statements_in
from .similarity import read

_COVERED = 0.6


def left_over(old: str, new: str) -> str:
    """The statements of ``old`` that ``new`` is not about; empty where it has one statement, or ``new`` says them as well."""
    parts = statements_in(old)
    if len(parts) < 2:
        return ""
    said = frozenset(read(new).content)
    shared = [len(said & frozenset(read(part).content)) for part in parts]
    replaced = shared.index(max(shared))
    left = []
    for place, part in enumerate(parts):
        words = frozenset(read(part).content)
        if place != replaced and words and len(words & said) < _COVERED * len(words):
            left.append(part)
    return "; ".join(left)
