"""One list from several: pure functions over what the arms found.

A hit's score is the sum of its terms, one for each arm that found it.

    rrf     term = weight / (k + rank)          how good an arm found it does not matter, only its place
    score   term = weight * share               share: how much of the question it answers, 0 to about 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtui.engine.records import ArmHit, ArmName, Profile, Record

ARMS: tuple[ArmName, ...] = ("keyword", "vector", "sense", "entity", "context")


_NAMING: tuple[ArmName, ...] = ("keyword", "entity")


class Candidate(Record):
    """A memory in one arm's list: the raw score, its share, and what matched."""

    rid: int
    score: float
    share: float
    matched: tuple[str, ...] = ()


class Fused(Record):
    rid: int
    score: float
    arms: dict[ArmName, ArmHit]


def weight(profile: Profile, arm: ArmName) -> float:
    """The context arm brings its weights along (``neighbours``, ``session``, ``facts``).

    It and the sense arm look at what others found, and take no part in rrf.
    """
    match arm:
        case "keyword":
            return profile.keyword
        case "vector":
            return profile.vector
        case "entity":
            return profile.entity
        case "sense":
            return profile.sense if profile.fusion == "score" else 0.0
        case _:
            lent = profile.neighbours or profile.session or profile.facts
            return 1.0 if profile.fusion == "score" and lent else 0.0


def totals(lists: Mapping[ArmName, Sequence[Candidate]], profile: Profile) -> dict[int, float]:
    """The sum of weight * share for each candidate."""
    found: dict[int, float] = {}
    for arm, candidates in lists.items():
        part = weight(profile, arm)
        for one in candidates:
            found[one.rid] = found.get(one.rid, 0.0) + part * one.share
    return found


def standing(lists: Mapping[ArmName, Sequence[Candidate]], profile: Profile) -> set[int]:
    """What answers by itself: it has a word or a name of the question, or a meaning as near as the floor asks for."""
    found = {one.rid for one in lists.get("vector", ()) if one.score >= profile.floor}
    return found.union(one.rid for arm in _NAMING for one in lists.get(arm, ()))


def fuse(lists: Mapping[ArmName, Sequence[Candidate]], profile: Profile) -> list[Fused]:
    """All candidates, best first, each once; newer ones (higher rid) first among equals.

    Each list is in its arm's order and has a memory at most once. Arms without weight give nothing.
    """
    arms: dict[int, dict[ArmName, ArmHit]] = {}
    for arm in ARMS:
        share = weight(profile, arm)
        if share == 0.0:
            continue
        for rank, candidate in enumerate(lists.get(arm, ()), 1):
            term = share / (profile.k + rank) if profile.fusion == "rrf" else share * candidate.share
            arms.setdefault(candidate.rid, {})[arm] = ArmHit(
                rank=rank, score=candidate.score, term=term, matched=candidate.matched
            )
    fused = [
        Fused(rid=rid, score=sum(hit.term for hit in found.values()), arms=found)
        for rid, found in arms.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, -hit.rid))
