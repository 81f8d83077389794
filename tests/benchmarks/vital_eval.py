"""What may harm if it is forgotten, in short messages of many voices: how much of it is drawn, and what else is.

    python tests/benchmarks/vital_eval.py [dev|held|others|unseen] [--show]

tests/data/vital has messages that tell such a thing (a pattern, a tab, the message), messages that only look like it, and
pairs of a known thing and a message that ends it. A line is held back by its hash: of those only counts are printed.
"others" are files of both by people who knew no rule, which rules may be tuned on; of "unseen" ones only counts are printed.
Of both it prints the counts of each language.

drawn   messages whose thing a fact tells; "unsure": those whose fact has less than a sure one's confidence
wrong   look-alikes of which a fact is drawn; "vital": one of health, or a rule
ended   known things that a card shows, or that were replaced, after a message that ends them, with other facts beside them
"""

from __future__ import annotations

import argparse
import asyncio
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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
_NONE = "-"  # the pattern of a look-alike
_WORDS_OF = {
    "German": "ich ist nicht und der das ein eine mein meine mir für mit von auf im was wie den dem oder kann bitte",
    "French": "je est pas et les un une mon ma de du des pour dans au qui que le la faut sur quoi il elle",
    "Spanish": "yo es no y los una mi de del para en con que el la se por las qué cómo al le",
    "English": "i is not and the a my to for with of on in what how it that or can please me you",
}
LANGUAGES = {language: frozenset(words.split()) for language, words in _WORDS_OF.items()}
_word = re.compile(r"[^\W\d_]+")


class Message(NamedTuple):
    """A message. ``pattern``: of the thing that it tells; "-" where it only looks as if it told one."""

    pattern: str
    text: str


def lines(name: str, half: str) -> Iterator[str]:
    for line in (VITAL / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if zlib.crc32(line.encode()) % 2 == (half == "held"):
            yield line


def messages_of(part: str) -> list[Message]:
    if part in ("dev", "held"):
        told = [Message(*line.split("\t")) for line in lines("messages", part)]
        return [*told, *(Message(_NONE, line) for line in lines("lookalikes", part))]
    files = sorted(VITAL.glob("others_*_unseen.txt" if part == "unseen" else "others_*_dev.txt"))
    return [
        Message(*line.split("\t")[1:])
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def language_of(text: str) -> str:
    """The language that most of its small words are of."""
    words = _word.findall(text.casefold())
    return max(LANGUAGES, key=lambda language: sum(word in LANGUAGES[language] for word in words))


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


def counts(judged: Sequence[tuple[Message, list[MemoryRecord]]]) -> str:
    telling = [_telling(message, facts) for message, facts in judged if message.pattern != _NONE]
    alike = [facts for message, facts in judged if message.pattern == _NONE]
    unsure = sum(bool(facts) and all(fact.confidence < _SURE for fact in facts) for facts in telling)
    vital = sum(any(fact.topic in ("health", "rule") for fact in facts) for facts in alike)
    return (
        f"drawn {sum(map(bool, telling))}/{len(telling)} (unsure {unsure})"
        f"  wrong {sum(map(bool, alike))}/{len(alike)} (vital {vital})"
    )


def _telling(message: Message, facts: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return [fact for fact in facts if re.search(message.pattern, fact.content, re.IGNORECASE)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=("dev", "held", "others", "unseen"), default="dev")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    show = options.show and options.part in ("dev", "others")
    judged = [(message, facts_of(message.text)) for message in messages_of(options.part)]
    if options.part in ("dev", "held"):
        pairs = [line.split("\t") for line in lines("ended", options.part)]
        stand = [pair for pair in pairs if not is_questioned(*pair)]
        print(f"{options.part}: {counts(judged)}  ended {len(pairs) - len(stand)}/{len(pairs)}")
    else:
        stand = []
        print(f"{options.part}: {counts(judged)}")
        for language in LANGUAGES:
            print(f"  {language}: {counts([one for one in judged if language_of(one[0].text) == language])}")
    if show:
        for message, facts in judged:
            drawn = [fact.content for fact in facts]
            if message.pattern == _NONE and facts:
                print(f"  wrong {message.text} -> {drawn}")
            elif message.pattern != _NONE and not _telling(message, facts):
                print(f"  miss  {message.text}" + (f" -> {drawn}" if drawn else ""))
        for known, ending in stand:
            print(f"  stands {known}  |  {ending}")


if __name__ == "__main__":
    main()
