"""How statement pairs are judged: python tests/benchmarks/pairs_eval.py PAIRS.jsonl [--embedder offline|minilm]

Each line of the file is an object with ``a``, ``b`` and ``label`` (duplicate, contradiction, neutral). Budget,
without a model: duplicates found >= 0.30 at precision >= 0.90; contradictions called duplicates <= 3%.

With --embedder also what Health calls nearly the same (``review.near_duplicates``: near by their vectors, and the words
agree), for each of some cosines. The budget is that precision, and as many found as it leaves.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from memtui.engine.consolidation.compare.similarity import analyse_statement, compare_statements
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.minilm import MiniLmEmbedder
from memtui.engine.review.near_duplicates import say_the_same

KINDS = ("duplicate", "conflict", "related", "different")
COSINES = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
EMBEDDERS = {"offline": OfflineEmbedder, "minilm": MiniLmEmbedder}


def by_words(pairs: list[dict[str, Any]]) -> bool:
    """Print how rules alone judge; whether that is within the budget."""
    started = time.perf_counter()
    judged = Counter((pair["label"], compare_statements(pair["a"], pair["b"]).kind) for pair in pairs)
    seconds = time.perf_counter() - started
    labels = Counter(pair["label"] for pair in pairs)
    print(f"{'':14}" + "".join(f"{kind:>11}" for kind in KINDS) + f"{'all':>8}")
    for label, total in labels.most_common():
        print(f"{label:14}" + "".join(f"{judged[label, kind]:11}" for kind in KINDS) + f"{total:8}")
    called = sum(judged[label, "duplicate"] for label in labels)
    recall = judged["duplicate", "duplicate"] / max(1, labels["duplicate"])
    precision = judged["duplicate", "duplicate"] / max(1, called)
    wrong = judged["contradiction", "duplicate"] / max(1, labels["contradiction"])
    print(f"duplicates: recall {recall:.2f} (>= 0.30), precision {precision:.2f} (>= 0.90)")
    print(f"contradictions called duplicates: {wrong:.1%} (<= 3%)")
    print(f"{1e6 * seconds / max(1, len(pairs)):.0f} µs a pair")
    return recall >= 0.3 and precision >= 0.9 and wrong <= 0.03


def by_vectors(pairs: list[dict[str, Any]], name: str) -> None:
    embedder = EMBEDDERS[name]()
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair["a"], pair["b"])))
    place = {text: number for number, text in enumerate(texts)}
    vectors = np.concatenate(
        [embedder.embed(texts[start : start + 64]) for start in range(0, len(texts), 64)]
    )
    cosines = [float(vectors[place[pair["a"]]] @ vectors[place[pair["b"]]]) for pair in pairs]
    agreeing = [say_the_same(analyse_statement(pair["a"]), analyse_statement(pair["b"])) for pair in pairs]
    duplicates = sum(pair["label"] == "duplicate" for pair in pairs)
    print(
        f"\n{name}: near by vectors, and the words agree\n{'cosine':>8}{'called':>8}{'recall':>8}{'precision':>11}"
    )
    for least in COSINES:
        called = [
            pair["label"]
            for pair, cosine, same in zip(pairs, cosines, agreeing, strict=True)
            if same and cosine >= least
        ]
        right = called.count("duplicate")
        print(f"{least:8.2f}{len(called):8}{right / max(1, duplicates):8.2f}{right / max(1, len(called)):11.2f}"
              f"   contradictions {called.count('contradiction')}, neutral {called.count('neutral')}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--embedder", choices=EMBEDDERS)
    args = parser.parse_args()
    lines = args.pairs.read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines if line.strip()]
    good = by_words(pairs)
    if args.embedder:
        by_vectors(pairs, args.embedder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
