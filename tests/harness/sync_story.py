"""Three devices over a store: a plain one in memory that can lie, fail and lose, and the histories of the devices."""

from __future__ import annotations

import asyncio
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
from memtui import Memory
from memtui.engine.errors import MemtuiError, StoreError
from memtui.engine.records import MemoryRecord, Options, Profile
from memtui.engine.records.sync import SyncReport
from memtui.engine.store import stamps
from memtui.engine.sync.batch import Batch, BatchError, Header, Removed, encode

START, DAY = 1_700_000_000.0, 86_400
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
FACTS = (
    "The user works at Initech",
    "The user lives in Oslo with Berta Moss",
    "The user met Carl Stone in Paris",
    "The user likes tea",
)
NAMES = ("laptop", "desktop", "server")


class Crash(BaseException):
    """The process ends here."""


class DictStore:
    """A store in memory. ``crash``: asked before and after each call."""

    url = "memory:"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.hidden: set[str] = set()
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
            zlib.decompress(body), type=tuple[Header, list[str | dict[str, str]]]
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


class Device:
    """A memory of one device, which decides at random. ``gone``: ids of what it erased; ``said``: texts that it stated."""

    def __init__(
        self, place: Path, name: str, dice: random.Random, store: DictStore, clocks: tuple[int, ...]
    ) -> None:
        self.place, self.name, self.dice, self.store = place, name, dice, store
        self.now = START + dice.choice(clocks) * DAY
        self.memory = self._open()
        self.log: list[str] = []
        self.turns = 0
        self.steps = STEPS if dice.random() < 0.1 else STEPS[:-1]
        self.erased: list[str] = []
        self.gone: set[str] = set()

    def _open(self) -> Memory:
        return Memory.open(self.place / f"{self.name}.db", clock=lambda: self.now, options=OPTIONS)

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._open()

    def hash(self) -> str:
        return self.memory.files.content_hash()

    def sync(self) -> SyncReport:
        return self.memory.sync.run_with(self.store, PlainSealer())

    def facts(self, filter: str = "") -> list[MemoryRecord]:
        return sorted(self.memory.view.page(f"kind:fact {filter}"), key=lambda one: (one.content, one.id))

    def known(self) -> set[str]:
        return {one.id for one in self.memory.view.page("kind:fact is:active,trash")}

    def step(self, number: int, dice: random.Random) -> None:
        """One decision; what it does not apply to is passed over."""
        self.dice = dice
        self.now += 60
        if self.dice.random() < 0.03:
            self.now += self.dice.choice((-40, 3, 500)) * DAY
        memory, dice = self.memory, self.dice
        memory.actor = dice.choice(("person", "person", "person", "agent:claude"))
        what = dice.choice(self.steps)
        here = self.facts() if what != "restore" else self.facts("is:trash")
        one = (here[0] if dice.random() < 0.5 else dice.choice(here)) if here else None
        self.log.append(f"{self.name}: {memory.actor} {what} {one.content if one else ''}")
        try:
            self._do(what, one, here, number)
        except MemtuiError as error:
            self.log[-1] += f" (refused: {error.message})"
        finally:
            memory.actor = "person"

    def _do(self, what: str, one: MemoryRecord | None, here: list[MemoryRecord], number: int) -> None:
        memory, dice = self.memory, self.dice
        if what == "state":
            memory.remember(f"The user owns the thing number {number} of {self.name}")
        elif what == "same":
            memory.remember(f"The user owns the same thing {dice.choice('12')}")
        elif what == "scratchpad":
            memory.scratchpad.set(dice.choice("ab"), f"{self.name} {number}")
        elif what == "clear":
            memory.scratchpad.delete(dice.choice("ab"))
        elif what == "undo":
            memory.undo()
        elif what == "redo":
            memory.redo()
        elif what == "name":
            self._name(number)
        elif what == "turn":
            self.turns += 1
            memory.record_turn(
                f"s-{self.name}", "user", f"I have been to city number {number} with Dora Pell"
            )
        elif what == "consolidate":
            asyncio.run(memory.consolidate())
        elif what == "question":
            memory.questions.pin(f"What about {dice.choice('xy')}?")
        elif what == "unpin question":
            if pinned := memory.questions.pinned():
                memory.questions.unpin(dice.choice(pinned).query_id)
        elif what == "profile":
            memory.questions.save_profile(Profile(name="mine", vector=round(dice.random(), 2)))
        elif what == "review":
            if items := memory.review.items():
                memory.actor = "person"
                verdict = dice.choice(("keep", "forget", "both", "merge", "snooze"))
                memory.review.decide(dice.choice(items), verdict)
        elif what == "job":
            memory.jobs.run_now(dice.choice(("decay", "backup")))
        elif what == "index":
            memory.models.index_pending()
        elif one is None:
            return
        elif what == "correct":
            memory.correct(one.id, f"{' '.join(one.content.split()[:4])} {self.name} {number}")
        elif what == "forget":
            memory.forget(one.id)
        elif what == "restore":
            memory.restore(one.id)
        elif what == "confirm":
            memory.confirm(one.id)
        elif what == "tag":
            tag = dice.choice(("x", "y"))
            memory.tag(one.id, **({"remove": [tag]} if tag in one.tags else {"add": [tag]}))
        elif what == "pin":
            (memory.unpin if one.pinned else memory.pin)(one.id)
        elif what == "agent":
            agent = dice.choice(("codex", "claude"))
            (memory.allow if agent in one.withheld_from else memory.withhold)(one.id, agent)
        elif what == "topic":
            memory.classify(one.id, topic=dice.choice(("preference", "health", "work", "none")))
        elif what == "merge" and len(here) > 1:
            other = dice.choice([fact for fact in here if fact.id != one.id])
            memory.review.merge(one.id, [other.id])
        elif what == "erase":
            memory.actor = "person"
            before = self.known()
            if memory.files.erase(memory.files.plan_erase([one.id])).complete:
                self.erased.append(one.content)
            self.gone |= before - self.known()

    def _name(self, number: int) -> None:
        """A decision about somebody."""
        entities, dice = self.memory.entities, self.dice
        known = sorted(entities.page(), key=lambda one: one.canonical_name)
        if len(known) < 2:
            return
        one, other = dice.sample(known, 2)
        match dice.choice(("rename", "merge", "split", "apart", "hide", "pin")):
            case "rename":
                entities.rename(one.id, f"Person{number}")
            case "merge":
                entities.merge(one.id, other.id)
            case "split":
                entities.split(one.id, dice.choice(("Berta", "Carl", "Berta Moss")))
            case "apart":
                entities.keep_apart(one.id, other.id)
            case "hide":
                entities.not_an_entity(one.id)
            case _:
                entities.pin(one.id)


