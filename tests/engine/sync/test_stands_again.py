"""A fact that stands again because the person rejected an agent's correction does so on every device."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machines

SAID = "My daughter Ida is fond of liquorice."


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    made = Machines(tmp_path, str(tmp_path / "store"), monkeypatch)
    for name in ("laptop", "desktop"):
        made.add(name)
    yield made
    for memory in made.memories.values():
        memory.close()


@pytest.mark.parametrize("meanwhile", [False, True])
def test_it_stands_again_on_every_device(machines: Machines, meanwhile: bool) -> None:
    """``meanwhile``: the device of the agent goes on deciding about the fact before it hears of it."""
    laptop = machines.on("laptop")
    turn = laptop.record_turn("s1", "user", SAID)
    asyncio.run(laptop.consolidate("s1"))
    (fact,) = laptop.view.page("kind:fact")
    false = laptop.acting_as("agent:cursor").correct(fact.id, "Ida is not fond of liquorice")
    machines.sync()
    machines.on("desktop").forget(false.id)
    if meanwhile:
        machines.on("laptop").acting_as("agent:cursor").correct(false.id, "Ida eats liquorice")
    machines.sync(3)
    for name in machines.memories:
        memory = machines.on(name)
        assert memory.get(fact.id).active, name
        assert not memory.get(false.id).active
        assert not [one for one in memory.view.cautions([fact.id]).get(fact.id, ()) if one.how == "forgotten"]
        if not meanwhile:
            assert not memory.view.cautions([turn.id, fact.id])
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


def test_it_stands_again_where_an_export_is_read(machines: Machines, tmp_path: Path) -> None:
    laptop = machines.on("laptop")
    laptop.record_turn("s1", "user", SAID)
    asyncio.run(laptop.consolidate("s1"))
    (fact,) = laptop.view.page("kind:fact")
    false = laptop.acting_as("agent:cursor").correct(fact.id, "Ida is not fond of liquorice")
    machines.sync()
    desktop = machines.on("desktop")
    desktop.forget(false.id)
    desktop.files.export(tmp_path / "out.jsonl")
    machines.on("laptop").files.import_paths([tmp_path / "out.jsonl"])
    assert laptop.get(fact.id).active
    assert not laptop.get(false.id).active
