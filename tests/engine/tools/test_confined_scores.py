"""What a confined agent is told of scores and ranks is worked out from what it may see, however much that is."""

from __future__ import annotations

import pytest
from door_kit import NOW, beside
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import subset_statistics
from memtui.engine.tools.registry import run_tool

from clock import Clock

QUIET = Options(background=False, embedder="off")
SCOPES = [{"project": "work"}, {"filter": "project:work"}, {"filter": "-project:home"}]


def _store(*, hidden: bool) -> Memory:
    clock = Clock(NOW)
    store = Memory.open(":memory:", clock=clock, options=QUIET)
    for number in range(12):
        clock.now += 60
        store.observations.remember(
            findings=[f"The rate limit of service {number} is {number}00"], project="work"
        )
        store.remember(f"Service {number} is run by team {number}", project="work")
        if hidden:
            store.record_turn("talk", "user", f"biopsy limit team service {number} " * 4, project="home")
    if hidden:
        store.observations.remember(findings=["The biopsy of the rate limit team"], project="home")
    return store


@pytest.mark.parametrize("few", [5_000, 3], ids=["counted", "many"])
@pytest.mark.parametrize("scope", SCOPES)
def test_hidden_words_change_no_score(
    scope: dict[str, str], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset_statistics, "FEW", few)
    monkeypatch.setattr(
        subset_statistics, "MOST_POSTINGS", 0 if few == 3 else subset_statistics.MOST_POSTINGS
    )
    with _store(hidden=True) as whole, _store(hidden=False) as part:
        for query in ("rate limit biopsy", "service 7", "team limit service"):
            answer = []
            for store in (whole, part):
                agent = beside(store, **scope)
                hits = agent.search(query, limit=50).hits
                found = run_tool(agent, "recall_observations", {"query": query, "limit": 50})
                scores = [one.score for one in found.value.observations]  # type: ignore[union-attr]
                block = run_tool(agent, "get_context", {"prompt": query, "limit": 50}).value
                answer.append(([(hit.memory.content, hit.score) for hit in hits], scores, block.text))  # type: ignore[union-attr]
            assert answer[0] == answer[1], query
            assert answer[0][0]