STEPS = (
    "state", "same", "correct", "correct", "forget", "forget", "restore", "confirm", "tag", "tag", "pin", "topic", "agent",
    "merge", "scratchpad", "scratchpad", "clear", "name", "name", "undo", "undo", "redo", "turn", "turn", "consolidate",
    "question", "unpin question", "profile", "review", "review", "job", "index", "erase",
)  # fmt: skip


def begin(place: Path) -> Path:
    """The file that a device begins with; the others are empty and join."""
    store, dice = DictStore(), random.Random(0)
    with same_ids(dice):
        first = Device(place, NAMES[0], dice, store, (0,))
        for fact in FACTS:
            first.memory.remember(fact)
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
def three(beginning: Path, place: Path, seed: int) -> Iterator[tuple[random.Random, DictStore, list[Device]]]:
    dice, store = random.Random(seed), DictStore()
    place.mkdir(parents=True)
    for file in beginning.glob("*.db"):
        copy(file, place)
    with ExitStack() as stack:
        devices = [Device(place, name, dice, store, (0, 0, -400, 900)) for name in NAMES]
        for device in devices:
            with device.memory._core.connections.write() as connection:
                connection.execute(
                    "UPDATE memory_metadata SET value = ? WHERE key = 'device'",
                    (f"{device.name}-{seed:08x}",),
                )
                assert stamps.device(connection).startswith(device.name)
            stack.callback(lambda one: one.memory.close(), device)
        yield dice, store, devices


def settle(devices: list[Device], most: int = 6) -> int:
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


__all__ = ["Crash", "Device", "DictStore", "PlainSealer", "StoreError", "begin", "settle", "three"]
