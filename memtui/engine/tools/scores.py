"""How well a memory answers a question, as an agent is told it: the score, its shares, a few words why."""

from __future__ import annotations

from collections.abc import Mapping

from memtui.engine.records import ArmHit, ArmName, Record

_WORDS = 6
_DIGITS = 3


class Shares(Record, omit_defaults=True):
    """What each retriever adds to a score: words, meaning (vectors), the meaning of single words, names, and what stands
    around a turn (its neighbours, its session, facts drawn from it). Together they are the score; 0 is left out.
    """

    keyword: float = 0.0
    vector: float = 0.0
    sense: float = 0.0
    entity: float = 0.0
    context: float = 0.0


def shares(arms: Mapping[ArmName, ArmHit]) -> Shares:
    """Rounded to three digits."""
    found = {arm: rounded(hit.term) for arm, hit in arms.items()}
    return Shares(**found)


def rounded(score: float) -> float:
    return round(score, _DIGITS)


def reason(arms: Mapping[ArmName, ArmHit]) -> str:
    """What matched, that which adds most first: ``words: ada, vegan; near in meaning (0.62)``."""
    parts = []
    for arm, hit in sorted(arms.items(), key=lambda one: -one[1].term):
        if not rounded(hit.term):
            continue
        matched = ", ".join(hit.matched[:_WORDS])
        match arm:
            case "keyword":
                parts.append(f"words: {matched}" if matched else "words")
            case "vector":
                parts.append(f"near in meaning ({hit.score:.2f})")
            case "sense":
                parts.append(f"words of this meaning: {matched}" if matched else "words of this meaning")
            case "entity":
                parts.append(f"names: {matched}" if matched else "names")
            case "context":
                parts.append("what stands around it")
    return "; ".join(parts)
