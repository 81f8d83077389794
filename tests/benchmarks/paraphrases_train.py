"""Train what tells that two statements say the same in other words, from tests/data/updates and the dev half of tests/data/talks.

    python tests/benchmarks/paraphrases_train.py            no writer is judged by what was trained on their texts
    python tests/benchmarks/paraphrases_train.py --write    the same, then memtui/engine/consolidation/compare/paraphrase.npz
    python tests/benchmarks/paraphrases_train.py --show     the cards that the talks of the dev half would get
    python tests/benchmarks/paraphrases_train.py --half H   only count the cards of pairs of a half (held, fresh, unseen)
    python tests/benchmarks/paraphrases_train.py --pairs F  the same of a file as pairs_eval.py reads it

Pairs that are labelled "duplicate" say the same. A statement of a talk is compared with the three known ones most like it:
almost none of these say the same, so all count a little as pairs that do not.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from extract_eval import HALVES, TALKS, pairs_of, read_talk
from memtui.engine.consolidation.compare.pair_features import Statement
from memtui.engine.consolidation.compare.paraphrase import (
    WEIGHTS,
    features_of_pairs,
    find_paraphrase,
)
from memtui.engine.consolidation.compare.similarity import compare_statements
from memtui.engine.consolidation.compare.update_model import update_model
from sklearn.linear_model import LogisticRegression
from updates_train import UPDATES, drawn

STRENGTH = 0.03
OF_FILES, OF_TALKS = 0.5, 0.05
NEAREST = 3
PRECISIONS = (0.8, 0.85, 0.88, 0.9, 0.93)


class Example(NamedTuple):
    """``writer``: "" for the maker of the program, by whom nothing is counted. ``sort``: pairs, files or talks."""

    writer: str
    sort: str
    new: str
    old: str
    same: bool


def of_pairs() -> list[Example]:
    return [
        Example(file.stem.removeprefix("updates_")[0], "pairs", row["new"], row["old"], row["label"] == "duplicate")
        for file in sorted(TALKS.glob("updates_*.jsonl"))
        for row in pairs_of(file, "dev")
    ]  # fmt: skip


def of_files() -> list[Example]:
    """What follows a known statement, and the other one that is most like it."""
    found = []
    for file in sorted(UPDATES.glob("*.txt")):
        for person in re.split(r"^# ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            lines = [line for line in person.splitlines()[1:] if line[0] in ">=-" or line[0].isdigit()]
            known = dict(line.split(" ", 1) for line in lines if line[0].isdigit())
            for line in lines:
                if line[0].isdigit():
                    continue
                number, text = line.split(" ", 2)[1:] if line[0] in ">=" else ("", line[2:])
                if number:
                    found.append(Example("", "files", text, known[number], line[0] == "="))
                others = [one for key, one in known.items() if key != number]
                nearest = update_model().most_similar(Statement(text), others, 1)
                found += [Example("", "files", text, others[at], False) for at in nearest]
    return found


def of_talks() -> list[Example]:
    found = []
    for person in json.loads((TALKS / "split.json").read_text(encoding="utf-8"))["dev"]:
        known: list[str] = []
        for new, bare in drawn(read_talk(person)):
            found += [
                Example(person[0], "talks", new.text, known[at], False)
                for at in update_model().most_similar(new, known, NEAREST)
                if compare_statements(new.text, known[at]).kind != "duplicate"
            ]
            if not bare:
                known.append(new.text)
    return found


class Fitted(NamedTuple):
    mean: Any
    spread: Any
    model: LogisticRegression

    def scores(self, table: Any) -> Any:
        return self.model.decision_function(((table - self.mean) / self.spread).clip(-4, 4))


def fitted(table: Any, sorts: Any, same: Any, rows: Any) -> Fitted:
    """Fitted to some rows (a mask)."""
    pairs = table[rows & (sorts == "pairs")]
    mean, spread = pairs.mean(0), pairs.std(0) + 1e-3
    weights = np.select([sorts == "pairs", sorts == "files"], [1.0, OF_FILES], OF_TALKS)
    model = LogisticRegression(C=STRENGTH, max_iter=500)
    model.fit(((table[rows] - mean) / spread).clip(-4, 4), same[rows], sample_weight=weights[rows])
    return Fitted(mean, spread, model)


def left_out(examples: list[Example], table: Any, *, show: bool) -> None:
    writers = np.array([one.writer for one in examples])
    sorts = np.array([one.sort for one in examples])
    same = np.array([one.same for one in examples])
    scores = np.full(len(examples), -np.inf)
    for writer in sorted({one.writer for one in examples if one.writer}):
        own = writers == writer
        scores[own] = fitted(table, sorts, same, ~own).scores(table[own])
    pairs = sorts == "pairs"
    order = np.argsort(-scores[pairs])
    found = np.cumsum(same[pairs][order])
    precision, recall = found / np.arange(1, len(found) + 1), found / found[-1]
    for least in PRECISIONS:
        at = int(np.max(np.nonzero(precision >= least)[0]))
        score = scores[pairs][order[at]]
        asked = {(one.writer, one.new) for one, each in zip(examples, scores, strict=True)
                 if one.sort == "talks" and each >= score}  # fmt: skip
        print(
            f"precision {least}: recall {recall[at]:.2f} from {score:.2f}; statements of talks {len(asked)}"
        )
    if show:
        for at in np.argsort(-scores):
            if examples[at].sort == "talks" and scores[at] >= 0:
                print(f"{scores[at]:5.2f} {examples[at].writer} | {examples[at].new}  |  {examples[at].old}")


def write(found: Fitted) -> None:
    np.savez_compressed(
        WEIGHTS,
        mean=found.mean.astype(np.float32), spread=found.spread.astype(np.float32),
        slopes=found.model.coef_[0].astype(np.float32), shift=np.float32(found.model.intercept_[0]),
    )  # fmt: skip
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size / 1000:.1f} kB")


def count(name: str, rows: list[tuple[str, str, bool]]) -> None:
    """How many of (new, known, whether they say the same) get a card."""
    called = [same for new, old, same in rows if find_paraphrase(new, [old]) is not None]
    wanted = sum(same for _, _, same in rows)
    right = sum(called)
    print(f"{name}: {len(rows)} pairs, {wanted} say the same; asked {len(called)}, right {right}: "
          f"recall {right / max(1, wanted):.2f}, precision {right / max(1, len(called)):.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--pairs", type=Path)
    options = parser.parse_args()
    if options.pairs:
        read = [json.loads(line) for line in options.pairs.read_text(encoding="utf-8").splitlines() if line]
        count(options.pairs.name, [(row["a"], row["b"], row["label"] == "duplicate") for row in read])
        return
    if options.half:
        for file in sorted(TALKS.glob("updates_*.jsonl")):
            if found := pairs_of(file, options.half):
                count(file.stem, [(row["new"], row["old"], row["label"] == "duplicate") for row in found])
        return
    examples = of_pairs() + of_files() + of_talks()
    table = np.vstack([features_of_pairs(one.new, [one.old]) for one in examples])
    left_out(examples, table, show=options.show)
    if options.write:
        sorts = np.array([one.sort for one in examples])
        same = np.array([one.same for one in examples])
        write(fitted(table, sorts, same, np.ones(len(examples), bool)))


if __name__ == "__main__":
    main()
