"""A memory of one device that decides at random, for histories of several devices."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.jobs.reflection import TAG
from memtui.engine.memories import operations, validation
from memtui.engine.records import MemoryRecord, Options, Profile
from memtui.engine.store import fading, history, memories

START, DAY = 1_700_000_000.0, 86_400
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
FACTS = (
    "The user works at Initech",
    "The user lives in Oslo with Berta Moss",
    "The user met Carl Stone in Paris",
    "The user likes tea",
)
SAME = "The user owns the same thing"
DECISIONS = (
    "state", "correct", "correct", "forget", "forget", "restore", "confirm", "tag", "tag", "pin", "topic", "agent", "merge",
    "scratchpad", "scratchpad", "clear", "name", "name", "undo", "redo", "erase",
)  # fmt: skip
"""What is decided; the last takes a second for its proof, so most devices do without."""


class Device:
    """``steps``: what it decides; ``erased`` and ``gone``: texts and ids of what it erased; ``kinds``: what it decides about."""

    jumps = 0.0
    """How often its clock jumps."""
    kinds = "kind:fact"

    def __init__(
        self,
        place: Path,
        name: str,
        dice: random.Random,
        clocks: tuple[int, ...] = (0,),
        steps: tuple[str, ...] = DECISIONS,
    ) -> None:
        self.place, self.name, self.dice = place, name, dice
        self.now = START + dice.choice(clocks) * DAY
        self.memory = self._open()
        self.log: list[str] = []
        self.turns = 0
        self.steps = steps if dice.random() < 0.1 else steps[:-1]
        self.erased: list[str] = []
        self.gone: set[str] = set()

    def _open(self) -> Memory:
        return Memory.open(self.place / f"{self.name}.db", clock=lambda: self.now, options=OPTIONS)

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._open()

    def facts(self, filter: str = "") -> list[MemoryRecord]:
        return sorted(self.memory.view.page(f"{self.kinds} {filter}"), key=lambda one: (one.content, one.id))

    def known(self) -> set[str]:
        return {one.id for one in self.memory.view.page(f"{self.kinds} is:active,trash")}

    def step(self, number: int, dice: random.Random) -> None:
        """One decision; what it does not apply to is passed over."""
        self.dice = dice
        self.now += 60
        if self.jumps and dice.random() < self.jumps:
            self.now += dice.choice((-40, 3, 500)) * DAY
        memory = self.memory
        memory.actor = dice.choice(("person", "person", "person", "agent:claude"))
        what = dice.choice(self.steps)
        # Half of the decisions are about the same two facts: devices are to meet.
        here = self.facts() if what != "restore" else self.facts("is:trash")
        one = dice.choice((here[0], here[0], here[-1], *dice.choices(here, k=3))) if here else None
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
            memory.remember(f"{SAME} {dice.choice('12')}")
        elif what == "scratchpad":
            memory.scratchpad.set(dice.choice("ab"), f"{self.name} {number}")
        elif what == "clear":
            memory.scratchpad.delete(dice.choice("ab"))
        elif what == "undo":
            memory.undo()
        elif what == "redo":
            memory.redo()
        elif what == "name":
            self._decide_name(number)
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
        elif what == "fade":
            self._fade_facts(here)
        elif what == "reflect":
            self._reflect_on_week(here)
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
            erased = memory.files.erase(memory.files.plan_erase([one.id])).complete
            if erased and not one.content.startswith(SAME):  # which another device may have stated by itself
                self.erased.append(one.content)
            self.gone |= before - self.known()

    def _fade_facts(self, here: list[MemoryRecord]) -> None:
        """The job of a night on which everything that may fade has done so."""
        core = self.memory._core
        with history.operation(core.connections, core.clock, "scheduler", "decay", "Fading") as op:
            fading.trash_faded_facts(op.connection, [one.rid for one in here], 1.1, self.now, int(self.now))

    def _reflect_on_week(self, here: list[MemoryRecord]) -> None:
        """The job of a week, with what a language model says on this device: the id is the same on each."""
        id = memories.derived_id("reflection", "2023-W46")
        core, now = self.memory._core, int(self.now)
        if not here or id in self.known():
            return
        text = validation.check_text(
            f"The week as {self.name} saw it, {self.dice.random()}", "reflection", OPTIONS.secrets
        )
        with history.operation(core.connections, core.clock, "scheduler", "reflect", "Reflected") as op:
            operations.add_reflection(
                op.connection,
                text,
                sources=[one.id for one in here[:3]],
                tags=(TAG,),
                trust="model",
                now=now,
                id=id,
            )

    def _decide_name(self, number: int) -> None:
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
