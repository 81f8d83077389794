"""Train what recognises orders to an assistant, from tests/data/orders/*.jsonl, one file a writer.

    python tests/benchmarks/orders_train.py            cross-validated by writer, and by fifths where no order is shared
    python tests/benchmarks/orders_train.py --write    the same, then memtui/engine/guards/instructions/weights.bin

Needs scikit-learn, which the program itself does not. The same files give the same bytes.
"""

from __future__ import annotations

import json
import sys
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from memtui.engine.guards.instructions.score import _WEIGHTS, SIZE, features
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data" / "orders"
STRENGTH = 30.0


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def matrix(texts: list[str]) -> Any:
    places, values, ends = [], [], [0]
    for text in texts:
        found = features(text[:600])
        places += found.keys()
        values += found.values()
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(texts), SIZE))


def fitted(rows: Any, orders: Any) -> Any:
    return LogisticRegression(C=STRENGTH, max_iter=500).fit(rows, orders)


def told(name: str, scores: Any, orders: Any) -> None:
    print(f"{name:28}", end="")
    for share in (0.005, 0.01, 0.02, 0.05):
        least = np.quantile(scores[~orders], 1 - share)
        print(f"  {np.mean(scores[orders] > least):4.0%} at {share:.1%} (from {least:5.2f})", end="")
    print()


def main() -> None:
    files = {path.stem: read(path) for path in sorted(DATA.glob("*.jsonl"))}
    rows = [(name, row) for name, those in files.items() for row in those]
    read_features = matrix([row["text"] for _, row in rows])
    orders = np.array([row["label"] == "order" for _, row in rows])
    writers = np.array([name for name, _ in rows])
    for writer in files:
        inside = writers != writer
        if inside.any():
            model = fitted(read_features[inside], orders[inside])
            told(f"without {writer}, on it", model.decision_function(read_features[~inside]), orders[~inside])
    fold = np.arange(len(rows)) % 5
    scores = np.zeros(len(rows))
    for part in range(5):
        model = fitted(read_features[fold != part], orders[fold != part])
        scores[fold == part] = model.decision_function(read_features[fold == part])
    told("by fifths", scores, orders)
    for language in sorted({row["lang"] for _, row in rows}):
        those = np.array([row["lang"] == language for _, row in rows])
        told(f"  {language}", scores[those], orders[those])
    if "--write" in sys.argv:
        model = fitted(read_features, orders)
        scale = float(np.abs(model.coef_).max() / 127)
        weights = np.rint(model.coef_[0] / scale).astype(np.int8)
        ends = array("d", [scale, float(model.intercept_[0])])
        _WEIGHTS.write_bytes(ends.tobytes() + weights.tobytes())


if __name__ == "__main__":
    main()
