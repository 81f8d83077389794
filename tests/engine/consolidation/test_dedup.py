"""Which known facts a statement is compared with, and how the statements of one session become one each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation.compare import duplicates
from memtui.engine.consolidation.extract.protocol import Draft
from memtui.engine.records import Options

NOW = 1_750_000_000


@pytest.fixture
def memory() -> Iterator[Memory]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=lambda: NOW, options=options) as opened:
        yield opened


def test_what_may_be_known_is_found_behind_what_may_not(memory: Memory) -> None:
    seen = memory.remember(
        "The ferry to the island of Hitra leaves at nine, and it has a bar on the lower deck"
    )
    for number in range(20):
        memory.remember(f"Ferry to Hitra {number}")
    with memory._core.connections.read() as connection:
        found = duplicates.find_candidates(
            connection, "Ferry to Hitra", NOW, within=lambda rids: {seen.rid} & set(rids)
        )
    assert [one.id for one in found] == [seen.id]


def test_the_text_that_is_remembered_counts_not_its_twin_in_the_trash(memory: Memory) -> None:
    first = memory.remember("Likes tea with milk")
    memory.forget(first.id)
    memory.forget(memory.remember("Likes tea with milk").id)
    memory.restore(first.id)
    with memory._core.connections.read() as connection:
        same = duplicates.same_text(connection, "likes tea  with milk", "fact", NOW)
    assert same is not None and same.id == first.id


def test_a_word_of_many_facts_is_looked_for_when_there_is_no_rarer_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        memory.remember(f"Ferry {number}")
    monkeypatch.setattr(duplicates, "_MOST_SCORED", 3)
    with memory._core.connections.read() as connection:
        assert len(duplicates.find_candidates(connection, "The ferry", NOW)) == 4


def test_statements_of_one_session_are_joined_only_where_they_are_the_same_or_corrected() -> None:
    def made(content: str, source: str, **other: object) -> Draft:
        return Draft(**({"kind": "fact", "content": content, "sources": (source,)} | other))  # type: ignore[arg-type]

    def replaced(new: str, old: str) -> str:
        return "another value"

    first = made("Standup is at ten", "a")
    for second, kept in (
        (made("Standup is at ten", "b", kind="observation", category="insight"), 2),
        (made("Standup is at eleven", "b"), 2),
        (made("Standup is at eleven", "b", correcting=True), 1),
        (made("Standup is at ten.", "b"), 1),
    ):
        assert len(duplicates.merge_drafts([first, second], replaced)) == kept, second
    (joined,) = duplicates.merge_drafts([first, made("Standup is at eleven", "b", correcting=True)], replaced)
    assert (joined.content, joined.sources) == ("Standup is at eleven", ("a", "b"))
