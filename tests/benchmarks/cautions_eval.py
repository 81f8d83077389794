"""How often a caution by comparison alone is right: python tests/benchmarks/cautions_eval.py [--show]

A text that no link connects with a corrected fact has a caution where it says the same (``search.said_again``). The budget is a
precision of 0.95; a wrong caution is worse than none. For each part of tests/data/talks (only counts, but for dev with --show):

pairs    the statements of updates_*.jsonl: the older one was corrected, is the newer one warned of? Right for a duplicate.
talks    every fact that is drawn from a talk was corrected; the other turns of the talk are texts. Right where the turn has
         the same thing worth keeping (``gold``) as the fact; facts without one are not judged.
values   the same facts, each corrected in one name or number; the other turns as before. Right where the turn has what is worth
         keeping of the fact before the correction, and not of the corrected one.
framed   the same facts, each in sentences that say it ("Since ..., can you help?") and in ones that do not: asked, supposed,
         over, denied, said of somebody else, or with a word of another fact in the place of one of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from extract_eval import HALVES, TALKS, matches, pairs_of, read_talk
from memtui.engine.search.said_again import fact_values, gives_value, says_again
from updates_train import drawn

GOAL = 0.95
SAYING = (
    "Since {lower}, can you help me with a plan?", "{fact}. What would you do?", "Hi! {fact}, and I need some advice.",
    "A quick one: {lower}.", "The week was long. {fact}.",
)  # fmt: skip
NOT_SAYING = (
    "If {lower}, what would you do?", "Is it true that {lower}?", "My sister told me that {lower}.", "Until last year {lower}.",
    "It is not so that {lower}.", "I wonder whether {lower}.", "{fact}'s neighbour.", "{fact} no longer.",
    "Sam wrote: my cousin says {lower}.",
)  # fmt: skip


class Judged(NamedTuple):
    """A text that is compared with a fact: whether it says the same, and whether a caution was given."""

    says: bool
    warned: bool
    fact: str
    text: str


def of_pairs(half: str) -> Iterator[Judged]:
    for file in sorted(TALKS.glob("updates_*.jsonl")):
        for row in pairs_of(file, half):
            warned = says_again(row["new"], row["old"])
            yield Judged(row["label"] == "duplicate", warned, row["old"], row["new"])


def of_talk(talk: dict[str, Any], facts: list[str]) -> Iterator[Judged]:
    turns = [(role, text) for session in talk["sessions"] for role, text in session["turns"]]
    patterns = [one["pattern"] for one in talk["gold"]]
    for fact in facts:
        of = [one for one in patterns if matches(one, fact)]
        for role, text in turns:
            if of and fact.casefold() not in text.casefold():  # not the turn that it was drawn from
                yield Judged(
                    any(matches(one, text) for one in of), says_again(text, fact, by=role), fact, text
                )


def of_values(talk: dict[str, Any], facts: list[str]) -> Iterator[Judged]:
    turns = [(role, text) for session in talk["sessions"] for role, text in session["turns"]]
    patterns = [one["pattern"] for one in talk["gold"]]
    for fact in facts:
        for value in fact_values(fact):
            now = re.sub(rf"\b{re.escape(value)}\b", "Xylander", fact, flags=re.IGNORECASE)
            of = [one for one in patterns if matches(one, fact) and not matches(one, now)]
            for role, text in turns:
                if of and fact.casefold() not in text.casefold():
                    right = any(matches(one, text) for one in of)
                    yield Judged(right, gives_value(text, fact, now, by=role), fact, text)


def framed(facts: list[str], dice: random.Random) -> Iterator[Judged]:
    words = [word for fact in facts for word in fact.split() if len(word) > 4]
    for fact in facts:
        plain = fact.rstrip(".!")
        lower = plain if plain.startswith(("I ", "I'")) else plain[:1].lower() + plain[1:]
        for say, frames in ((True, SAYING), (False, NOT_SAYING)):
            for frame in frames:
                text = frame.format(fact=plain, lower=lower)
                yield Judged(say, says_again(text, fact), fact, text)
        told = plain.split()
        long = [place for place, word in enumerate(told) if len(word) > 4]
        if long and words:
            place = dice.choice(long)
            other = dice.choice(words)
            if other.casefold() != told[place].casefold():
                text = " ".join([*told[:place], other, *told[place + 1 :]])
                yield Judged(False, says_again(text, fact), fact, text)


def line(name: str, judged: list[Judged], show: bool) -> tuple[int, int]:
    count = Counter((one.says, one.warned) for one in judged)
    right, warned = count[True, True], count[True, True] + count[False, True]
    says = count[True, True] + count[True, False]
    share = f"{right / warned:.3f}" if warned else "-"
    print(f"  {name:8} {len(judged):7,} texts, {warned:5,} cautions, {right:5,} right: precision {share}, "
          f"recall {right / says if says else 0:.2f}")  # fmt: skip
    for one in judged if show else ():
        if one.warned and not one.says:
            print(f"      wrong: {one.fact!r} / {one.text[:200]!r}")
    return right, warned


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    split = json.loads((TALKS / "split.json").read_text(encoding="utf-8"))
    kept_back: Counter[str] = Counter()
    for half in HALVES:
        print(half)
        talks = [read_talk(person) for person in split[half]]
        facts = {talk["person"]: [one.text for one in drawn(talk)] for talk in talks}
        parts = {
            "pairs": list(of_pairs(half)),
            "talks": [one for talk in talks for one in of_talk(talk, facts[talk["person"]])],
            "values": [one for talk in talks for one in of_values(talk, facts[talk["person"]])],
            "framed": [one for of in facts.values() for one in framed(of, random.Random(1))],
        }
        for name, judged in parts.items():
            right, warned = line(name, judged, args.show and half == "dev")
            if half != "dev":
                kept_back["right"] += right
                kept_back["warned"] += warned
    precision = kept_back["right"] / max(1, kept_back["warned"])
    print(f"kept back: precision {precision:.3f} of {kept_back['warned']:,} cautions (>= {GOAL})")
    return 0 if precision >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
