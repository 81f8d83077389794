"""Train what tells lasting statements from passing ones, from tests/data/sentences and the dev half of tests/data/talks.

    python tests/benchmarks/extract_train.py            cross-validated: each person of the dev half, each file left out
    python tests/benchmarks/extract_train.py --write    the same, then memtui/engine/consolidation/extract/durability.npz

A file of sentences has a topic as heading ("# health"; "# none" for what is not to be kept) and a sentence a line. The
clauses of the talks are labelled by their patterns: what is worth keeping, and what must not become a fact; what matches
neither is left out, for it may be worth keeping too. Needs scikit-learn, which the program itself does not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from extract_eval import TALKS, matches, read_talk
from memtui.engine.consolidation.extract.clauses import clause_spans
from memtui.engine.consolidation.extract.durability import (
    HASHED,
    TOPIC_HASHED,
    TOPICS,
    WEIGHTS,
    dense_features,
    hashed_features,
)
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.models.embedders import OfflineEmbedder
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

SENTENCES = Path(__file__).parents[1] / "data" / "sentences"
STRENGTH, TOPIC_STRENGTH = 1.0, 1.0


class Labelled(NamedTuple):
    text: str
    topic: str
    writer: str


def of_files() -> list[Labelled]:
    found = []
    for file in sorted(SENTENCES.glob("*.txt")):
        topic = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                topic = line[2:].strip()
                assert topic == "none" or topic in TOPICS, (file, line)
            elif line.strip():
                found.append(Labelled(line.strip(), topic, file.stem))
    return found


def of_talks() -> list[Labelled]:
    """The clauses of the persons of the dev half."""
    found = []
    for person in json.loads((TALKS / "split.json").read_text(encoding="utf-8"))["dev"]:
        talk = read_talk(person)
        for session in talk["sessions"]:
            for role, content in session["turns"]:
                if role != "user":
                    continue
                for sentence in split_sentences(content):
                    for start, end in clause_spans(sentence):
                        text = sentence.masked[start:end]
                        topic = label(talk, session["id"], sentence, text)
                        if topic:
                            found.append(Labelled(text, topic, person))
    return found


def label(talk: dict[str, Any], session: str, sentence: Any, text: str) -> str:
    if sentence.question or any(
        matches(never["pattern"], text) for never in talk["never"] if never["session"] == session
    ):
        return "none"
    for gold in talk["gold"]:
        if matches(gold["pattern"], text):
            return str(gold["topic"]) if gold["topic"] in TOPICS else "people"
    return "plan" if any(matches(pair["old"], text) for pair in talk["superseded"]) else ""


def sparse(texts: list[str], size: int) -> Any:
    places, values, ends = [], [], [0]
    for text in texts:
        found = hashed_features(text)
        places += [place % size for place in found]
        values += found.values()
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(texts), size))


def fitted(features: Any, durable: Any) -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, solver="liblinear").fit(features, durable)


def told(name: str, scores: Any, durable: Any) -> None:
    order = np.argsort(-scores)
    hits = np.cumsum(durable[order])
    precision = hits / np.arange(1, len(order) + 1)
    print(f"{name:14} {len(order):5} of which {durable.sum():4}", end="")
    for least in (0.9, 0.85, 0.8, 0.75):
        good = np.flatnonzero(precision >= least)
        at = good[-1] if len(good) else 0
        probability = 1 / (1 + np.exp(-scores[order[at]]))
        print(f"  {hits[at] / max(1, durable.sum()):4.0%} at {least:.0%} (from {probability:.2f})", end="")
    print()


class Prepared(NamedTuple):
    """The features of the labelled texts. ``durable``, ``topics``, ``writers``: one for each row."""

    features: Any
    of_topic: Any
    durable: Any
    topics: Any
    writers: Any
    width: int

    def only(self, rows: Any) -> Prepared:
        """Of some rows only (a mask)."""
        return Prepared(*(part[rows] for part in self[:-1]), self.width)


def prepared() -> Prepared:
    rows = of_files() + of_talks()
    texts = [row.text for row in rows]
    dense = dense_features(texts, OfflineEmbedder())
    return Prepared(
        features=hstack([csr_matrix(dense), sparse(texts, HASHED)]).tocsr(),
        of_topic=hstack([csr_matrix(dense), sparse(texts, TOPIC_HASHED)]).tocsr(),
        durable=np.array([row.topic != "none" for row in rows]),
        topics=np.array([row.topic for row in rows]),
        writers=np.array([row.writer for row in rows]),
        width=dense.shape[1],
    )


def main() -> None:
    found = prepared()
    scores = np.zeros(len(found.durable))
    for writer in dict.fromkeys(found.writers):
        inside = found.writers != writer
        model = fitted(found.features[inside], found.durable[inside])
        scores[~inside] = model.decision_function(found.features[~inside])
        told(writer, scores[~inside], found.durable[~inside])
    persons = np.array([writer[1:].isdigit() for writer in found.writers])
    told("all persons", scores[persons], found.durable[persons])
    told("all files", scores[~persons], found.durable[~persons])
    if "--write" in sys.argv:
        write(found, WEIGHTS)


def write(found: Prepared, file: Path) -> None:
    model = fitted(found.features, found.durable)
    named = LogisticRegression(C=TOPIC_STRENGTH, max_iter=300)
    named.fit(found.of_topic[found.durable], found.topics[found.durable])
    order = [list(named.classes_).index(topic) for topic in TOPICS]
    parts: dict[str, Any] = {"bias": np.float32(model.intercept_[0])}
    parts["topic_bias"] = named.intercept_[order].astype(np.float32)
    for name, weights in (
        ("dense", model.coef_[0][: found.width]),
        ("words", model.coef_[0][found.width :]),
        ("topic_dense", named.coef_[order][:, : found.width].T),
        ("topic_words", named.coef_[order][:, found.width :].T),
    ):
        scale = float(np.abs(weights).max() / 127)
        parts[name] = np.rint(weights / scale).astype(np.int8)
        parts[f"{name}_scale"] = np.float32(scale)
    np.savez_compressed(file, **parts)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
