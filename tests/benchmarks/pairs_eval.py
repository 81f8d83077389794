"""Print how statement pairs are judged: python tests/benchmarks/pairs_eval.py PAIRS.jsonl

Each line of the file is an object with ``a``, ``b`` and ``label`` (duplicate, contradiction, neutral). Budget,
without a model: duplicates found >= 0.30 at precision >= 0.90; contradictions called duplicates <= 3%.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from memtui.engine.maintain.similarity import compare

KINDS = ("duplicate", "conflict", "related", "different")


def main(path: Path) -> int:
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    started = time.perf_counter()
    judged = Counter((pair["label"], compare(pair["a"], pair["b"]).kind) for pair in pairs)
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
    return 0 if recall >= 0.3 and precision >= 0.9 and wrong <= 0.03 else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
