"""What consolidation draws from talks whose writer it has not learned from: an estimate for talks that nobody has read.

    python tests/benchmarks/left_out_eval.py --train     weights without each writer of the dev half, into a folder of their own
    python tests/benchmarks/left_out_eval.py [--show] [PERSON ...]    counts each person of the dev half with the weights
                                                                    that did not see their writer

Stricter than leaving one person out: the persons of a writer speak alike. Rules and word lists were still tuned on the dev half.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import extract_train
import numpy as np
import topic_train
import updates_train
from extract_eval import TALKS, draw, judge, read_talk, told
from memtui.engine.consolidation.compare import update_model
from memtui.engine.consolidation.extract import durability, topic_model

WEIGHTS = Path(tempfile.gettempdir()) / "memtui-left-out"


def writers() -> dict[str, list[str]]:
    """The persons of the dev half by their writer."""
    found: dict[str, list[str]] = {}
    for person in json.loads((TALKS / "split.json").read_text(encoding="utf-8"))["dev"]:
        found.setdefault(person[0], []).append(person)
    return found


def by_writer(name: str, writer: str) -> bool:
    """Whether a person, or a file of pairs, is of a writer."""
    bare = name.removeprefix("updates_").removesuffix("_train")
    return bare[:1] == writer and len(bare) <= 2


def train() -> None:
    WEIGHTS.mkdir(exist_ok=True)
    statements = extract_train.prepared()
    topics = topic_train.prepared()
    updates = updates_train.prepared()
    for writer in writers():
        print(writer, flush=True)
        outside = np.array([not by_writer(name, writer) for name in statements.writers])
        extract_train.write(statements.only(outside), WEIGHTS / f"{writer}-durability.npz")
        outside = np.array([not by_writer(name, writer) for name in topics.writers])
        topic_train.write(topics.fitted(outside), WEIGHTS / f"{writer}-topics.bin")
        outside = np.array([not by_writer(name, writer) for name in updates.groups])
        updates_train.write(updates.trained(outside), WEIGHTS / f"{writer}-updates.npz")


def learn_without(writer: str) -> None:
    durability.WEIGHTS = WEIGHTS / f"{writer}-durability.npz"
    topic_model.WEIGHTS = WEIGHTS / f"{writer}-topics.bin"
    update_model.WEIGHTS = WEIGHTS / f"{writer}-updates.npz"
    for module in (durability, topic_model, update_model):
        module._load_weights.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("person", nargs="*")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.train:
        train()
        return
    if not WEIGHTS.is_dir():
        sys.exit("no weights: run with --train first")
    total: Counter[str] = Counter()
    seconds = 0.0
    for writer, persons in writers().items():
        learn_without(writer)
        some: Counter[str] = Counter()
        took_all = 0.0
        for person in persons:
            if options.person and person not in options.person:
                continue
            talk = read_talk(person)
            with tempfile.TemporaryDirectory() as folder:
                drawn, asked, took = draw(talk, Path(folder))
            some += judge(talk, drawn, asked, show=options.show)
            took_all += took
        if some:
            told(writer, some, took_all)
        total += some
        seconds += took_all
    told("all", total, seconds)


if __name__ == "__main__":
    main()
