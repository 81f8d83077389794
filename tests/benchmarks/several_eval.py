"""Whether each fact that a message changes is asked about: several changes in one message, or a change inside a question.

    python tests/benchmarks/several_eval.py [dev|held] [--show]

A case of tests/data/several_updates.txt has what is known ("1 ..."), the message ("> ...") and which of the known it changes
("+ 1 2"). Every second case is held back: of those only counts are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from extract_eval import Clock
from memtui import Memory
from memtui.engine.records import Options

CASES = Path(__file__).parents[1] / "data" / "several_updates.txt"
_BEGIN, _DAYS = 1_780_000_000.0, 40 * 86_400


class Case(NamedTuple):
    known: dict[str, str]
    message: str
    changed: set[str]


def cases(half: str) -> Iterator[Case]:
    parts = re.split(r"^# .*\n", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for part in parts[0 if half == "dev" else 1 :: 2]:
        lines = dict(line.split(" ", 1) for line in part.splitlines())
        message, changed = lines.pop(">"), set(lines.pop("+").replace("-", "").split())
        yield Case(lines, message, changed)


def asked_about(case: Case) -> set[str]:
    """The numbers of the known facts that a card shows, or that were replaced."""
    clock = Clock()
    clock.now = _BEGIN
    with Memory.open(":memory:", clock=clock, options=Options(background=False)) as memory:
        numbers = {memory.remember(text).id: number for number, text in case.known.items()}
        clock.now += _DAYS
        memory.record_turn("s", "user", case.message)
        clock.now += 60
        asyncio.run(memory.consolidate("s"))
        cards = memory.review.items(limit=1_000, kinds=("conflict", "choice"))
        shown = {one.id for card in cards for one in card.memories}
        shown |= {fact.supersedes for fact in memory.view.page("kind:fact", limit=100) if fact.supersedes}
        return {numbers[id] for id in shown if id in numbers}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("half", nargs="?", choices=("dev", "held"), default="dev")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    found = [(case, asked_about(case)) for case in cases(options.half)]
    changed = sum(len(case.changed) for case, _ in found)
    right = sum(len(case.changed & asked) for case, asked in found)
    others = sum(len(asked - case.changed) for case, asked in found)
    whole = sum(case.changed <= asked for case, asked in found)
    print(f"{options.half}: of {changed} facts that changed {right} are asked about, and {others} others; "
          f"{whole} of {len(found)} messages whole")  # fmt: skip
    if options.show and options.half == "dev":
        for case, asked in found:
            if asked != case.changed:
                print(f"  {sorted(case.changed)} asked {sorted(asked)}: {case.message}")


if __name__ == "__main__":
    main()
