"""Two devices that merge the same two names the other way round, at once, end with one of the merges.

Must fail on: a name that is merged into itself, which no list shows.
"""

from __future__ import annotations

import pytest
from machines import Machines
from memtui import Memory


def _names(memory: Memory) -> dict[str, str]:
    """Each name, and the one that it was merged into."""
    with memory._core.connections.read() as connection:
        rows = connection.execute(
            "SELECT e.canonical_name, coalesce(t.canonical_name, '') FROM entities e "
            "LEFT JOIN entities t ON t.eid = e.merged_into"
        ).fetchall()
    return {str(name): str(into) for name, into in rows}


@pytest.mark.parametrize(
    "actors", [("person", "person"), ("agent:codex", "person"), ("person", "agent:codex")]
)
@pytest.mark.parametrize("order", [("laptop", "server"), ("server", "laptop")])
def test_of_two_merges_the_other_way_round_one_holds_everywhere(
    machines: Machines, actors: tuple[str, str], order: tuple[str, str]
) -> None:
    machines.on("laptop").remember("The user met Dora Pell and Berta Moss in Oslo")
    machines.sync()
    for name in machines.memories:
        machines.on(name).models.index_pending()
    machines.sync()
    laptop, server = (
        machines.on(name).acting_as(actor) for name, actor in zip(("laptop", "server"), actors, strict=True)
    )
    laptop.entities.merge("Dora Pell", "Berta Moss")
    server.entities.merge("Berta Moss", "Dora Pell")
    for name in order:
        machines.on(name).sync.run()
    machines.sync(3)
    names = [_names(memory) for memory in machines.memories.values()]
    assert all(one == names[0] for one in names)
    into = {name: names[0][name] for name in ("Dora Pell", "Berta Moss")}
    either = ({"Dora Pell": "", "Berta Moss": "Dora Pell"}, {"Dora Pell": "Berta Moss", "Berta Moss": ""})
    assert into in either
    if actors != ("person", "person"):
        assert into == either[actors[1] == "person"]
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1
