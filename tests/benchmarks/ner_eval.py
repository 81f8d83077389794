"""Precision, recall and F1 of each strategy that finds names, on labelled notes and on CoNLL files.

    python tests/benchmarks/ner_eval.py [FILE ...] [--strategy NAME ...] [--part tuned|held] [--show]

Without a file: the notes in tests/data/named_notes.txt, each part by itself, and those of another writer (names_n: trained on
and unseen). A file whose name ends in ``.conll`` has a token, a tab and a BIO tag a line, with a blank line between texts. A
name is right when both its ends are (untyped), or its type too (typed); "right types" is the share of the second in the first;
"recall of names" counts people, places, organisations and projects. ``--show`` prints mistakes, but not of what is held back.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memtui.engine.models.ner import NameRecogniser, NameSpan, merge_spans

DATA = Path(__file__).parents[1] / "data"
NOTES = DATA / "named_notes.txt"
OTHERS = {"names_n, trained on": DATA / "names_n_train.txt", "names_n, unseen": DATA / "names_n_unseen.txt"}
STRATEGIES = ("fast", "local")
NAMES = ("person", "organization", "location", "project")
TYPES = {"person": "person", "location": "location", "corporation": "organization", "group": "organization"}
NO_SPACE_BEFORE = frozenset(".,!?;:)'’%…")
# What has a mark of its own is no name.
MARKED = frozenset({"email", "url", "date"})


class Gold(NamedTuple):
    start: int
    end: int
    type: str


Text = tuple[str, list[Gold]]


def notes(part: str, file: Path = NOTES) -> list[Text]:
    """The notes that rules are tuned on, or those that are held out (every third)."""
    lines = [line for line in file.read_text("utf-8").splitlines() if line and not line.startswith("# ")]
    return [unmarked(line) for at, line in enumerate(lines) if (at % 3 == 2) == (part == "held")]


def unmarked(line: str) -> Text:
    """A note and where its names stand; they are written ``{words|type}``."""
    text, names = "", []
    for piece in line.split("{"):
        marked, closing, rest = piece.partition("}")
        if closing:
            name, _, type = marked.partition("|")
            names.append(Gold(len(text), len(text) + len(name), type))
            text += name + rest
        else:
            text += piece
    return text, names


def conll(file: Path) -> Iterator[Text]:
    """The texts, put together from their tokens, with the names in them."""
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


class Score(NamedTuple):
    """``recall_of_names`` leaves out what is of type other."""

    precision: float
    recall: float
    f1: float
    typed_f1: float
    right_types: float
    recall_of_names: float


def score(texts: Sequence[Text], found: Sequence[Sequence[NameSpan]]) -> Score:
    counts: Counter[str] = Counter()
    for (_, gold), spans in zip(texts, found, strict=True):
        here = {(span.start, span.end): span.type for span in spans}
        counts["gold"] += len(gold)
        counts["found"] += len(here)
        for start, end, type in gold:
            right = (start, end) in here
            counts["right"] += right
            counts["typed"] += here.get((start, end)) == type
            counts["names"] += type in NAMES
            counts["right names"] += right and type in NAMES
    return Score(
        counts["right"] / (counts["found"] or 1),
        counts["right"] / (counts["gold"] or 1),
        2 * counts["right"] / ((counts["found"] + counts["gold"]) or 1),
        2 * counts["typed"] / ((counts["found"] + counts["gold"]) or 1),
        counts["typed"] / (counts["right"] or 1),
        counts["right names"] / (counts["names"] or 1),
    )


def read(
    recogniser: NameRecogniser, texts: Sequence[Text], strategy: str
) -> tuple[list[list[NameSpan]], float]:
    """The names that a strategy finds, without what has a mark of its own; milliseconds a text."""
    extraction = asyncio.run(recogniser.find_names([text for text, _ in texts], strategy))
    found = [
        [trimmed(span) for span in merge_spans(spans) if span.type not in MARKED]
        for spans in extraction.spans
    ]
    return found, extraction.report.milliseconds / (len(texts) or 1)


def trimmed(span: NameSpan) -> NameSpan:
    """Without the sign of a handle or tag: the labels leave it out."""
    sign = span.text[:1] in ("@", "#")
    return NameSpan(
        text=span.text[sign:], start=span.start + sign, end=span.end, type=span.type,
        confidence=span.confidence, provider=span.provider, name=span.name,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--part", choices=("tuned", "held"))
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()

    parts = [arguments.part] if arguments.part else ["tuned", "held"]
    sets = {f"notes, {part}": notes(part) for part in parts} if not arguments.files else {}
    if not arguments.files and not arguments.part:
        sets |= {name: [*notes("tuned", file), *notes("held", file)] for name, file in OTHERS.items()}
    for file in arguments.files:
        sets[file.name] = (
            list(conll(file)) if file.suffix == ".conll" else [*notes("tuned", file), *notes("held", file)]
        )
    recogniser = NameRecogniser()
    for strategy in arguments.strategy or STRATEGIES:
        asyncio.run(recogniser.find_names(["Loading takes time."], strategy))
    print(f"{'':30} precision  recall     F1   typed F1   right types   recall of names   ms a text")
    for name, texts in sets.items():
        for strategy in arguments.strategy or STRATEGIES:
            missing = recogniser.missing_providers(strategy)
            if missing:
                print(f"{name:22} {strategy:8} without {missing}")
            found, milliseconds = read(recogniser, texts, strategy)
            one = score(texts, found)
            print(
                f"{name[:22]:22} {strategy:8} {one.precision:8.1%} {one.recall:7.1%} {one.f1:7.1%} {one.typed_f1:9.1%}"
                f" {one.right_types:12.1%}"
                f" {one.recall_of_names:16.1%} {milliseconds:12.3f}"
            )
            if arguments.show and not any(word in name for word in ("held", "unseen")):
                show(texts, found)


def show(texts: Sequence[Text], found: Sequence[Sequence[NameSpan]]) -> None:
    for (text, gold), spans in zip(texts, found, strict=True):
        wanted = [(text[start:end], type) for start, end, type in gold]
        got = [(span.text, span.type) for span in spans]
        if wanted != got:
            print(f"  {text}")
            print(f"     missed {[one for one in wanted if one not in got]}")
            print(
                f"     wrong  {[(s.text, s.type, s.provider, s.confidence) for s in spans if (s.text, s.type) not in wanted]}"
            )


if __name__ == "__main__":
    main()
