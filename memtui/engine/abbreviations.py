"""Words whose dot ends no sentence: English, German, French and Spanish ones, in ``abbreviations.txt``."""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def abbreviations() -> frozenset[str]:
    """In small letters, without the last dot."""
    return frozenset(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split())
