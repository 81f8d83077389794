"""Why a hit stands where it stands, in words: the same for the app and the command line."""

from __future__ import annotations

from memtui.engine.records import Explanation, Hit, MemoryRecord, RetrieverHit, RetrieverReport
from memtui.present.hit import (
    explanation_lines,
    rank_text,
    reason_above,
    reason_absent,
    retriever_outcome,
    share_text,
)

ADA = MemoryRecord(1, "fact_1", "fact", "Ada lives in Porto", 0, 0, 0.9, 0.9, 0.1, "user")


def why(**fields: object) -> list[tuple[str, str]]:
    known: dict[str, object] = {
        "query": "Ada", "memory": ADA, "rank": 3, "score": 0.4, "limit": 10, "retrievers": {},
    }  # fmt: skip
    lines = Explanation(**(known | fields))  # type: ignore[arg-type]
    return [(label, "".join(text for text, _ in line)) for label, line in explanation_lines(lines, 100)]


def test_an_explanation_says_where_it_is_or_what_keeps_it_out() -> None:
    assert why() == [("here", "It is among the hits: number 3.")]
    assert why(rank=None, excluded=("the filter", "the Trash"), remedies=("search without it",)) == [
        ("not here", "the filter"), ("", "the Trash"), ("remedy", "search without it"),
    ]  # fmt: skip


def test_what_stands_below_the_limit_is_no_hit_of_an_agent() -> None:
    (here, agents) = why(rank=14, below=True)
    assert here == ("here", "It is in the list: number 14.")
    assert agents[1].startswith("An agent that searches gets the first 10 and not this one")
    assert why(rank=140, below=True)[0] == ("not here", "It is number 140, and the list ends with 100.")


def test_an_arm_says_how_it_fared() -> None:
    report = RetrieverReport(retriever="vector", state="answered", found=9, milliseconds=1.25)
    assert retriever_outcome(report) == "9 found in 1.2 ms"
    assert reason_absent(report) == "not among the 9 memories it found"
    assert reason_absent(None) == "was not asked"
    assert retriever_outcome(RetrieverReport(retriever="vector", state="off")) == "off: its weight is 0"
    hit = RetrieverHit(rank=2, score=0.71, term=0.25)
    assert (rank_text(hit, report), rank_text(hit, report, short=True), rank_text(hit, None)) == (
        "#2 of 9",
        "#2/9",
        "#2",
    )
    assert (share_text(hit, 1.0), share_text(RetrieverHit(rank=2, score=0.71, term=0.0), 1.0)) == (
        ".250",
        "0",
    )


def test_the_lead_over_the_next_hit_is_told_by_arm() -> None:
    first = Hit(
        rank=1, memory=ADA, score=0.7, retrievers={"keyword": RetrieverHit(rank=1, score=6.0, term=0.7)}
    )
    second = Hit(
        rank=2, memory=ADA, score=0.5, retrievers={"vector": RetrieverHit(rank=1, score=0.8, term=0.5)}
    )
    lines = "".join(text for text, _ in reason_above(first, second, 0.7))
    assert lines == "above #2 by .200: keyword +.700, vector −.500"
    assert "equal" in "".join(text for text, _ in reason_above(second, second, 0.7))
