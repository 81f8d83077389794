"""Train what tells the topic of a statement, from tests/data/sentences and the dev half of tests/data/talks.

    python tests/benchmarks/topic_train.py            leaves each person of the dev half out, and says how many it gets right
    python tests/benchmarks/topic_train.py --write    the same, then memtui/engine/consolidation/extract/topics.bin

Of the talks it takes the clauses that match a gold pattern, and the sentences that match gold of one topic only. Needs
scikit-learn, which the program itself does not.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from extract_eval import TALKS, matches, read_talk
from extract_train import Labelled, of_files, sparse
from memtui.engine.consolidation.extract.clauses import clause_spans
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.consolidation.extract.topic_model import HASHED, OF_WORDS, TOPICS, WEIGHTS, model_features
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

STRENGTH = 0.1
# One file has sentences about illness only, half as many as of all topics together.
WEIGHT_OF_FILE = {"severe": 0.3}


def of_talks() -> list[Labelled]:
    """What the persons of the dev half say that is worth keeping: clauses, and whole sentences."""
    found: dict[Labelled, None] = {}
    for person in json.loads((TALKS / "split.json").read_text(encoding="utf-8"))["dev"]:
        talk = read_talk(person)
        for session in talk["sessions"]:
            gold = [one for one in talk["gold"] if one["session"] == session["id"] and one["topic"] in TOPICS]
            for role, content in session["turns"]:
                for sentence in split_sentences(content) if role == "user" else ():
                    if sentence.question:
                        continue
                    parts = [sentence.masked[start:end] for start, end in clause_spans(sentence)]
                    for text in dict.fromkeys([sentence.masked, *parts]):
                        topics = [one["topic"] for one in gold if matches(one["pattern"], text)]
                        if topics and (text in parts or len(set(topics)) == 1):
                            found[Labelled(text, topics[0], person)] = None
    return list(found)


def fitted(rows: Any, topics: Any, weights: Any) -> LogisticRegression:
    model = LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-2, class_weight="balanced")
    return model.fit(rows, topics, sample_weight=weights)


class Prepared(NamedTuple):
    """The features of the labelled texts. ``topics``, ``writers``, ``weights``: one for each row."""

    table: Any
    topics: Any
    writers: Any
    weights: Any

    def fitted(self, rows: Any) -> LogisticRegression:
        """Trained on some rows (a mask)."""
        return fitted(self.table[rows], self.topics[rows], self.weights[rows])


def prepared() -> Prepared:
    rows = [row for row in of_files() if row.topic != "none"] + of_talks()
    texts = [row.text for row in rows]
    return Prepared(
        table=hstack(
            [csr_matrix([model_features(text) for text in texts]), sparse(texts, HASHED) * OF_WORDS]
        ).tocsr(),
        topics=np.array([row.topic for row in rows]),
        writers=np.array([row.writer for row in rows]),
        weights=np.array([WEIGHT_OF_FILE.get(row.writer, 1.0) for row in rows]),
    )


def main() -> None:
    found = prepared()
    total, mistaken = Counter[bool](), Counter[tuple[str, str]]()
    for person in dict.fromkeys(row.writer for row in of_talks()):
        outside = found.writers == person
        wanted = found.topics[outside]
        named = found.fitted(~outside).predict(found.table[outside])
        right = named == wanted
        total.update(right.tolist())
        mistaken.update((str(a), str(b)) for a, b in zip(wanted, named, strict=True) if a != b)
        print(f"{person}  {right.sum()}/{len(right)} {right.mean():.0%}")
    print(f"persons that were left out: {total[True]}/{total.total()} {total[True] / total.total():.0%}")
    print("mistaken:", ", ".join(f"{a} for {b} {count}" for (a, b), count in mistaken.most_common(12)))
    if "--write" in sys.argv:
        write(found.fitted(slice(None)), WEIGHTS)


def write(model: LogisticRegression, file: Path) -> None:
    order = [list(model.classes_).index(topic) for topic in TOPICS]
    weights = model.coef_[order].T
    weights[0] += model.intercept_[order]
    file.write_bytes(np.rint(weights / np.abs(weights).max() * 127).astype(np.int8).tobytes())
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
