"""Three devices over a store: a plain one in memory that can lie, fail and lose, and the histories of the devices."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copy

import msgspec
import pytest
from device_story import DECISIONS, FACTS, OPTIONS, START, Device
from memtui import Memory
from memtui.engine.records.sync import SyncReport
from memtui.engine.store import stamps
from memtui.engine.sync import state
from memtui.engine.sync.batch import Batch, BatchError, BatchHeader, Removed, encode

NAMES = ("laptop", "desktop", "server")


class Crash(BaseException):
    """The process ends here."""


class DictStore:
    """A store in memory. ``crash``: asked before and after each call."""

    url = "memory:"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.hidden: set[str] = set()
        self.removed: dict[str, int] = {}
        """The last number that counts of each device that was removed."""
        self.crash: Callable[[], None] = lambda: None

    def put_if_absent(self, name: str, data: bytes) -> bool:
        self.crash()
        new = name not in self.objects
        if new:
            self.objects[name] = data
        self.crash()
        return new

    def get(self, name: str) -> bytes | None:
        self.crash()
        return None if name in self.hidden else self.objects.get(name)

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        self.crash()
        return sorted(
            name
            for name in self.objects
            if name.startswith(prefix) and name > after and name not in self.hidden
        )

    def replace(self, name: str, data: bytes) -> None:
        self.objects[name] = data

    def delete(self, name: str) -> None:
        self.objects.pop(name, None)

    def close(self) -> None:
        pass


class PlainSealer:
    """Not secret, but authenticated: JSON in zlib, and an HMAC."""

    group = "group-1"
    epoch = 0
    _key = b"k" * 32

    def seal(self, batch: Batch) -> bytes:
        texts = [
            {"removed": line.hash.hex()} if isinstance(line, Removed) else line.decode()
            for line in batch.lines
        ]
        body = zlib.compress(msgspec.json.encode([msgspec.Raw(encode(batch.header)), texts]), 1)
        return hmac.new(self._key, body, hashlib.sha256).digest() + body

    def open(self, data: bytes) -> Batch:
        tag, body = data[:32], data[32:]
        if not hmac.compare_digest(tag, hmac.new(self._key, body, hashlib.sha256).digest()):
            raise BatchError("forged", "its authentication does not fit")
        header, texts = msgspec.json.decode(
            zlib.decompress(body), type=tuple[BatchHeader, list[str | dict[str, str]]]
        )
        return Batch(
            header,
            tuple(
                Removed(bytes.fromhex(one["removed"])) if isinstance(one, dict) else one.encode()
                for one in texts
            ),
        )

    def keyed_hash(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


class SyncDevice(Device):
    """A device that syncs with a store. ``away``: it was removed from the group."""

    jumps = 0.03
    kinds = "kind:fact,reflection"

    def __init__(
        self, place: Path, name: str, dice: random.Random, store: DictStore, clocks: tuple[int, ...]
    ) -> None:
        super().__init__(place, name, dice, clocks, STEPS)
        self.store = store
        self.away = False

    def hash(self) -> str:
        return self.memory.files.content_hash()

    def sync(self) -> SyncReport:
        return self.memory.sync.run_with(self.store, PlainSealer(), removed=self.store.removed)

    def id(self) -> str:
        with self.memory._core.connections.read() as connection:
            return stamps.device(connection)

    def remove(self, other: SyncDevice) -> None:
        """Take another one out of the group: what was read here of it until now counts."""
        with self.memory._core.connections.read() as connection:
            self.store.removed[other.id()] = state.head(connection, other.id()).number
        other.away = True

    def come_back(self, id: str) -> None:
        """Join again, under another name."""
        self.call(id)
        self.away = False

    def call(self, id: str) -> None:
        with self.memory._core.connections.write() as connection:
            connection.execute("UPDATE memory_metadata SET value = ? WHERE key = 'device'", (id,))


STEPS = (
    *DECISIONS[:-1], "same", "undo", "turn", "turn", "consolidate", "question", "unpin question", "profile", "review", "review",
    "job", "index", "fade", "reflect", "erase",
)  # fmt: skip


def begin(place: Path) -> Path:
    """The file that a device begins with; the others are empty and join."""
    store, dice = DictStore(), random.Random(0)
    with same_ids(dice):
        first = SyncDevice(place, NAMES[0], dice, store, (0,))
        for fact in FACTS:
            first.memory.remember(fact)
        first.memory.actor = "agent:claude"
        first.memory.remember("The user writes poems")  # fades; those of the person do not
        first.memory.scratchpad.set("a", "first")
        first.memory.models.index_pending()
        first.memory.close()
        for name in NAMES[1:]:
            Memory.open(place / f"{name}.db", clock=lambda: START, options=OPTIONS).close()
    return place


@contextmanager
def same_ids(dice: random.Random) -> Iterator[None]:
    """Within it ids come from the dice: a history that fails does so every time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", dice.randbytes)
        yield


@contextmanager
def three(
    beginning: Path, place: Path, seed: int
) -> Iterator[tuple[random.Random, DictStore, list[SyncDevice]]]:
    dice, store = random.Random(seed), DictStore()
    place.mkdir(parents=True)
    for file in beginning.glob("*.db"):
        copy(file, place)
    with ExitStack() as stack:
        devices = [SyncDevice(place, name, dice, store, (0, 0, -400, 900)) for name in NAMES]
        for device in devices:
            device.call(f"{device.name}-{seed:08x}")
            assert device.id().startswith(device.name)
            stack.callback(lambda one: one.memory.close(), device)
        yield dice, store, devices


def settle(devices: list[SyncDevice], most: int = 6) -> int:
    """Sync in turns until nothing is sent; after how many rounds. Raises AssertionError if it never ends."""
    for number in range(most):
        sent = 0
        for device in devices:
            report = device.sync()
            assert not report.problems, report.problems
            sent += report.sent + report.received
        if not sent:
            return number
    raise AssertionError(f"after {most} rounds there still is something to send")
