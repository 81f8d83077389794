"""Precision and recall of the ``fast`` entity finder on a CoNLL file (token, tab, BIO tag; blank line between texts).

    python tests/benchmarks/ner_eval.py FILE [--show N]

Prints, for names of any type and per type, how many spans are found with exactly the right ends, and how
many at least overlap; then the time per text of 200 characters. ``--show`` prints mistakes.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memtui.engine.models.ner import extract_fast

TYPES = {"person": "person", "location": "location", "corporation": "organization", "group": "organization"}
NO_SPACE_BEFORE = frozenset(".,!?;:)'’%…")


class Gold(NamedTuple):
    start: int
    end: int
    type: str


def texts(file: Path) -> Iterator[tuple[str, list[Gold]]]:
    """The texts, put together from their tokens, with the gold spans."""
    text, spans = "", []
    for line in [*file.read_text("utf-8").splitlines(), ""]:
        if not line.strip():
            if text:
                yield text, spans
            text, spans = "", []
            continue
        token, tag = line.rsplit(None, 1)
        ending = text.endswith(("'", "’")) and token in ("s", "t", "re", "m", "ll", "ve", "d")
        if text and token[0] not in NO_SPACE_BEFORE and not text.endswith(("(", "“")) and not ending:
            text += " "
        start = len(text)
        text += token
        if tag.startswith("B-"):
            spans.append(Gold(start, len(text), TYPES.get(tag[2:], "other")))
        elif tag.startswith("I-") and spans:
            spans[-1] = spans[-1]._replace(end=len(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N")
    arguments = parser.parse_args()

    counts: Counter[str] = Counter()
    characters, seconds, shown = 0, 0.0, 0
    for text, gold in texts(arguments.file):
        start = time.perf_counter()
        spans = extract_fast(text)
        seconds += time.perf_counter() - start
        characters += len(text)
        found = [one for one in spans if one.provider == "names"]
        exact = {(one.start, one.end) for one in found}
        counts["gold"] += len(gold)
        counts["found"] += len(found)
        counts["exact"] += sum((one.start, one.end) in exact for one in gold)
        counts["overlap gold"] += sum(any(f.start < g.end and g.start < f.end for f in found) for g in gold)
        counts["overlap found"] += sum(any(f.start < g.end and g.start < f.end for g in gold) for f in found)
        types = {(one.start, one.end): one.type for one in found}
        for one in gold:
            counts[f"gold {one.type}"] += 1
            counts[f"found {one.type}"] += (one.start, one.end) in types
            counts[f"typed {one.type}"] += types.get((one.start, one.end)) == one.type
        wrong = exact ^ {(one.start, one.end) for one in gold}
        if wrong and shown < arguments.show:
            shown += 1
            print(text)
            print("   gold ", [(text[g.start : g.end], g.type) for g in gold])
            print("   found", [(f.text, f.type) for f in found])

    print(f"{arguments.file.name}: {counts['gold']} names, {counts['found']} found")
    print(report("exact", counts["exact"], counts["exact"], counts))
    print(report("overlap", counts["overlap gold"], counts["overlap found"], counts))
    for type in ("person", "location", "organization", "other"):
        total = counts[f"gold {type}"] or 1
        print(
            f"{type:13} {total:5} names  recall {counts[f'found {type}'] / total:5.1%}"
            f"  of these typed so {counts[f'typed {type}'] / (counts[f'found {type}'] or 1):5.1%}"
        )
    print(f"{seconds / characters * 200 * 1e3:.3f} ms per 200 characters")


def report(name: str, right_gold: int, right_found: int, counts: Counter[str]) -> str:
    recall = right_gold / (counts["gold"] or 1)
    precision = right_found / (counts["found"] or 1)
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    return f"{name:13} precision {precision:5.1%}  recall {recall:5.1%}  F1 {f1:5.1%}"


if __name__ == "__main__":
    main()
