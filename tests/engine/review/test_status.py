"""The count of the status is that of the cards which Review was asked."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import memories as rows
from memtui.engine.store import proposals

from clock import Clock

ASKED = {"conflict", "devices", "drawn", "change_request", "quarantined"}


def agree(memory: Memory) -> int:
    shown = sum(item.kind in ASKED for item in memory.review.items())
    assert memory.view.status().review == shown
    return shown


def test_each_card_counts_once_and_what_is_gone_or_put_off_does_not(clock: Clock) -> None:
    with Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off")) as memory:
        assert agree(memory) == 0
        home = memory.remember("I live in Bergen")
        memory.record_turn("s", "user", "We live in Oslo now.")
        clock.now += 3_600
        asyncio.run(memory.consolidate())
        assert agree(memory) == 1
        memory.actor = "agent:bot"
        memory.review.request_change("forget", home.id, why="old")  # on the card of the contradiction already
        agree(memory)
        tea = memory.remember("Ada drinks tea")
        memory.review.request_change("forget", tea.id)
        agree(memory)
        memory.actor = "person"
        with memory._core.change("test", "Devices") as op:
            for number, payload in enumerate(
                (
                    {"memories": [tea.id], "reason": "r"},
                    {"memories": [tea.id], "memory": tea.id, "reason": "r"},
                    {"memories": ["fact_gone"], "memory": "fact_gone", "reason": "r"},
                )
            ):
                proposals.ask(op.connection, f"prop_{number}", proposals.DEVICES, payload, int(clock.now))
        agree(memory)
        fact = memory.remember("Works at Initech")
        week = memory.observations.remember(insights=["Initech pays late"])[0]
        with memory._core.change("test", "Linked") as op:
            rows.update(op.connection, week.rid, source_ids=[fact.id])
        memory.correct(fact.id, "Works at Globex")
        before = agree(memory)
        [card] = [item for item in memory.review.items() if item.kind == "drawn"]
        memory.review.decide(card, "snooze", keep=week.id)
        assert agree(memory) == before - 1
        memory.forget(tea.id)
        agree(memory)
        memory.forget(home.id)
        agree(memory)


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)
