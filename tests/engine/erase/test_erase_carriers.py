"""Rows that carry the words of an erased text although nobody would look for them there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from erase_kit import FACT, KEPT, TURN, found_in_bytes, rows
from memtui import Memory
from memtui.engine.store import recalls

pytestmark = pytest.mark.usefixtures("near")


def test_what_an_agent_asked_in_a_session_goes_with_it(memory: Memory, home: Path) -> None:
    memory.record_turn("talk", "user", TURN)
    memory.remember(KEPT)
    with memory._operation("x", "Asked") as op:
        for session, query in (("talk", "the zxqvelvet illness"), ("other", "when to water"), (None, "fish")):
            recalls.add(op.connection, at=1, agent="a", session_id=session, query=query, memory_ids=[])
    plan = memory.plan_erase(session_id="talk")
    assert plan.counts["recall"] == 1
    assert memory.erase(plan).complete
    assert rows(home, "SELECT query FROM recalls") == [("when to water",), ("fish",)]
    memory.close()
    assert found_in_bytes(home.parent, ["zxqvelvet"]) == []
