"""What may harm if it is forgotten, in short messages of many voices: how much of it is drawn, and what else is.

    python tests/benchmarks/vital_eval.py [dev|held] [--show]

tests/data/vital has messages that tell such a thing (a pattern, a tab, the message), messages that only look like it, and
pairs of a known thing and a message that ends it. A line is held back by its hash: of those only counts are printed.

drawn   messages whose thing a fact tells; "unsure": those whose fact has less than a sure one's confidence
wrong   look-alikes of which a fact is drawn; "vital": one of health, or a rule
ended   known things that a card shows, or that were replaced, after a message that ends them, with other facts beside them
"""

from __future__ import annotations

import argparse
import asyncio
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from extract_eval import Clock
from memtui import Memory
from memtui.engine.records import MemoryRecord, Options

VITAL = Path(__file__).parents[1] / "data" / "vital"
_BEGIN, _DAYS = 1_780_000_000.0, 40 * 86_400
_SURE = 0.8
_BESIDE = (
    "I live in Bremen", "My sister Carla works at the town hall", "Carla is allergic to latex", "I have a dog called Pepper",
    "We go climbing on Thursdays", "I take magnesium at night", "My brother Tom lives in Lyon", "Tom has a peanut allergy",
    "I like my coffee black", "The rent is 900 a month",
)  # fmt: skip


def lines(name: str, half: str) -> Iterator[str]:
    for line in (VITAL / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if zlib.crc32(line.encode()) % 2 == (half == "held"):
            yield line


def facts_of(message: str) -> list[MemoryRecord]:
    clock = Clock()
    clock.now = _BEGIN
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        memory.record_turn("s", "user", message)
        clock.now += 60
        asyncio.run(memory.consolidate("s"))
        return memory.view.page("kind:fact", limit=100)


def is_questioned(known: str, message: str) -> bool:
    """Whether a card shows the known fact, or it was replaced."""
    clock = Clock()
    clock.now = _BEGIN
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        for text in _BESIDE:
            memory.remember(text)
        id = memory.remember(known).id
        clock.now += _DAYS
        memory.record_turn("s", "user", message)
        clock.now += 60
        asyncio.run(memory.consolidate("s"))
        cards = memory.review.items(limit=1_000, kinds=("conflict", "choice"))
        shown = {one.id for card in cards for one in card.memories}
        shown |= {fact.supersedes or "" for fact in memory.view.page("kind:fact", limit=100)}
        return id in shown


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("half", nargs="?", choices=("dev", "held"), default="dev")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    show = options.show and options.half == "dev"
    told, unsure = 0, 0
    missed: list[str] = []
    for line in lines("messages", options.half):
        pattern, message = line.split("\t")
        telling = [fact for fact in facts_of(message) if re.search(pattern, fact.content, re.IGNORECASE)]
        told += bool(telling)
        unsure += bool(telling) and all(fact.confidence < _SURE for fact in telling)
        if not telling:
            missed.append(message)
    found = {message: facts_of(message) for message in lines("lookalikes", options.half)}
    wrong = {message: facts for message, facts in found.items() if facts}
    vital = sum(any(fact.topic in ("health", "rule") for fact in facts) for facts in wrong.values())
    pairs = [line.split("\t") for line in lines("ended", options.half)]
    stand = [pair for pair in pairs if not is_questioned(*pair)]
    print(
        f"{options.half}: drawn {told}/{told + len(missed)} (unsure {unsure})  wrong {len(wrong)}/{len(found)} (vital {vital})"
        f"  ended {len(pairs) - len(stand)}/{len(pairs)}"
    )
    if show:
        for message in missed:
            print(f"  miss  {message}")
        for message, facts in wrong.items():
            print(f"  wrong {message} -> {[fact.content for fact in facts]}")
        for known, message in stand:
            print(f"  stands {known}  |  {message}")


if __name__ == "__main__":
    main()
