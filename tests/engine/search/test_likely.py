"""The line between likely hits and the long tail."""

from __future__ import annotations

import pytest
from memtui.engine.records import Hit, MemoryRecord, RetrieverHit, RetrieverName
from memtui.engine.search.relevance_cutoff import count_likely


def hits(*told: tuple[float, RetrieverName]) -> list[Hit]:
    memory = MemoryRecord(
        rid=1, id="fact_1", kind="fact", content="x", event_time=0, created_at=0, confidence=1.0, effective=1.0,
        decay_rate=0.0, trust="user",
    )  # fmt: skip
    return [
        Hit(
            rank=rank,
            memory=memory,
            score=score,
            retrievers={retriever: RetrieverHit(rank=rank, score=score, term=score)},
        )
        for rank, (score, retriever) in enumerate(told, 1)
    ]


@pytest.mark.parametrize(
    ("told", "above"),
    [
        ([], 0),
        ([(1.0, "vector")], 1),  # the best one is the best there is
        ([(1.0, "keyword"), (0.5, "vector"), (0.49, "vector")], 2),
        ([(1.0, "keyword"), (0.49, "vector"), (0.26, "keyword"), (0.24, "keyword")], 3),
        ([(1.0, "keyword"), (0.4, "entity"), (0.4, "context"), (0.3, "vector")], 2),
        ([(0.8, "keyword"), (0.2, "entity")], 2),
    ],
)
def test_above_the_line_is_what_is_near_the_best_or_shares_a_word_or_a_name_and_is_not_far(
    told: list[tuple[float, RetrieverName]], above: int
) -> None:
    assert count_likely(hits(*told)) == above
