"""Whom an entity is seen with: the counts, their order, what narrows them, and that very many cost no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import FilterError, InputError, NotFoundError
from memtui.engine.overview import neighbourhood
from memtui.engine.records import Neighbourhood, Options

NOW = 1_772_618_400.0
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as opened:
        yield opened


@pytest.fixture
def earlier(place: Path, memory: Memory) -> Iterator[Memory]:
    """The same memory before the turns of ``told``."""
    with Memory.open(place, clock=lambda: 500.0, options=OPTIONS) as opened:
        yield opened


def told(memory: Memory, *texts: str, project: str | None = None) -> None:
    for number, text in enumerate(texts):
        memory.record_turn("talk", "user", text, event_time=1_000 + number, project=project)


def counts(found: Neighbourhood) -> list[tuple[str, int]]:
    return [(one.entity.canonical_name, one.together) for one in found.companions]


def test_those_of_the_most_memories_come_first_each_with_the_latest_of_them(
    memory: Memory, earlier: Memory
) -> None:
    told(memory, "Then Ada met Bob", "Then Ada met Bob in Lisbon", "Then Ada slept", "Then Carol slept")
    fact = earlier.remember("Ada taught Bob to sail")
    found = memory.view.neighbourhood("Ada")
    assert (found.entity.canonical_name, found.memories, found.others, found.partly) == ("Ada", 4, 0, False)
    assert counts(found) == [("Bob", 3), ("Lisbon", 1)]
    bob, lisbon = found.companions
    assert (bob.last, lisbon.last) == (1_001, 1_001)
    assert bob.latest is not None and bob.latest.id == fact.id
    assert lisbon.latest is not None and lisbon.latest.content == "Then Ada met Bob in Lisbon"


def test_it_is_the_same_from_the_other_side(memory: Memory) -> None:
    told(
        memory,
        "Then Ada met Bob",
        "Then Ada met Bob in Lisbon",
        "Then Carol met Ada and Bob",
        "Then Carol met Bob",
    )
    names = [one.canonical_name for one in memory.entities.page()]
    ties = {
        (name, other): number for name in names for other, number in counts(memory.view.neighbourhood(name))
    }
    assert len(ties) == 10
    assert ties == {(other, name): number for (name, other), number in ties.items()}


def test_it_is_bounded_and_says_how_many_more_there_are(memory: Memory) -> None:
    told(memory, "Then Ada met Bob and Carol in Lisbon", "Then Ada met Bob")
    found = memory.view.neighbourhood("Ada", limit=1)
    assert (counts(found), found.others) == ([("Bob", 2)], 2)
    assert memory.entities.get("Ada").others == 0
    assert memory.view.neighbourhood("Ada", limit=0).companions == ()
    with pytest.raises(InputError):
        memory.view.neighbourhood("Ada", limit=10_000)


def test_of_very_many_memories_the_latest_are_looked_at(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(memory, "Then Ada met Bob", "Then Ada met Carol", "Then Ada met Carol in Lisbon")
    short = neighbourhood._SHARED.replace("LIMIT 5000", "LIMIT 2")
    monkeypatch.setattr(neighbourhood, "_SHARED", short)
    monkeypatch.setattr(neighbourhood, "LOOKED_THROUGH", 2)
    found = memory.view.neighbourhood("Ada")
    assert (counts(found), found.partly) == ([("Carol", 2), ("Lisbon", 1)], True)


def test_a_filter_and_a_type_narrow_it(memory: Memory) -> None:
    told(memory, "Then Ada met Bob in Lisbon")
    told(memory, "Then Ada met Carol", project="boat")
    memory.remember("Ada sails with Bob", tags=["private"])
    assert counts(memory.view.neighbourhood("Ada", type="person")) == [("Bob", 2), ("Carol", 1)]
    inside = memory.view.neighbourhood("Ada", "project:boat")
    assert (counts(inside), inside.memories) == ([("Carol", 1)], 1)
    open_ones = memory.view.neighbourhood("Ada", "-tag:private")
    assert ("Bob", 1) in counts(open_ones)
    assert all(one.latest is None or "sails" not in one.latest.content for one in open_ones.companions)
    with pytest.raises(FilterError):
        memory.view.neighbourhood("Ada", "kind:")
    with pytest.raises(InputError):
        memory.view.neighbourhood("Ada", type="ghost")
    with pytest.raises(NotFoundError):
        memory.view.neighbourhood("Nobody")


def test_what_was_forgotten_merged_or_is_no_entity_counts_no_more(memory: Memory) -> None:
    told(memory, "Then Ada met Bob", "Then Ada met Robert", "Then Ada and Bob met Robert")
    assert dict(counts(memory.view.neighbourhood("Ada"))) == {"Bob": 2, "Robert": 2}
    memory.entities.merge("Robert", "Bob")
    assert counts(memory.view.neighbourhood("Ada")) == [("Robert", 3)]
    assert counts(memory.view.neighbourhood("Bob")) == [("Ada", 3)]
    memory.forget(memory.view.page("met Bob kind:episode")[0].id)
    [robert] = memory.view.neighbourhood("Ada").companions
    assert robert.together == 2
    memory.entities.not_an_entity("Robert")
    assert memory.view.neighbourhood("Ada").companions == ()


def test_a_time_narrows_it_also_before_the_latest_memories(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(memory, "Then Ada met Bob in Lisbon")  # in January 1970
    for number in range(4):
        memory.record_turn("later", "user", f"Then Ada met Carol {number}", event_time=1_700_000_000 + number)
    short = neighbourhood._SHARED.replace("LIMIT 5000", "LIMIT 4")
    monkeypatch.setattr(neighbourhood, "_SHARED", short)
    monkeypatch.setattr(neighbourhood, "LOOKED_THROUGH", 4)
    early = memory.view.neighbourhood("Ada", on="1970")
    assert counts(early) == [("Bob", 1), ("Lisbon", 1)] and (early.memories, early.partly) == (1, False)
    assert counts(memory.view.neighbourhood("Ada", on="2023-11..")) == [("Carol", 4)]
    nobody = memory.view.neighbourhood("Ada", on="2020..2021")
    assert (counts(nobody), nobody.memories) == ([], 0)
    with pytest.raises(FilterError):
        memory.view.neighbourhood("Ada", on="spring")
