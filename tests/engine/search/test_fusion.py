"""Fusion is arithmetic: terms add up, better is never worse, the order is total."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.records import Profile, RetrieverName
from memtui.engine.search.fusion import (
    RETRIEVERS,
    FusedCandidate,
    RetrieverCandidate,
    fuse_lists,
    retriever_weight,
)
from memtui.engine.search.profiles import RRF

Lists = dict[RetrieverName, list[RetrieverCandidate]]

shares = st.floats(0.0, 2.0)
weights = st.floats(0.0, 3.0)
profiles = st.builds(
    Profile,
    fusion=st.sampled_from(["rrf", "score"]),
    k=st.integers(1, 100),
    keyword=weights,
    vector=weights,
    entity=weights,
)


@st.composite
def found_by_arms(draw: st.DrawFn) -> Lists:
    lists: Lists = {}
    for retriever in RETRIEVERS:
        rids = draw(st.lists(st.integers(1, 12), unique=True, max_size=8))
        values = sorted((draw(shares) for _ in rids), reverse=True)
        lists[retriever] = [
            RetrieverCandidate(rid=rid, score=value, share=value)
            for rid, value in zip(rids, values, strict=True)
        ]
    return lists


def by_rid(fused: list[FusedCandidate]) -> dict[int, FusedCandidate]:
    return {one.rid: one for one in fused}


@given(found_by_arms(), profiles)
def test_the_terms_add_up_to_the_score(lists: Lists, profile: Profile) -> None:
    for one in fuse_lists(lists, profile):
        assert one.score == pytest.approx(sum(hit.term for hit in one.retrievers.values()), abs=1e-9)
        assert all(hit.term >= 0.0 for hit in one.retrievers.values())


@given(found_by_arms(), profiles)
def test_everything_found_by_an_arm_with_weight_is_there_once_and_in_order(
    lists: Lists, profile: Profile
) -> None:
    fused = fuse_lists(lists, profile)
    expected = {
        candidate.rid
        for retriever in RETRIEVERS
        if retriever_weight(profile, retriever)
        for candidate in lists[retriever]
    }
    assert {one.rid for one in fused} == expected
    assert len(fused) == len(expected)
    keys = [(-one.score, -one.rid) for one in fused]
    assert keys == sorted(keys)


@given(found_by_arms(), profiles, st.randoms())
def test_the_order_of_the_arms_does_not_matter(lists: Lists, profile: Profile, chance: object) -> None:
    shuffled = list(lists.items())
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse_lists(dict(shuffled), profile) == fuse_lists(lists, profile)


@given(found_by_arms(), profiles, st.sampled_from(RETRIEVERS), st.data())
def test_a_higher_share_never_lowers_a_score(
    lists: Lists, profile: Profile, retriever: RetrieverName, data: st.DataObject
) -> None:
    if not lists[retriever]:
        return
    place = data.draw(st.integers(0, len(lists[retriever]) - 1))
    better = list(lists[retriever])
    one = better.pop(place)
    risen = RetrieverCandidate(rid=one.rid, score=one.score, share=one.share + data.draw(shares))
    better.insert(0, risen)
    if profile.fusion == "score":
        better = [*lists[retriever][:place], risen, *lists[retriever][place + 1 :]]
    before, after = (
        by_rid(fuse_lists(lists, profile)),
        by_rid(fuse_lists({**lists, retriever: better}, profile)),
    )
    if one.rid in before:
        assert after[one.rid].score >= before[one.rid].score


def test_rrf_is_the_specified_sum() -> None:
    lists: Lists = {
        "keyword": [
            RetrieverCandidate(rid=7, score=9.0, share=1.0),
            RetrieverCandidate(rid=8, score=1.0, share=0.1),
        ],
        "vector": [RetrieverCandidate(rid=8, score=0.9, share=0.9)],
        "entity": [
            RetrieverCandidate(rid=8, score=1.0, share=1.0),
            RetrieverCandidate(rid=7, score=1.0, share=1.0),
        ],
        "context": [RetrieverCandidate(rid=9, score=1.0, share=1.0)],
    }
    fused = fuse_lists(lists, RRF)
    assert [(one.rid, one.score) for one in fused] == [
        (8, pytest.approx(1 / 62 + 1 / 61 + 1 / 61)),
        (7, pytest.approx(1 / 61 + 1 / 62)),
    ]
    assert fused[0].retrievers["keyword"].rank == 2
    assert fused[0].retrievers["keyword"].score == 1.0


def test_an_arm_without_weight_brings_nothing_in() -> None:
    lists: Lists = {"vector": [RetrieverCandidate(rid=1, score=0.9, share=0.9)]}
    assert fuse_lists(lists, Profile(vector=0.0)) == []


def test_context_counts_only_where_scores_are_fused() -> None:
    lists: Lists = {"context": [RetrieverCandidate(rid=1, score=0.5, share=0.5)]}
    assert [one.score for one in fuse_lists(lists, Profile())] == [0.5]
    nothing = {"neighbours": 0.0, "session": 0.0, "facts": 0.0}
    assert fuse_lists(lists, RRF) == fuse_lists(lists, Profile(**nothing)) == []
    for lends in nothing:
        assert [one.score for one in fuse_lists(lists, Profile(**{**nothing, lends: 0.1}))] == [0.5]
