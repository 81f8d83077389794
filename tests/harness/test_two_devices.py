"""Two devices decide at random and exchange exports: both end alike, or a card asks about what differs.

Each history starts from the same facts and has some steps on either device, exports across (some of them twice, some undone),
and at the end everything goes both ways. Then nothing that was decided is lost silently, what was erased stays erased, and the
same file again adds nothing.

Must fail on: an import that keeps what is here and asks nobody where both decided.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from device_story import FACTS, Device
from memtui import Memory
from memtui.engine import reconcile
from memtui.engine.records import Stamp
from memtui.engine.store import proposals, stamps
from msgspec.structs import replace

pytestmark = pytest.mark.corrections

HISTORIES = 300


class ExportingDevice(Device):
    exports = 0

    def export(self) -> Path:
        self.exports += 1
        path = self.place / f"{self.name}-{self.exports}.jsonl"
        self.memory.files.export(path)
        return path


@contextmanager
def opened(
    place: Path, dice: random.Random, *clocks: int
) -> Iterator[tuple[ExportingDevice, ExportingDevice]]:
    with ExitStack() as stack:
        laptop, desktop = (ExportingDevice(place, name, dice, clocks) for name in ("laptop", "desktop"))
        for device in (laptop, desktop):
            stack.callback(device.memory.close)
        yield laptop, desktop


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begin(tmp_path_factory.mktemp("beginning"))


def begin(place: Path) -> Path:
    """The two files with which every history begins; each history copies them, and a copy is a device of its own."""
    with opened(place, random.Random(0), 0) as (laptop, desktop):
        for fact in FACTS:
            laptop.memory.remember(fact)
        laptop.memory.models.index_pending()
        desktop.memory.files.import_paths([laptop.export()])
    return place


@contextmanager
def two(
    beginning: Path, place: Path, seed: int
) -> Iterator[tuple[random.Random, ExportingDevice, ExportingDevice]]:
    dice = random.Random(seed)
    place.mkdir()
    for file in beginning.glob("*.db"):
        copy(file, place)
    with opened(place, dice, 0, 0, -400, 900) as (laptop, desktop):
        yield dice, laptop, desktop


def content(memory: Memory) -> dict[str, object]:
    """What holds, without what waits for the person."""
    shown: dict[str, object] = {f"fact {one.id}": one.content for one in memory.view.page("kind:fact")}
    for one in memory.view.page("kind:fact is:active,trash"):
        shown[f"about {one.id}"] = (
            one.content, one.ended_by, one.protected, sorted(one.tags), one.topic, one.pinned, one.withheld_from,
        )  # fmt: skip
    for entity in memory.entities.page():
        if entity.decided or entity.pinned:
            shown[f"name {entity.id}"] = (entity.canonical_name, entity.type, entity.pinned)
    return shown | {f"pad {note.key}": note.value for note in memory.scratchpad.search()}


def asked(memory: Memory) -> set[str]:
    with memory._core.connections.read() as connection:
        rows = connection.execute(
            "SELECT e.value FROM proposals p, json_each(p.payload, '$.memories') e WHERE p.kind = ? AND p.state IN "
            "('open', 'snoozed') UNION SELECT p.payload ->> '$.memory' FROM proposals p WHERE p.kind = ? "
            "AND p.state IN ('open', 'snoozed')",
            (proposals.DEVICES, proposals.DEVICES),
        ).fetchall()
    return {str(id) for (id,) in rows}


def take(there: ExportingDevice, path: Path) -> None:
    """An import, sometimes taken back and made again; the same once more adds nothing."""
    memory = there.memory
    before = memory.files.content_hash()
    report = memory.files.import_paths([path])
    if there.dice.random() < 0.3 and report.operation is not None:
        memory.undo(report.operation.op_id)
        assert memory.files.content_hash() == before, "one undo takes an import back whole"
        if there.dice.random() < 0.5:
            memory.redo()
        else:
            memory.files.import_paths([path])
    after = memory.files.content_hash()
    again = memory.files.import_paths([path])
    assert again.operation is None, f"the same import again: {again.decisions}"
    assert memory.files.content_hash() == after


def happen(beginning: Path, place: Path, seed: int, steps: int = 8) -> list[str]:
    """What is wrong after a history."""
    with two(beginning, place, seed) as (dice, laptop, desktop):
        both = (laptop, desktop)
        try:
            for number in range(steps):
                dice.choice(both).step(number, dice)
                if dice.random() < 0.25:
                    here, there = both if dice.random() < 0.5 else both[::-1]
                    laptop.log.append(f"{here.name} -> {there.name}")
                    take(there, here.export())
            for _ in range(3):
                here, there = laptop.export(), desktop.export()
                take(desktop, here)
                take(laptop, there)
        except AssertionError as error:
            return [f"{seed}: {error}", *laptop.log, *desktop.log]
        ours, theirs = content(laptop.memory), content(desktop.memory)
        open_cards = asked(laptop.memory) | asked(desktop.memory)
        gone = laptop.gone | desktop.gone
        wrong = []
        for key in sorted({*ours, *theirs}):
            mine, other = ours.get(key), theirs.get(key)
            # Of a name that only erased texts have, a device knows nothing any more.
            nameless = key.startswith("name ") and None in (mine, other) and gone
            if mine != other and not nameless and key.rpartition(" ")[2] not in open_cards | gone:
                wrong.append(f"{seed}: {key}: {mine} here, {other} there, and nobody is asked")
        for device in both:
            held = {one.content for one in device.memory.view.page("kind:fact is:active,trash")}
            if back := held & set(device.erased):
                wrong.append(f"{seed}: erased on {device.name} and back: {back}")
        return [*wrong, *laptop.log, *desktop.log] if wrong else []


def test_two_devices_end_alike_or_somebody_is_asked(
    beginning: Path, tmp_path: Path, sized: Callable[[int], int]
) -> None:
    wrong = []
    for seed in range(sized(HISTORIES)):
        wrong += happen(beginning, tmp_path / str(seed), seed)
    assert wrong == []


def test_an_import_that_asks_nobody_is_noticed(
    beginning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reconcile.meeting.compare_decisions

    def keeps_its_own(ours: Stamp | None, theirs: Stamp, **given: Any) -> reconcile.meeting.Meeting | None:
        met = real(ours, theirs, **given)
        if met is None or met.stamp is not None or ours is None:
            return met
        return reconcile.meeting.Meeting(
            False, replace(ours, seen=stamps.join_stamps(ours.seen, theirs.seen))
        )

    monkeypatch.setattr(reconcile.meeting, "compare_decisions", keeps_its_own)
    assert any(happen(beginning, tmp_path / str(seed), seed) for seed in range(60))
