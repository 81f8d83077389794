"""Two devices that sync over a folder, each killed in the middle of it: run as a program, it prints what they reported.

    PYTHONPATH=.:tests python tests/harness/killed_syncs.py '{"folder": ..., "kills": ..., "seed": ...}'

Each device is a forked process (``crew.py``). It decides something, acknowledges that, and syncs, until SIGKILL comes: some
milliseconds after it began to read, to send, to write a snapshot, or to replace what was erased.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import crew
from memtui import Memory
from memtui.engine.records.sync import SyncReport
from memtui.engine.sync import outgoing, replica, state
from memtui.engine.sync.replica import Replica
from memtui.engine.sync.stores.folder import FolderStore

NAMES = ("laptop", "desktop")
STAGES = {
    "_pull_batches": "reading",
    "_put_batch": "sending",
    "write_snapshot": "snapshot",
    "_remove_erased_lines": "replacing",
}
_LONGEST_SECONDS = 0.02
_MOST_WAIT_SECONDS = 2.0


class Device(crew.Worker):
    """A device at work; it is killed a moment after it began a stage of a sync."""

    def __init__(self, work: Callable[[crew.Report], None]) -> None:
        super().__init__(work)
        self.reported: list[dict[str, Any]] = []

    def wait_for(self, stage: str) -> None:
        """Read what it reports until it begins the stage, or for some time another one."""
        until = time.monotonic() + _MOST_WAIT_SECONDS
        while line := self._pipe.readline():
            self.reported.append(json.loads(line))
            found = self.reported[-1].get("stage")
            if found == stage or (found and time.monotonic() > until):
                return

    def lines(self) -> list[dict[str, Any]]:
        return self.reported + super().lines()


def open_device(folder: str, name: str) -> Memory:
    """The memory of a device, with the keys of that device."""
    os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / name)
    return Memory.open(Path(folder) / f"{name}.db", options=crew.OPTIONS)


def decide_and_sync(folder: str, name: str, seed: int, erases: bool, report: crew.Report) -> None:
    for method, stage in STAGES.items():
        setattr(Replica, method, _reporting(getattr(Replica, method), stage, report))
    dice = random.Random(seed)
    with open_device(folder, name) as memory:
        if (proof := memory.files.resume_erase()) is not None:  # it was killed at it
            assert proof.complete, proof
        for number in range(10_000):
            for part in range(dice.randint(1, 6)):
                words = f"The user owns the thing {part} of {seed} {number}"
                fact = memory.remember(words)
                report(verb="remember", id=fact.id, content=words)
            if dice.random() < 0.5:
                new = memory.correct(fact.id, f"{words}, corrected")
                report(verb="correct", id=new.id, content=new.content)
            here = sorted(memory.view.page("kind:fact"), key=lambda one: one.id)
            tagged = memory.tag(dice.choice(here).id, add=(f"t-{seed ^ 1}-{number}",))
            report(verb="tag", id=tagged.id, tag=f"t-{seed ^ 1}-{number}")
            if erases and dice.random() < 0.2:
                gone = dice.choice([one for one in here if "corrected" not in one.content]).id
                report(verb="erasing", id=gone)
                memory.files.erase(memory.files.plan_erase([gone]))
                report(verb="erase", id=gone)
            synced = memory.sync.run()
            assert not [one for one in synced.problems if one.kind != "missing"], synced.problems
            report(verb="sync")


def _reporting(real: Callable[..., Any], stage: str, report: crew.Report) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        report(stage=stage)
        return real(*given, **named)

    return call


def _begin(folder: str, report: crew.Report) -> None:
    store = str(Path(folder) / "store")
    with open_device(folder, NAMES[0]) as first:
        first.remember("The user is called Ada")
        first.sync.run(store)
        code = first.sync.invite().code
    with open_device(folder, NAMES[1]) as second:
        second.sync.join(store, code)


def kill_syncs(folder: str, kills: int, seed: int, snapshots: bool, erases: bool) -> dict[str, Any]:
    """Rounds of both devices at once, each killed by SIGKILL; what they reported."""
    # Small ones, so that a sync has many steps. A snapshot hides that a batch before it is missing.
    outgoing.MOST_LINES, replica.TELL_EVERY = 3, 2
    replica.SNAPSHOT_EVERY = 4 if snapshots else 10_000
    stages = [stage for stage in STAGES.values() if snapshots or stage != "snapshot"]
    for line in crew.Worker(partial(_begin, folder)).lines():
        raise AssertionError(line)
    dice, reported, struck = random.Random(seed), [], Counter[str]()
    for _ in range(0, kills, len(NAMES)):
        devices = [
            Device(partial(decide_and_sync, folder, name, dice.getrandbits(31), erases)) for name in NAMES
        ]
        for device in devices:
            device.wait_for(dice.choice(stages))
            time.sleep(dice.uniform(0, _LONGEST_SECONDS))
            device.kill()
        for device in devices:
            lines = device.lines()
            reported += [line for line in lines if "stage" not in line]
            last = lines[-1] if lines else {}
            struck[last.get("stage") or last.get("verb", "opening")] += 1
    return {"reported": reported, "struck": struck}


# Mutants: the faults that the harness must notice.


def _note_before_written(self: Replica, own: str, texts: Sequence[bytes], until: int, *, last: bool) -> bool:
    with self._connections.write() as connection:
        head, heads = state.head(connection, own), state.heads(connection, except_device=own)
        batch = self._make_batch("batch", own, head, heads, texts, int(self._clock()), more=not last)
    self._note_written(
        batch, state.Writing(number=batch.header.number, hash=batch.hash, sent=until, last=last)
    )
    time.sleep(0.005)
    return self._store.put_if_absent(replica.batch_name(own, batch.header.number), self._sealer.seal(batch))


def _write_in_place(self: FolderStore, name: str, data: bytes) -> bool:
    path = self._path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb", buffering=0) as file:
            file.write(data[: len(data) // 2])
            time.sleep(0.005)
            file.write(data[len(data) // 2 :])
    except FileExistsError:
        return False
    return True


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "noted before it is written": (Replica, "_put_batch", _note_before_written),
    "written in place": (FolderStore, "put_if_absent", _write_in_place),
}


def settle(folder: str, names: Sequence[str]) -> list[SyncReport]:
    """Sync all in turns until nothing is left to send; the reports of the last round."""
    for _ in range(6):
        reports = []
        for name in names:
            with open_device(folder, name) as memory:
                memory.files.resume_erase()
                reports.append(memory.sync.run())
        if not any(one.sent or one.received for one in reports):
            break
    return reports


def main() -> None:
    given = json.loads(sys.argv[1])
    mutant = given.pop("mutant", None)
    with Memory.open(":memory:", options=crew.OPTIONS) as memory:  # import what a forked device uses
        memory.correct(memory.remember("one").id, "two")
    if mutant:
        place, name, fault = MUTANTS[mutant]
        setattr(place, name, fault)
    json.dump(kill_syncs(**given), sys.stdout)


if __name__ == "__main__":
    main()
