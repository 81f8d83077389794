"""One list from several: pure functions over what the retrievers found.

A hit's score is the sum of its terms, one for each retriever that found it.

    rrf     term = weight / (k + rank)          how good an retriever found it does not matter, only its place
    score   term = weight * share               share: how much of the question it answers, 0 to about 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtui.engine.records import Profile, Record, RetrieverHit, RetrieverName

RETRIEVERS: tuple[RetrieverName, ...] = ("keyword", "vector", "word_vector", "entity", "context")


_NAMING: tuple[RetrieverName, ...] = ("keyword", "entity")


class RetrieverCandidate(Record):
    """A memory in one retriever's list: the raw score, its share, and what matched.

    ``cosines``: in the word vector retriever, the best one of each word of the question. ``stands``: its words are so near
    in meaning that it answers by itself.
    """

    rid: int
    score: float
    share: float
    matched: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()
    stands: bool = False


class FusedCandidate(Record):
    rid: int
    score: float
    retrievers: dict[RetrieverName, RetrieverHit]


def retriever_weight(profile: Profile, retriever: RetrieverName) -> float:
    """The context retriever brings its weights along (``neighbours``, ``session``, ``facts``).

    It and the word vector retriever look at what others found, and take no part in rrf.
    """
    match retriever:
        case "keyword":
            return profile.keyword
        case "vector":
            return profile.vector
        case "entity":
            return profile.entity
        case "word_vector":
            return profile.word_vector if profile.fusion == "score" else 0.0
        case _:
            lent = profile.neighbours or profile.session or profile.facts
            return 1.0 if profile.fusion == "score" and lent else 0.0


def weighted_totals(
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]], profile: Profile
) -> dict[int, float]:
    """The sum of weight * share for each candidate."""
    found: dict[int, float] = {}
    for retriever, candidates in lists.items():
        part = retriever_weight(profile, retriever)
        for one in candidates:
            found[one.rid] = found.get(one.rid, 0.0) + part * one.share
    return found


def candidates_with_own_evidence(
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]], profile: Profile
) -> set[int]:
    """What answers by itself: it has a word or a name of the question, or a meaning as near as the floor asks for,
    as a whole or word by word.
    """
    found = {one.rid for one in lists.get("vector", ()) if one.score >= profile.floor}
    found.update(one.rid for one in lists.get("word_vector", ()) if one.stands)
    return found.union(one.rid for retriever in _NAMING for one in lists.get(retriever, ()))


def fuse_lists(
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]], profile: Profile
) -> list[FusedCandidate]:
    """All candidates, best first, each once; newer ones (higher rid) first among equals.

    Each list is in its retriever's order and has a memory at most once. Retrievers without weight give nothing.
    """
    retrievers: dict[int, dict[RetrieverName, RetrieverHit]] = {}
    for retriever in RETRIEVERS:
        share = retriever_weight(profile, retriever)
        if share == 0.0:
            continue
        for rank, candidate in enumerate(lists.get(retriever, ()), 1):
            term = share / (profile.k + rank) if profile.fusion == "rrf" else share * candidate.share
            retrievers.setdefault(candidate.rid, {})[retriever] = RetrieverHit(
                rank=rank, score=candidate.score, term=term, matched=candidate.matched
            )
    fused = [
        FusedCandidate(rid=rid, score=sum(hit.term for hit in found.values()), retrievers=found)
        for rid, found in retrievers.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, -hit.rid))
