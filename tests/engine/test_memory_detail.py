"""Everything about one memory in one record: what is around it, what took its place, when it fades."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import NotFoundError
from memtui.engine.records import Options

NOW = 1_750_000_000
DAY = 86_400
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, actor="agent:codex", clock=lambda: float(NOW), options=OPTIONS) as memory:
        yield memory


def test_around_a_turn_is_its_transcript_and_its_sessions_are_named(memory: Memory) -> None:
    turns = [memory.record_turn("s1", "user", f"turn {number}") for number in range(9)]
    detail = memory.view.detail(turns[4].id)
    assert [one.content for one in detail.around] == [f"turn {number}" for number in range(1, 8)]
    assert list(detail.sessions) == ["s1"]
    assert detail.fades is None and detail.successor is None


def test_around_a_fact_are_those_of_the_same_days_but_no_turns(place: Path, memory: Memory) -> None:
    facts = []
    for number, days in enumerate((20, 3, 1, 0)):
        with Memory.open(place, clock=lambda then=NOW - days * DAY: float(then), options=OPTIONS) as earlier:
            facts.append(earlier.remember(f"Ada has {number} cats"))
    memory.record_turn("s1", "user", "Ada came by")
    detail = memory.view.detail(facts[2].id)
    assert [one.id for one in detail.around] == [fact.id for fact in facts[1:]]


def test_it_fades_when_its_confidence_reaches_the_threshold(memory: Memory) -> None:
    detail = memory.view.detail(memory.remember("Ada lives in Lisbon", confidence=0.8).id)
    assert detail.threshold == OPTIONS.fade_threshold
    assert detail.fades is not None and detail.fades > NOW
    with Memory.open(memory.path, clock=lambda: float(detail.fades or 0), options=OPTIONS) as later:
        assert later.get(detail.memory.id).effective == pytest.approx(OPTIONS.fade_threshold, rel=1e-3)


def test_what_was_corrected_leads_to_the_latest_text(memory: Memory) -> None:
    first = memory.remember("Ada lives in Lisbon")
    second = memory.correct(first.id, "Ada lives in Porto")
    third = memory.correct(second.id, "Ada lives in Braga")
    detail = memory.view.detail(first.id)
    assert [one.id for one in detail.versions] == [first.id, second.id, third.id]
    assert detail.successor is not None and detail.successor.id == third.id
    successor = memory.view.successor(second.id)
    assert successor is not None and successor.id == third.id
    assert memory.view.detail(third.id).successor is None and memory.view.successor(third.id) is None


def test_a_memory_that_is_not_there_is_named(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.view.detail("fact_000000000000")
