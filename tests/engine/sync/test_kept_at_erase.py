"""What the person kept when they erased something stays on every device: the others erase as they were shown it."""

from __future__ import annotations

import asyncio

from machines import Machines
from memtui import Memory
from memtui.engine.store.sql import scalar

SAID = "I am allergic to zxqwalnuts."


def _tell(machines: Machines) -> tuple[str, str]:
    """A turn, with a fact that was drawn from it alone, on every device: their ids."""
    laptop = machines.on("laptop")
    turn = laptop.record_turn("s1", "user", SAID)
    asyncio.run(laptop.consolidate("s1"))
    machines.sync()
    (fact,) = laptop.view.page("kind:fact")
    return turn.id, fact.id


def _facts(memory: Memory) -> list[str]:
    return [one.id for one in memory.view.page("kind:fact")]


def test_a_fact_that_is_kept_when_its_turn_is_erased_stays_everywhere(machines: Machines) -> None:
    turn, fact = _tell(machines)
    laptop = machines.on("laptop")
    assert laptop.files.plan_erase([turn]).memories == 2
    assert laptop.files.erase(laptop.files.plan_erase([turn], keep=[fact])).complete
    machines.sync(3)
    for name in machines.memories:
        assert _facts(machines.on(name)) == [fact], name
        assert not machines.on(name).view.page("kind:episode")
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def test_what_is_kept_beside_memories_stays_everywhere(machines: Machines) -> None:
    """A note of the scratchpad, a saved question, a name and a project, under whatever number another file has them."""
    machines.on("desktop").scratchpad.set("other", "It comes first here")
    machines.sync()
    laptop = machines.on("laptop")
    fact = laptop.remember("The zxqvelvet box is in the cellar of Zxqada Moss", project="zxqvelvet-shop")
    laptop.remember("The greenhouse is watered on Tuesdays", project="the zxqvelvet shop")
    laptop.scratchpad.set("ask", "whether zxqvelvet is expensive")
    laptop.questions.pin("Who sells zxqvelvet?")
    laptop.models.index_pending()
    machines.sync()
    for name in machines.memories:
        machines.on(name).models.index_pending()
    laptop = machines.on("laptop")
    plan = laptop.files.plan_erase([fact.id])
    keys = [one.key for one in plan.carriers if one.choice and one.outcome != "kept"]
    assert {key.partition(":")[0] for key in keys} == {"scratchpad", "question", "label", "entity"}, keys
    assert laptop.files.erase(laptop.files.plan_erase([fact.id], keep=keys)).complete
    machines.sync(3)
    for name in machines.memories:
        memory = machines.on(name)
        assert sorted(memory.scratchpad.keys()) == ["ask", "other"], name
        assert [one.query for one in memory.questions.pinned()] == ["Who sells zxqvelvet?"], name
        assert [one.project for one in memory.view.page("kind:fact")] == ["the zxqvelvet shop"], name
        with memory._core.connections.read() as connection:
            named = scalar(connection, "SELECT count(*) FROM entities WHERE canonical_name = 'Zxqada Moss'")
        assert named == 1, name
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def test_what_was_kept_once_goes_when_it_is_erased_itself(machines: Machines) -> None:
    turn, fact = _tell(machines)
    laptop = machines.on("laptop")
    laptop.files.erase(laptop.files.plan_erase([turn], keep=[fact]))
    laptop.files.erase(laptop.files.plan_erase([fact]))
    machines.sync(3)
    assert not any(_facts(machines.on(name)) for name in machines.memories)
    assert machines.hold(b"zxqwalnuts") == []
