"""Recall over LoCoMo-style conversations, through Memory.record_turn and Memory.search.

    python tests/benchmarks/locomo.py DATA [--embedder offline|minilm|off] [--profile NAME] [--min 72] [--run FILE]
    python tests/benchmarks/locomo.py DATA --embedder minilm --profile late --leave-one-out

DATA is a folder with docs.jsonl (id, conv, session, seq, time, speaker, text, image_caption?), queries.jsonl
(qid, conv, query) and qrels.jsonl (qid, category, relevant). One conversation is one memory, one turn one
episode: its role is the speaker, a shared image's caption stands after its text. Only evidence that was
asked for counts. Printed in per cent, averaged over questions, beside plain full-text search (unicode61,
the text alone, all words of the question ORed):

    R@k    share of a question's evidence turns among the first k (k of 5, 10)
    MRR    1 / rank of the first evidence turn
    hit@k  any evidence turn among the first k
    sess@5 any evidence session among the first five distinct sessions

With --leave-one-out the weights of the vector and the word vector retriever are chosen anew, for each conversation by the
questions of the others: how good they are for talk that they were not chosen by.

Exit status 1 when the row "all" has less than --min R@10.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import profiles
from msgspec.structs import replace

Row = dict[str, Any]
Find = Callable[[list[Row], list[Row], argparse.Namespace], dict[str, list[str]]]
# The weights that are tried.
VECTOR = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SENSE = (0.3, 0.4, 0.5, 0.6, 0.8)
HEAD = ("R@5", "R@10", "MRR", "hit@10", "sess@5")


def load(folder: Path, name: str) -> list[Row]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def content(turn: Row) -> str:
    caption = turn.get("image_caption")
    return f"{turn['text']} [{caption}]" if caption else str(turn["text"])


def record(memory: Memory, turns: Iterable[Row], session: Callable[[Row], str]) -> dict[str, str]:
    """The turn of each memory that is made of them."""
    turn_of: dict[str, str] = {}
    for turn in turns:
        at = datetime.fromisoformat(turn["time"]).replace(tzinfo=UTC)
        turn_of[memory.record_turn(session(turn), turn["speaker"], content(turn), at).id] = turn["id"]
    memory.models.index_pending()
    return turn_of


def with_memtui(turns: list[Row], questions: list[Row], args: argparse.Namespace) -> dict[str, list[str]]:
    """The ids of the turns found for each question, best first."""
    options = Options(embedder=args.embedder, background=False)
    with Memory.open(":memory:", options=options) as memory:
        turn_of = record(memory, turns, lambda turn: f"session {turn['session']}")
        return {
            question["qid"]: [
                turn_of[hit.memory.id]
                for hit in memory.search(question["query"], limit=50, profile=args.profile).hits
            ]
            for question in questions
        }


def in_one_memory(turns: dict[str, list[Row]], args: argparse.Namespace) -> Find:
    """All conversations in one memory; each question is asked of the sessions of its own."""
    memory = Memory.open(":memory:", options=Options(embedder=args.embedder, background=False))
    everything = itertools.chain(*turns.values())
    turn_of = record(memory, everything, lambda turn: f"{turn['conv']}/{turn['session']}")

    def find(_: list[Row], questions: list[Row], args: argparse.Namespace) -> dict[str, list[str]]:
        return {
            question["qid"]: [
                turn_of[hit.memory.id]
                for hit in memory.search(
                    question["query"], filter=f"session:{question['conv']}/*", limit=50, profile=args.profile
                ).hits
            ]
            for question in questions
        }

    return find


def leave_one_out(
    turns: dict[str, list[Row]], questions: dict[str, list[Row]], answers: list[Row], args: argparse.Namespace
) -> None:
    """Print R@10 of each conversation with the weights that are best for all others, beside that of the profile."""
    profile = profiles.BUILT_IN[args.profile or "default"]
    # The profile's own first: of equals the first is taken.
    tried = [profile] + [
        replace(profile, vector=vector, word_vector=word_vector)
        for vector in VECTOR
        for word_vector in (SENSE if profile.word_vector else (0.0,))
        if (vector, word_vector) != (profile.vector, profile.word_vector)
    ]
    relevant = {answer["qid"]: set(answer["relevant"]) for answer in answers}
    found: dict[str, list[list[float]]] = {}  # a row for each question, a column for each profile
    for name, asked in questions.items():
        options = Options(embedder=args.embedder, background=False)
        with Memory.open(":memory:", options=options) as memory:
            turn_of = record(memory, turns[name], lambda turn: f"session {turn['session']}")
            found[name] = []
            for question in asked:
                if wanted := relevant.get(question["qid"]):
                    ranked = [
                        {
                            turn_of[hit.memory.id]
                            for hit in memory.search(question["query"], limit=10, profile=one).hits
                        }
                        for one in tried
                    ]
                    found[name].append([len(wanted & first) / len(wanted) for first in ranked])
    print(
        f"\nweights chosen on the other conversations, of {len(tried)}\n"
        f"  {'':14}{'questions':>10}{'vector':>9}{'word_vector':>9}{'R@10':>9}{profile.name:>9}"
    )
    total = own = 0.0
    for name, rows in found.items():
        others = [row for other, some in found.items() if other != name for row in some]
        sums = [sum(column) for column in zip(*others, strict=True)]
        best = max(range(len(tried)), key=lambda place: (round(sums[place], 9), -place))
        total += sum(row[best] for row in rows)
        own += sum(row[0] for row in rows)
        print(
            f"  {name:14}{len(rows):>10}{tried[best].vector:>9.2f}{tried[best].word_vector:>9.2f}"
            f"{100 * sum(row[best] for row in rows) / len(rows):>9.1f}"
            f"{100 * sum(row[0] for row in rows) / len(rows):>9.1f}"
        )
    many = sum(map(len, found.values()))
    print(f"  {'all':14}{many:>10}{'':>18}{100 * total / many:>9.1f}{100 * own / many:>9.1f}")


def with_plain_fts(turns: list[Row], questions: list[Row], args: argparse.Namespace) -> dict[str, list[str]]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='unicode61')")
    connection.executemany(
        "INSERT INTO turns(rowid, text) VALUES (?, ?)",
        [(place, turn["text"]) for place, turn in enumerate(turns)],
    )
    found = {}
    for question in questions:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question["query"]))
        rows = connection.execute(
            "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT 50", (match,)
        )
        found[question["qid"]] = [turns[place]["id"] for (place,) in rows]
    return found


def score(ranked: list[str], relevant: set[str], session_of: dict[str, int]) -> tuple[float, ...]:
    first = next((place for place, turn in enumerate(ranked, 1) if turn in relevant), None)
    sessions = list(dict.fromkeys(session_of[turn] for turn in ranked))[:5]
    return (
        len(relevant & set(ranked[:5])) / len(relevant),
        len(relevant & set(ranked[:10])) / len(relevant),
        1.0 / first if first else 0.0,
        float(bool(relevant & set(ranked[:10]))),
        float(any(session_of[turn] in sessions for turn in relevant)),
    )


def grouped(rows: Iterable[Row], key: str = "conv") -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return dict(found)


def evaluate(
    find: Find,
    turns: dict[str, list[Row]],
    questions: dict[str, list[Row]],
    answers: list[Row],
    args: argparse.Namespace,
) -> tuple[dict[str, list[tuple[float, ...]]], dict[str, list[str]]]:
    run: dict[str, list[str]] = {}
    for conversation, asked in questions.items():
        run |= find(turns[conversation], asked, args)
    scores: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for answer in answers:
        session_of = {turn["id"]: turn["session"] for turn in turns[answer["conv"]]}
        values = score(run.get(answer["qid"], []), set(answer["relevant"]), session_of)
        scores[answer["category"]].append(values)
        scores["all"].append(values)
        if args.each:
            scores[answer["conv"]].append(values)
    return dict(scores), run


def show(title: str, scores: dict[str, list[tuple[float, ...]]], seconds: float) -> dict[str, list[float]]:
    print(f"\n{title} ({seconds:.1f} s)")
    print(f"  {'':14}{'questions':>10}" + "".join(f"{name:>9}" for name in HEAD))
    means = {}
    for category in [*sorted(set(scores) - {"all"}), "all"]:
        values = scores[category]
        means[category] = [100 * sum(column) / len(values) for column in zip(*values, strict=True)]
        print(f"  {category:14}{len(values):>10}" + "".join(f"{mean:9.1f}" for mean in means[category]))
    return means


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", choices=("offline", "minilm", "off"), default="offline")
    parser.add_argument("--profile", default=None)
    parser.add_argument("--each", action="store_true", help="a row for each conversation too")
    parser.add_argument(
        "--together", action="store_true", help="also all conversations in one memory, filtered by session"
    )
    parser.add_argument("--leave-one-out", action="store_true", help="are the weights good beyond these?")
    parser.add_argument("--min", type=float, default=0.0)
    parser.add_argument("--run", type=Path, help="write the ranking of every question to this file")
    args = parser.parse_args()
    turns, questions = grouped(load(args.data, "docs")), grouped(load(args.data, "queries"))
    answers = load(args.data, "qrels")
    print(
        f"{sum(map(len, turns.values())):,} turns, {len(answers)} questions; R@k: share of evidence turns in the top k, %"
    )
    if args.leave_one_out:
        leave_one_out(turns, questions, answers, args)
        return 0
    ways: list[tuple[str, Find]] = [
        ("plain FTS5, words ORed", with_plain_fts),
        (f"memtui, embedder {args.embedder}", with_memtui),
    ]
    runs = []
    if args.together:
        title = f"memtui, embedder {args.embedder}, all in one memory, filtered by session"
        ways.append((title, in_one_memory(turns, args)))
    for title, find in ways:
        started = time.perf_counter()
        scores, run = evaluate(find, turns, questions, answers, args)
        runs.append((run, show(title, scores, time.perf_counter() - started)["all"][1]))
    run, result = runs[1]
    if args.together:
        same = sum(runs[2][0][qid][:10] == ids[:10] for qid, ids in run.items())
        print(f"\n{same} of {len(run)} questions have the same first ten either way")
    if args.run:
        with args.run.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps({"qid": qid, "ranked": ids}) + "\n" for qid, ids in run.items())
    if result < args.min:
        print(f"\nR@10 {result:.1f} is below {args.min:.1f}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
