"""Devices are told apart where they are named, also if their machines have one name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machines import Machines
from memtui import Memory
from memtui.engine.records import device_name
from memtui.engine.store import stamps
from memtui.present.decision import other_devices

FACT = "The spare key is with Nadia"


def _id(memory: Memory) -> str:
    return memory.files.device()


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Machines]]:
    """Devices by the names of their machines."""
    made: list[Machines] = []

    def make(**hosts: str) -> Machines:
        machines = Machines(tmp_path, str(tmp_path / "store"), monkeypatch)
        made.append(machines)
        for name, host in hosts.items():
            monkeypatch.setattr(stamps, "_host_name", lambda host=host: host)
            machines.add(name)
        return machines

    (tmp_path / "store").mkdir()
    yield make
    for machines in made:
        for memory in machines.memories.values():
            memory.close()


def _disagree(machines: Machines, first: str, second: str) -> str:
    """A fact that one device forgets and another confirms; returns its id."""
    fact = machines.on(first).remember(FACT)
    machines.sync()
    machines.on(first).forget(fact.id)
    machines.on(second).correct(fact.id, "The spare key is with Ole")
    machines.sync()
    return fact.id


def test_two_devices_of_one_name_are_called_by_their_ids(devices: Callable[..., Machines]) -> None:
    machines = devices(one="vm", other="vm")
    one, other = machines.on("one"), machines.on("other")
    assert device_name(_id(one)) == device_name(_id(other)) == "vm"
    fact = _disagree(machines, "one", "other")
    reasons = {
        card.reason for name in ("one", "other") for card in machines.on(name).review.items(kinds=["devices"])
    }
    assert len(reasons) == 1
    (reason,) = reasons
    assert f"on {_id(one)}" in reason and f"on {_id(other)}" in reason
    label = next(op.label for op in machines.on("one").view.operations() if op.kind == "sync")
    assert label.startswith(f"Synced from {_id(other)}: ")
    elsewhere = {
        name: "".join(text for line in other_devices(memory.view.detail(fact), 0) for text, _ in line.line)
        for name, memory in machines.memories.items()
    }
    assert f" on {_id(other)}, " in elsewhere["one"] or f" on {_id(one)}, " in elsewhere["other"]


def test_a_third_device_tells_two_of_one_name_apart(devices: Callable[..., Machines]) -> None:
    machines = devices(one="vm", other="vm", third="laptop")
    other = machines.on("other")
    machines.on("one").remember("The boat is called Wren")
    _disagree(machines, "third", "other")
    for name in ("one", "other", "third"):
        (card,) = machines.on(name).review.items(kinds=["devices"])
        assert " on laptop" in card.reason and "laptop-" not in card.reason, name
        assert f" on {_id(other)}" in card.reason, name


def test_a_device_whose_name_no_other_has_is_called_by_it(devices: Callable[..., Machines]) -> None:
    machines = devices(one="vm", other="laptop")
    _disagree(machines, "one", "other")
    (card,) = machines.on("one").review.items(kinds=["devices"])
    assert " on laptop" in card.reason and " on vm" in card.reason
    assert "vm-" not in card.reason and "laptop-" not in card.reason
