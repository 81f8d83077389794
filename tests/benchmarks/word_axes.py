"""Make memtui/engine/models/minilm_axes.npy: the axes on which the tokens of texts differ most.

    python tests/benchmarks/word_axes.py OUT

Read are the texts of the demo. The table is float16 (1 + 64, 384): the middle of all tokens, then the 64 first principal
axes, largest first. A vector of a word is what is left of a token's 384 numbers along them. Needs the extra ``minilm``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from memtui.engine.models.minilm import MiniLmEmbedder

DEMO = Path(__file__).parents[2] / "assets" / "demo.jsonl"


def main() -> None:
    with DEMO.open(encoding="utf-8") as lines:
        texts = [row["content"] for row in map(json.loads, lines) if "content" in row]
    model = MiniLmEmbedder()
    tokens = np.concatenate([model.tokenise_and_embed(text).rows for text in texts]).astype(np.float64)
    middle = tokens.mean(axis=0)
    _, _, axes = np.linalg.svd(tokens - middle, full_matrices=False)
    np.save(sys.argv[1], np.vstack([middle, axes[: model.word_vector_dims]]).astype(np.float16))
    print(f"{len(tokens):,} tokens of {len(texts):,} texts")


if __name__ == "__main__":
    main()
