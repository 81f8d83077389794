"""Where the long tail of a search begins: hits that hardly answer.

A hit counts as likely if it shares a word or a name with the question and has a quarter of the best score. Without one it
needs half of the best score. The cutoff is below the last likely hit; all hits above that one stay above.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtui.engine.records import Hit

FAR = 0.25
NEAR = 0.5
SHARING = frozenset({"keyword", "entity"})
"""The retrievers that find what shares a word or a name with the question."""


def count_likely(hits: Sequence[Hit]) -> int:
    """How many of the hits, the best first, stand above the line."""
    best = max((hit.score for hit in hits), default=0.0)
    return max((number for number, hit in enumerate(hits, 1) if _is_likely_hit(hit, best)), default=0)


def _is_likely_hit(hit: Hit, best: float) -> bool:
    if hit.score < FAR * best:
        return False
    return hit.score >= NEAR * best or not SHARING.isdisjoint(hit.retrievers)
