"""Growth: what was there at each step, and nothing for an empty memory."""

from __future__ import annotations

from memtui import Memory
from memtui.engine.records import Options

DAY = 86_400


def test_growth_counts_what_was_active_at_each_step() -> None:
    now = [1_760_000_000.0]
    with Memory.open(":memory:", clock=lambda: now[0], options=Options(background=False)) as memory:
        assert memory.view.growth(4).facts == ()
        first = memory.remember("One")
        now[0] += 2 * DAY
        memory.remember("Two")
        memory.record_turn("s", "user", "Hello there")
        now[0] += DAY
        memory.forget(first.id)
        now[0] += DAY
        grown = memory.view.growth(4)
    assert grown.facts == (1, 2, 1, 1) or grown.facts == (1, 1, 2, 1)
    assert grown.turns[-1] == 1 and grown.turns[0] == 0
    assert grown.end - grown.start == 4 * DAY
