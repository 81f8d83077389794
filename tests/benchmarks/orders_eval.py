"""How many orders of a file are recognised, and how many ordinary texts are taken for one. Prints counts only.

python tests/benchmarks/orders_eval.py FILE.jsonl
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from memtui.engine.guards.instructions import find_instructions


def main() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    kept: Counter[tuple[str, str]] = Counter()
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for language in (row["lang"], "all"):
            key = (language, row["label"])
            seen[key] += 1
            kept[key] += bool(find_instructions(row["text"]))
    for language, label in sorted(seen):
        key = (language, label)
        print(f"{language:4}{label:9} kept back {kept[key]:4} of {seen[key]:4}")


if __name__ == "__main__":
    main()
