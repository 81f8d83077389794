"""Recall over chats of real people's kind: short lines, slang, nicknames, misspellings (tests/data/chats).

    python tests/benchmarks/chats.py [--half dev|held|both] [--embedder offline|minilm|off] [--profile NAME] [--days]
    python tests/benchmarks/chats.py --min 50

One chat is one memory, one message one turn of one session, as an import of a chat makes it (--days: a session for each
day). Printed in per cent, averaged over questions, by kind of question and half, beside plain full-text search
(unicode61, the text alone, all words of the question ORed):

    R@k    share of the messages that answer a question among the first k (k of 5, 10)
    MRR    1 / rank of the first such message
    hit@10 any of them among the first ten
    all@10 all of them among the first ten

Questions that the chat does not answer (none) have no such message. Of them it is counted how many bring a hit that scores
as high as the first hit of every second question with an answer: the lower, the better a score tells them apart.

Of the held half only these counts are printed: its texts are never shown, and nothing is tuned on it.
Exit status 1 when R@10 of a half is less than --min.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from locomo import record, with_plain_fts
from memtui import Memory
from memtui.engine.records import Options

DATA = Path(__file__).resolve().parents[1] / "data" / "chats"
KINDS = ("single", "hops", "time", "list", "shared")
HEAD = ("R@5", "R@10", "MRR", "hit@10", "all@10")


class Answer(NamedTuple):
    """What was found for one question: the messages, best first, and the score of the first (0 without any)."""

    kind: str
    wanted: frozenset[str]
    ranked: list[str]
    best: float


def load(name: str) -> dict[str, Any]:
    chat: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return chat


def turns_of(chat: dict[str, Any], *, days: bool = False) -> list[dict[str, Any]]:
    """The messages as ``locomo.record`` takes turns; times of a chat are local, and read as UTC."""
    return [
        {
            "id": message["id"],
            "session": message["at"][:10] if days else chat["chat"],
            "speaker": message["who"],
            "text": message["text"],
            "time": message["at"],
        }
        for message in chat["messages"]
    ]


def ask(chat: dict[str, Any], args: argparse.Namespace) -> list[Answer]:
    """Every question of a chat, answered by memtui."""
    with Memory.open(":memory:", options=Options(embedder=args.embedder, background=False)) as memory:
        id_of = record(memory, turns_of(chat, days=args.days), lambda turn: str(turn["session"]))
        answers = []
        for question in chat["questions"]:
            hits = memory.search(question["q"], limit=50, profile=args.profile).hits
            ranked = [id_of[hit.memory.id] for hit in hits]
            wanted = frozenset(question["evidence"])
            answers.append(Answer(question["kind"], wanted, ranked, hits[0].score if hits else 0.0))
        return answers


def ask_plain_fts(chat: dict[str, Any], args: argparse.Namespace) -> list[Answer]:
    questions = [{"qid": str(place), "query": one["q"]} for place, one in enumerate(chat["questions"])]
    found = with_plain_fts(turns_of(chat), questions, args)
    return [
        Answer(one["kind"], frozenset(one["evidence"]), found[str(place)], 0.0)
        for place, one in enumerate(chat["questions"])
    ]


def score(answer: Answer) -> tuple[float, ...]:
    """What stands under HEAD, 0 to 1; the question has an answer."""
    wanted, ranked = answer.wanted, answer.ranked
    first = next((place for place, one in enumerate(ranked, 1) if one in wanted), None)
    among = len(wanted.intersection(ranked[:10]))
    return (
        len(wanted.intersection(ranked[:5])) / len(wanted),
        among / len(wanted),
        1.0 / first if first else 0.0,
        float(among > 0),
        float(among == len(wanted)),
    )


def show(title: str, answers: list[Answer], seconds: float) -> float:
    """Print a table; returns R@10 of all."""
    scores: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for answer in answers:
        if answer.wanted:
            scores[answer.kind].append(score(answer))
            scores["all"].append(scores[answer.kind][-1])
    print(f"\n{title} ({seconds:.1f} s)")
    print(f"  {'':10}{'questions':>10}" + "".join(f"{name:>9}" for name in HEAD))
    means: dict[str, list[float]] = {}
    for kind in (*KINDS, "all"):
        means[kind] = [100 * statistics.mean(column) for column in zip(*scores[kind], strict=True)]
        print(f"  {kind:10}{len(scores[kind]):>10}" + "".join(f"{mean:9.1f}" for mean in means[kind]))
    without = [answer.best for answer in answers if not answer.wanted]
    usual = statistics.median(answer.best for answer in answers if answer.wanted)
    if usual:
        confident = sum(best >= usual for best in without)
        print(
            f"  {'none':10}{len(without):>10}   confident hits in {confident} ({100 * confident / len(without):.0f}%)"
        )
    return means["all"][1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("dev", "held", "both"), default="both")
    parser.add_argument("--embedder", choices=("offline", "minilm", "off"), default="offline")
    parser.add_argument("--profile", default=None)
    parser.add_argument("--days", action="store_true", help="a session for each day, not one for the chat")
    parser.add_argument("--min", type=float, default=0.0)
    args = parser.parse_args()
    split: dict[str, list[str]] = json.loads((DATA / "split.json").read_text("utf-8"))
    ways = [
        ("plain FTS5, words ORed", ask_plain_fts),
        (f"memtui, embedder {args.embedder}, profile {args.profile or 'default'}", ask),
    ]
    worst = 100.0
    for half in ("dev", "held") if args.half == "both" else (args.half,):
        for title, way in ways:
            started = time.perf_counter()
            answers = [answer for name in split[half] for answer in way(load(name), args)]
            recall = show(f"{half}: {title}", answers, time.perf_counter() - started)
        worst = min(worst, recall)
    if worst < args.min:
        print(f"\nR@10 {worst:.1f} is below {args.min:.1f}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
