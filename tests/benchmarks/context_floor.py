"""How often a context block is injected, for questions that the memory can answer and for those it cannot.

    python tests/benchmarks/context_floor.py DATA [--embedder minilm] [--near 0.4 0.5 0.6] [--limit 5]

DATA is as for locomo.py. One conversation is one memory, each turn a fact. The rows: questions with an answer
(by category), LoCoMo's adversarial ones (about something that was not said, in the words of what was), and
the questions of another conversation, which nothing here answers. Printed for each floor of the cosine:

    injected   share of questions for which any fact is told, in per cent
    facts      how many are told on average
    evidence   share of questions for which a turn that answers is told (of the adversarial: that misleads)
    by cosine  facts that are told for their meaning alone, a hundred questions; of them: right
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from locomo import Row, content, load
from memtui import Memory
from memtui.engine.models import vectors
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.minilm import MiniLmEmbedder
from memtui.engine.records import Options
from msgspec.structs import replace

HEAD = ("injected", "facts", "evidence", "by cosine", "right")


class Told(NamedTuple):
    """Of one question: the facts told, those told by their cosine alone, and those that answer it."""

    facts: frozenset[str]
    by_cosine: frozenset[str]
    right: frozenset[str]


def told(memory: Memory, turn_of: dict[str, str], query: str, relevant: set[str], limit: int) -> Told:
    block = memory.context(query, limit=limit)
    facts = {turn_of[one.memory.id] for one in (*block.hits, *block.related)}
    alone = {
        turn_of[hit.memory.id] for hit in block.hits if not (hit.retrievers.keys() & {"keyword", "entity"})
    }
    return Told(frozenset(facts), frozenset(alone), frozenset(facts & relevant))


def row(found: list[Told]) -> tuple[float, ...]:
    many = len(found)
    alone = sum(len(one.by_cosine) for one in found)
    return (
        100 * sum(bool(one.facts) for one in found) / many,
        sum(len(one.facts) for one in found) / many,
        100 * sum(bool(one.right) for one in found) / many,
        100 * alone / many,
        100 * sum(len(one.by_cosine & one.right) for one in found) / many,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", choices=("offline", "minilm"), default="offline")
    parser.add_argument("--near", type=float, nargs="*", help="other floors than the model's own")
    parser.add_argument("--limit", type=int, default=5)
    args = parser.parse_args()
    model = {"offline": OfflineEmbedder, "minilm": MiniLmEmbedder}[args.embedder].model_id
    own = vectors.thresholds_of(model)
    args.near = args.near or [own.bears]
    judged: dict[str, Row] = {one["qid"]: one for one in load(args.data, "qrels")}
    questions: dict[str, list[Row]] = defaultdict(list)
    for asked in load(args.data, "queries"):
        questions[asked["conv"]].append(asked)
    turns: dict[str, list[Row]] = defaultdict(list)
    for turn in load(args.data, "docs"):
        turns[turn["conv"]].append(turn)
    found: dict[float, dict[str, list[Told]]] = {near: defaultdict(list) for near in args.near}
    names = sorted(turns)
    options = Options(embedder=args.embedder, background=False)
    for place, conversation in enumerate(names):
        with Memory.open(":memory:", options=options) as memory:
            turn_of: dict[str, str] = {}
            for turn in turns[conversation]:
                fact = memory.remember(f"{turn['speaker']}: {content(turn)}")
                turn_of.setdefault(fact.id, turn["id"])
            memory.models.index_pending()
            strange = questions[names[(place + 1) % len(names)]]
            for near in args.near:
                vectors._MEASURED[model] = replace(own, bears=near)
                for asked in questions[conversation]:
                    one: dict[str, Any] = judged.get(asked["qid"], {})
                    kind = one.get("category", "not judged")
                    answer = told(memory, turn_of, asked["query"], set(one.get("relevant", ())), args.limit)
                    found[near][kind].append(answer)
                    if kind != "adversarial":
                        found[near]["answerable, all"].append(answer)
                for asked in strange:
                    found[near]["another talk's"].append(
                        told(memory, turn_of, asked["query"], set(), args.limit)
                    )
    for near, rows in found.items():
        print(f"\ncosine floor {near}\n{'':<18}" + "".join(name.rjust(11) for name in HEAD) + "  questions")
        for kind in sorted(rows):
            print(
                kind.ljust(18)
                + "".join(f"{value:11.1f}" for value in row(rows[kind]))
                + f"{len(rows[kind]):11}"
            )


if __name__ == "__main__":
    main()
