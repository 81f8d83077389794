"""What each retriever added to a hit: a bar with one colour for each, and the words that matched in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.present.hit import ARMS
from memtui.present.text import Visible, visible

if TYPE_CHECKING:
    from memtui.engine.records import ArmHit, ArmName
    from memtui.present.glyphs import Glyphs

Range = tuple[int, int, str]


def bar(terms: Mapping[ArmName, float], most: float, cells: int) -> list[tuple[ArmName, int]]:
    """How many cells of a bar belong to each retriever. ``most``: the score that fills the whole bar.

    The bar is as long as the sum of the scores says, however each is rounded.
    """
    if most <= 0.0:
        return []
    total = sum(terms.values())
    room = max(min(round(total / most * cells), cells), 1 if total > 0.0 else 0)
    exact = {arm: term / total * room for arm, term in terms.items()} if total > 0.0 else {}
    shares = {arm: int(value) for arm, value in exact.items()}
    for arm in sorted(exact, key=lambda arm: shares[arm] - exact[arm])[: room - sum(shares.values())]:
        shares[arm] += 1
    return [(arm, shares[arm]) for arm in ARMS if shares.get(arm)]


def bar_text(arm: ArmName, cells: int, glyphs: Glyphs) -> Visible:
    return visible(glyphs.arms[arm] * cells)


def marks(text: str, arms: Mapping[ArmName, ArmHit]) -> list[Range]:
    """The code points of ``text`` that matched, with their retriever: words, and names where no word matched."""
    found: list[Range] = []
    if "keyword" in arms:
        found += _words(text, arms["keyword"].matched)
    if "entity" in arms:
        for name in arms["entity"].matched:
            for hit in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
                start, end = hit.span()
                if all(end <= other or start >= stop for other, stop, _ in found):
                    found.append((start, end, "entity"))
    return sorted(found)


def _words(text: str, matched: Sequence[str]) -> Iterable[Range]:
    matched_words = set(matched)
    from memtui.engine.store.tokens import spans  # loads SQLite, too slow for the first paint

    for start, end, word in spans(text):
        if word in matched_words:
            yield start, end, "keyword"
    # Chinese, Japanese and Korean match by pairs of characters inside a run.
    for pair in matched_words:
        if not pair.isascii() and len(pair) <= 2:
            for found in re.finditer(re.escape(pair), text):
                if not _alone(text, found.start(), found.end()):
                    yield (*found.span(), "keyword")


def _alone(text: str, start: int, end: int) -> bool:
    """Whether the range is a word by itself."""
    before = start == 0 or not text[start - 1].isalnum()
    return before and (end == len(text) or not text[end].isalnum())
