"""Train what tells that a statement replaces an older one, from tests/data/updates and the dev half of tests/data/talks.

    python tests/benchmarks/updates_train.py            cross-validated: no person is judged by what was trained on them
    python tests/benchmarks/updates_train.py --write    the same, then memtui/engine/consolidation/compare/update_model.npz
    python tests/benchmarks/updates_train.py --show     what is judged wrong

A file of updates has persons ("# ..."), what is known of each ("3 My van is a Vivaro"), what takes its place ("> 3 ..."), what
says the same ("= 3 ...") and what looks like a change and is none ("- ..."). Of the talks the facts are drawn that the program
draws; ``superseded`` and ``updates/talks.txt`` say which of them follow on which.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from extract_eval import TALKS, Clock, matches, pairs_of, read_talk
from memtui import Memory
from memtui.engine.consolidation.compare.candidates import earlier_messages, preceding_text
from memtui.engine.consolidation.compare.pair_features import (
    OF_CHANGE,
    Statement,
    change_probability,
    pair_features,
)
from memtui.engine.consolidation.compare.update_model import (
    CHANGE_HASHED,
    MOST_CHANGE,
    WEIGHTS,
    change_features,
    change_words,
    update_model,
)
from memtui.engine.consolidation.extract.protocol import Context
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.planner import in_order
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.records import MemoryRecord, Options
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

UPDATES = Path(__file__).parents[1] / "data" / "updates"
FOLDS, NETWORKS, HIDDEN, ROUNDS, DECAY = 10, 3, 24, 40, 5e-3
CHANGE_FOLDS, CHANGE_STRENGTH = 5, 0.3
REPLACES, APART, UNCLEAR = 1, 0, -1
WEIGHT_OF_PAIR = 4.0
# Its look-alikes are harder than what talks hold.
WEIGHT_OF_FILE = dict.fromkeys(("updates_j", "updates_p_train", "updates_q_train"), 1.6)
SCORES = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)


class Question(NamedTuple):
    """A new statement, what is known when it is said, and for each of the known whether it takes its place."""

    group: str
    sort: str
    new: Statement
    known: tuple[Statement, ...]
    labels: tuple[int, ...]
    weight: float


def of_files() -> list[Question]:
    found = []
    for file in sorted(UPDATES.glob("*.txt")):
        if file.stem == "talks":
            continue
        for person in re.split(r"^# ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            found += _of_person(f"{file.stem}: {person.splitlines()[0]}", person.splitlines()[1:])
    return found


def _of_person(name: str, lines: list[str]) -> list[Question]:
    known: dict[str, str] = {}
    found = []
    for line in lines:
        if line[0].isdigit():
            number, text = line.split(" ", 1)
            if known:
                found.append(_question(name, text, known, "", 0.5))
            known[number] = text
    updates: dict[str, str] = {}
    for line in lines:
        if line[0] == "-":
            found.append(_question(name, line[2:], known, "", 1.0))
            (nearest,) = update_model().most_similar(Statement(line[2:]), list(known.values()), 1)
            found.append(_question(name, line[2:], dict([list(known.items())[nearest]]), "", 1.0))
        elif line[0] in ">=":
            _, number, text = line.split(" ", 2)
            target = number if line[0] == ">" else ""
            found.append(_question(name, text, known, target, 1.0))
            found.append(_question(name, text, {number: known[number]}, target, 1.0))
            if line[0] == ">":
                others = {key: one for key, one in updates.items() if key != number}
                if others:
                    found.append(_question(name, text, others, "", 0.5))
                updates[number] = text
    return found


def _question(name: str, text: str, known: dict[str, str], target: str, weight: float) -> Question:
    labels = tuple(REPLACES if key == target else APART for key in known)
    return Question(
        name,
        "lists" if len(known) > 1 else "alone",
        Statement(text),
        tuple(map(Statement, known.values())),
        labels,
        weight,
    )


def of_pairs() -> list[Question]:
    found = []
    for file in sorted(TALKS.glob("updates_*.jsonl")):
        for row in pairs_of(file, "dev"):
            label = REPLACES if row["label"] == "conflict" else APART
            weight = WEIGHT_OF_FILE.get(file.stem, WEIGHT_OF_PAIR)
            new, known = Statement(row["new"]), (Statement(row["old"]),)
            found.append(Question(file.stem, "pairs", new, known, (label,), weight))
    return found


def of_talks() -> list[Question]:
    marks = [
        match.groups()
        for line in (UPDATES / "talks.txt").read_text(encoding="utf-8").splitlines()
        if (match := re.match(r"([+~]) (\w+) (.*) => (.*)", line))
    ]
    found = []
    for person in json.loads((TALKS / "split.json").read_text(encoding="utf-8"))["dev"]:
        talk = read_talk(person)
        facts: list[Statement] = []
        for new, bare in drawn(talk):
            if facts:
                labels = tuple(_label(talk, marks, new.text, old.text) for old in facts)
                found.append(Question(person, "bare" if bare else "talks", new, tuple(facts), labels, 3.0))
            if not bare:
                facts.append(new)
    return found


def _label(talk: dict[str, Any], marks: list[Any], new: str, old: str) -> int:
    for sign, person, one, other in marks:
        if (
            person == talk["person"]
            and one.casefold() in new.casefold()
            and other.casefold() in old.casefold()
        ):
            return REPLACES if sign == "+" else UNCLEAR
    return int(
        any(
            matches(pair["new"], new) and matches(pair["old"], old) and not matches(pair["new"], old)
            for pair in talk["superseded"]
        )
    )


def drawn(talk: dict[str, Any]) -> list[tuple[Statement, bool]]:
    """What the program draws from a talk, in the order in which it is said; and whether it only counts as an update."""
    clock = Clock()
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "talk.db", clock=clock, options=Options(background=False)) as memory,
    ):
        extractor = KeywordExtractor()
        facts = []
        for session in talk["sessions"]:
            clock.now = datetime.fromisoformat(session["start"]).replace(tzinfo=UTC).timestamp()
            turns: list[MemoryRecord] = []
            for role, content in session["turns"]:
                clock.now += 40
                turns.append(memory.record_turn(session["id"], role, content, project=session["project"]))
            said = {turn.id: turn for turn in turns}
            for draft in in_order(extractor.extract_now(turns, Context(session_id=session["id"])), turns):
                if draft.kind == "fact":
                    turn = said[draft.sources[0]]
                    before_it = preceding_text(draft.content, turn.content)
                    earlier = earlier_messages(turn, turns)
                    statement = Statement(draft.content, before_it, earlier, session["id"], turn.event_time)
                    facts.append((statement, draft.bare))
        return facts


class Network:
    """One hidden layer, by Adam."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def fit(self, table: Any, wanted: Any, weights: Any) -> Network:
        random = self._random
        self.mean, self.spread = table.mean(0), table.std(0) + 1e-3
        rows = self._scaled(table)
        count, width = rows.shape
        parts = [
            random.normal(0, width**-0.5, (width, HIDDEN)), np.zeros(HIDDEN),
            random.normal(0, HIDDEN**-0.5, HIDDEN), np.zeros(1),
        ]  # fmt: skip
        means, squares = [np.zeros_like(one) for one in parts], [np.zeros_like(one) for one in parts]
        weights = weights / weights.mean()
        step = 0
        for round in range(ROUNDS):
            rate = 3e-3 * (1 - round / ROUNDS)
            for some in np.array_split(random.permutation(count), max(1, count // 256)):
                step += 1
                hidden = np.tanh(rows[some] @ parts[0] + parts[1])
                chance = 1 / (1 + np.exp(-(hidden @ parts[2] + parts[3])))
                slope = weights[some] * (chance - wanted[some]) / len(some)
                back = np.outer(slope, parts[2]) * (1 - hidden * hidden)
                slopes = [
                    rows[some].T @ back + DECAY * parts[0], back.sum(0),
                    hidden.T @ slope + DECAY * parts[2], np.array([slope.sum()]),
                ]  # fmt: skip
                for at, one in enumerate(slopes):
                    means[at] = 0.9 * means[at] + 0.1 * one
                    squares[at] = 0.999 * squares[at] + 0.001 * one**2
                    bent = np.sqrt(squares[at] / (1 - 0.999**step)) + 1e-8
                    parts[at] = parts[at] - rate * means[at] / (1 - 0.9**step) / bent
        self.parts = parts
        return self

    def score(self, table: Any) -> Any:
        return np.tanh(self._scaled(table) @ self.parts[0] + self.parts[1]) @ self.parts[2] + self.parts[3]

    def _scaled(self, table: Any) -> Any:
        return ((table - self.mean) / self.spread).clip(-4, 4)


def trained(table: Any, wanted: Any, weights: Any) -> list[Network]:
    return [Network(seed).fit(table, wanted, weights) for seed in range(NETWORKS)]


def scored(networks: list[Network], table: Any) -> Any:
    return np.mean([network.score(table) for network in networks], axis=0)


def told(questions: list[Question], scores: list[Any]) -> None:
    for sort in ("lists", "alone", "talks", "bare", "pairs"):
        some = [(one, each) for one, each in zip(questions, scores, strict=True) if one.sort == sort]
        wanted = sum(REPLACES in one.labels for one, _ in some)
        print(f"{sort}: {len(some)} statements, {wanted} take the place of something")
        for least in SCORES:
            labels = [one.labels[int(np.argmax(each))] for one, each in some if max(each) >= least]
            right, called = labels.count(REPLACES), len(labels) - labels.count(UNCLEAR)
            print(
                f"  from {least:4.1f}: found {right / max(1, wanted):4.0%}, right {right / max(1, called):4.0%} of {called}"
            )


def show(questions: list[Question], scores: list[Any], least: float) -> None:
    for one, each in zip(questions, scores, strict=True):
        best = int(np.argmax(each))
        if each[best] >= least and one.labels[best] == APART:
            print(f"WRONG {each[best]:5.1f} {one.group} | {one.new.text}  <-  {one.known[best].text}")
        for place, label in enumerate(one.labels):
            if label == REPLACES and (each[place] < least or place != best):
                print(f"   miss {each[place]:5.1f} {one.group} | {one.new.text}  <-  {one.known[place].text}")


class Trained(NamedTuple):
    networks: list[Network]
    change: LogisticRegression


class Prepared(NamedTuple):
    """The pairs of all questions. ``question``: its index, ``groups``, ``labels``, ``weights``: one for each pair.

    ``changes``: the features of each question by which it sounds like a change."""

    questions: list[Question]
    question: Any
    table: Any
    groups: Any
    labels: Any
    weights: Any
    changes: Any

    def trained(self, rows: Any) -> Trained:
        """Trained on some pairs (a mask), without the unclear ones.

        How much a statement sounds like a change is told the networks by a model that did not see its group.
        """
        asked = np.zeros(len(self.questions), bool)
        asked[self.question[rows]] = True
        groups = [one.group for one in self.questions]
        places = {name: at % CHANGE_FOLDS for at, name in enumerate(sorted(set(groups)))}
        fold = np.array([places[group] for group in groups])
        scores = np.zeros(len(asked))
        for at in range(CHANGE_FOLDS):
            own = asked & (fold == at)
            if own.any():
                scores[own] = self._change(asked & (fold != at)).decision_function(self.changes[own])
        some = (self.labels != UNCLEAR) & rows
        wanted = (self.labels[some] == REPLACES).astype(float)
        networks = trained(self._table(some, scores), wanted, self.weights[some])
        return Trained(networks, self._change(asked))

    def scored(self, found: Trained, rows: Any) -> Any:
        """The scores of some pairs (a mask)."""
        return scored(found.networks, self._table(rows, found.change.decision_function(self.changes)))

    def _change(self, asked: Any) -> LogisticRegression:
        replaces = np.array([REPLACES in one.labels for one in self.questions])
        weights = np.array([one.weight for one in self.questions])
        model = LogisticRegression(C=CHANGE_STRENGTH, solver="liblinear")
        return model.fit(self.changes[asked], replaces[asked], sample_weight=weights[asked])

    def _table(self, rows: Any, changes: Any) -> Any:
        table = self.table[rows].copy()
        change = np.clip(changes[self.question[rows]], -MOST_CHANGE, MOST_CHANGE)
        table[:, -OF_CHANGE:] = np.stack(change_probability(change, table[:, 0]), axis=1)
        return table


def prepared() -> Prepared:
    questions = of_files() + of_pairs() + of_talks()
    embedder = OfflineEmbedder()
    pairs = [(at, one, label) for at, one in enumerate(questions) for label in one.labels]
    texts = [one.new.text for one in questions]
    dense = np.stack([change_features(text, embedder) for text in texts])
    return Prepared(
        questions=questions,
        question=np.array([at for at, _, _ in pairs]),
        table=np.vstack([pair_features(one.new, one.known, embedder, 0.0) for one in questions]),
        groups=np.array([one.group for _, one, _ in pairs]),
        labels=np.array([label for _, _, label in pairs]),
        weights=np.array([one.weight * (4 if label == REPLACES else 1) for _, one, label in pairs]),
        changes=hstack([csr_matrix(dense), _words(texts)]).tocsr(),
    )


def _words(texts: list[str]) -> Any:
    places, values, ends = [], [], [0]
    for text in texts:
        found = change_words(text)
        places += found
        values += found.values()
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(texts), CHANGE_HASHED))


