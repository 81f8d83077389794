"""When an entity was talked about, and where only enrichment found it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import Options
from memtui.engine.store import enrichments

MARCH, MAY = 1_741_608_000, 1_746_878_400  # 10 March, 10 May 2025


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def memory() -> Iterator[Memory]:
    now = [float(MARCH)]
    with Memory.open(":memory:", clock=lambda: now[0], options=Options(background=False)) as memory:
        memory.remember("Ada Lovelace likes tea")
        memory.remember("Ada Lovelace likes numbers")
        now[0] = MAY
        memory.remember("Countess Lovelace dislikes rain")
        memory.models.index_pending()
        yield memory


def test_memories_are_counted_by_month_those_of_merged_names_too(memory: Memory) -> None:
    ada = memory.entities.get("Ada Lovelace").entity
    assert memory.view.entity_months(ada.eid) == [(2025, 3, 2)]
    memory.entities.merge("Ada Lovelace", "Countess Lovelace")
    assert memory.view.entity_months(ada.eid) == [(2025, 3, 2), (2025, 5, 1)]


def test_what_is_in_the_trash_is_not_counted(memory: Memory) -> None:
    ada = memory.entities.get("Ada Lovelace")
    memory.forget(ada.memories[0].id)
    assert memory.view.entity_months(ada.entity.eid) == [(2025, 3, 1)]


def test_what_only_enrichment_found_is_known_by_its_entity(memory: Memory) -> None:
    ada = memory.entities.get("Ada Lovelace")
    assert memory.view.enriched_in(ada.entity.eid) == set()
    rid = ada.memories[0].rid
    with memory._core.connections.write() as connection:
        enrichments.mark_enriched(connection, rid, MAY, [ada.entity.eid])
    assert memory.view.enriched_in(ada.entity.eid) == {rid}
