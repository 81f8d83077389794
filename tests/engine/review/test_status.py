"""The count of the status is that of the cards which Review was asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import memories as rows
from memtui.engine.store import proposals

from clock import Clock

ASKED = {"conflict", "choice", "devices", "dependents", "change_request", "quarantined"}


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
        one = agree(memory)
        memory.review.request_change("correct", tea.id, text="Ada drinks green tea")
        memory.review.request_change("correct", tea.id, text="Ada drinks white tea")
        assert agree(memory) == one + 2  # each is decided by itself
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
        [card] = [item for item in memory.review.items() if item.kind == "dependents"]
        memory.review.decide(card, "snooze", keep=week.id)
        assert agree(memory) == before - 1
        memory.forget(tea.id)
        agree(memory)
        memory.forget(home.id)
        agree(memory)


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


def test_hundreds_of_conflicts_are_all_listed_counted_and_told(tmp_path: Path) -> None:
    """Two devices that corrected everything differently."""
    many = 230
    options = Options(background=False, embedder="off", allow_unsafe_fs=True)
    with (
        Memory.open(tmp_path / "a.db", options=options) as laptop,
        Memory.open(tmp_path / "b.db", options=options) as desktop,
    ):
        for number in range(many):
            laptop.remember(f"Shelf {number} has the plates")
        laptop.files.export(tmp_path / "a.jsonl")
        desktop.files.import_paths([tmp_path / "a.jsonl"])
        for device, thing in ((laptop, "cups"), (desktop, "pans")):
            for fact in device.view.page("kind:fact", limit=many):
                device.correct(fact.id, fact.content.replace("plates", thing))
        laptop.files.export(tmp_path / "b.jsonl")
        desktop.files.import_paths([tmp_path / "b.jsonl"])
        assert agree(desktop) == many
        inbox = desktop.review.inbox(all=True)
        assert sum(item.kind == "devices" for item in inbox.items) == many
        assert desktop.review.inbox().later + len(desktop.review.inbox().items) == len(inbox.items)
        facts = [one.id for one in desktop.view.page("kind:fact", limit=2 * many)]
        assert {how for of in desktop.view.cautions(facts).values() for how in [of[-1].how]} == {"disputed"}
        assert len(desktop.view.cautions(facts)) == 2 * many
