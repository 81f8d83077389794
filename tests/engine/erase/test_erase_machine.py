"""Whatever was done before and is undone after: what was erased is nowhere, and the file stays sound."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count

from erase_kit import QUIET
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.erase.columns import rows_with_text
from memtui.engine.errors import InputError

_VERBS = (
    "remember", "record", "correct", "tag", "forget", "restore", "confirm", "bulk", "merge", "undo", "redo", "any undo",
    "consolidate", "name", "erase", "erase session", "pad",
)  # fmt: skip
_STEPS = st.lists(st.tuples(st.sampled_from(_VERBS), st.integers(0, 50)), min_size=4, max_size=30)


class _Life:
    """A memory in which every text has a word that no other has."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.numbers = count(1)
        self.gone: set[str] = set()

    def text(self) -> str:
        number = next(self.numbers)
        return f"I always keep qx{number:04}zv in the Blue{number:04}room of Mr Zq{number:04}ander"

    def do(self, verb: str, pick: int) -> None:
        memory = self.memory
        there = memory.view.page("is:active,trash", limit=200)
        one = there[pick % len(there)] if there else None
        match verb:
            case "remember":
                memory.remember(self.text())
            case "record":
                memory.record_turn(f"talk{pick % 3}", "user", self.text())
            case "consolidate":
                asyncio.run(memory.consolidate())
            case "undo":
                memory.undo()
            case "redo":
                memory.redo()
            case "any undo":
                operations = memory.view.operations()
                if operations:
                    memory.undo(operations[pick % len(operations)].op_id)
            case "bulk":
                memory.change_all("tag", [found.rid for found in there[: pick % 5]], add=["bulk"])
            case "name":
                memory.models.index_pending()
                named = memory.entities.page()
                if len(named) > 1:
                    memory.entities.merge(named[0].id, named[pick % len(named)].id)
            case "erase session":
                self.erase(memory.files.plan_erase(session_id=f"talk{pick % 3}"))
            case _ if one is None:
                return
            case "correct":
                memory.correct(one.id, self.text())
            case "tag":
                memory.tag(one.id, add=[f"t{pick}"])
            case "merge":
                memory.review.merge(one.id, [there[(pick + 1) % len(there)].id])
            case "pad":
                memory.scratchpad.set(f"k{pick}", one.content)
            case "erase":
                self.erase(memory.files.plan_erase([one.id]))
            case _:
                getattr(memory, verb)(one.id)

    def erase(self, plan: object) -> None:
        memory = self.memory
        ids = plan.ids  # type: ignore[attr-defined]
        words = {word for id in ids for word in memory.get(id).content.split() if "qx" in word}
        kept = {one.content for one in memory.view.page("is:active,trash", limit=500) if one.id not in ids}
        assert memory.files.erase(plan).complete  # type: ignore[arg-type]
        self.gone |= {word for word in words if not any(word in content for content in kept)}
        self.look()

    def look(self) -> None:
        report = self.memory.files.check(deep=True)
        assert report.ok, report.findings
        with self.memory._core.connections.read() as connection:
            for word in self.gone:
                assert rows_with_text(connection, word) == [], word
                assert not connection.execute(
                    "SELECT 1 FROM memories_vocab WHERE term = ?", (word,)
                ).fetchall()


def test_nothing_brings_back_what_was_erased(full: bool) -> None:
    @given(_STEPS)
    @settings(max_examples=500 if full else 8)
    def live(steps: list[tuple[str, int]]) -> None:
        with Memory.open(":memory:", options=QUIET) as memory:
            life = _Life(memory)
            for verb, pick in [
                ("remember", 0),
                ("record", 1),
                ("remember", 0),
                ("name", 1),
                *steps,
                ("erase", 0),
            ]:
                with suppress(InputError):
                    life.do(verb, pick)
            for going_back in (memory.undo, memory.redo, memory.undo):
                with suppress(InputError):
                    for _ in range(40):
                        if going_back() is None:
                            break
            for operation in memory.view.operations(limit=60):
                with suppress(InputError):
                    memory.undo(operation.op_id)
            life.look()

    live()