def main() -> None:
    found = prepared()
    groups = {name: at % FOLDS for at, name in enumerate(sorted(set(found.groups)))}
    fold = np.array([groups[group] for group in found.groups])
    scores = np.zeros(len(fold))
    for at in range(FOLDS):
        scores[fold == at] = found.scored(found.trained(fold != at), fold == at)
    each = [scores[found.question == at] for at in range(len(found.questions))]
    told(found.questions, each)
    if "--show" in sys.argv:
        show(found.questions, each, 1.0)
    if "--write" in sys.argv:
        write(found.trained(np.ones(len(fold), bool)), WEIGHTS)


def write(found: Trained, file: Path) -> None:
    """The networks side by side, as one: the mean of their scores."""
    networks, change = found
    first = networks[0]
    width = change.coef_.shape[1] - CHANGE_HASHED
    np.savez_compressed(
        file,
        mean=first.mean.astype(np.float32), spread=first.spread.astype(np.float32),
        inner=np.hstack([one.parts[0] for one in networks]).astype(np.float16),
        bias=np.hstack([one.parts[1] for one in networks]).astype(np.float32),
        outer=np.hstack([one.parts[2] for one in networks]).astype(np.float32) / len(networks),
        shift=np.float32(np.mean([one.parts[3][0] for one in networks])),
        change_dense=change.coef_[0][:width].astype(np.float16),
        change_words=change.coef_[0][width:].astype(np.float16),
        change_bias=np.float32(change.intercept_[0]),
    )  # fmt: skip
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
