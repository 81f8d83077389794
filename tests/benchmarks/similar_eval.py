"""How many texts that say an erased fact in other words are listed beside the plan of the erase, and how many others.

    python tests/benchmarks/similar_eval.py           the dev half, which the classifier learned from
    python tests/benchmarks/similar_eval.py held      another half (held, fresh, unseen): only counts

Each writer of the pairs of ``tests/data/talks`` is a memory of all that they said. From it facts are erased that the
writer said again in other words.
"""

from __future__ import annotations

import random
import sys

from extract_eval import TALKS, pairs_of
from memtui import Memory
from memtui.engine.records import Options

MOST = 120


def count(half: str) -> None:
    erased = listed = others = texts = 0
    for file in sorted(TALKS.glob("updates_*.jsonl")):
        pairs = pairs_of(file, half)
        again = [(row["new"], row["old"]) for row in pairs if row["label"] == "duplicate"]
        tied = {(row["new"], row["old"]) for row in pairs}
        if not again:
            continue
        with Memory.open(":memory:", options=Options(background=False)) as memory:
            said = dict.fromkeys(text for row in pairs for text in (row["new"], row["old"]))
            ids = {text: memory.remember(text).id for text in said}
            texts += len(ids)
            memory.models.index_pending()
            for new, old in random.Random(1).sample(again, min(len(again), MOST)):
                similar = [one.key for one in memory.files.plan_erase([ids[old]]).similar]
                erased += 1
                listed += ids[new] in similar
                # What is paired with it as a change of it or as something else is about the same, and counts for neither.
                others += len(
                    [id for id in similar if id not in {ids[one] for one, other in tied if other == old}]
                )
    print(f"{half}: {erased} facts erased among {texts}; listed {listed} ({listed / max(1, erased):.2f}), "
          f"others for each {others / max(1, erased):.1f}")  # fmt: skip


if __name__ == "__main__":
    for half in sys.argv[1:] or ["dev"]:
        count(half)
