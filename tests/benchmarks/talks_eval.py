"""Whether the context block answers everyday questions over months of talks, without a language model.

    python tests/benchmarks/talks_eval.py [--half dev] [--embedder offline] [--misses] [--fit] [--search]

Each person of ``tests/data/talks`` gets a memory: the turns at their times, then what the rules draw from them. Printed for
each half:

    answered     of the questions that somebody's words answer, the share whose block has the answer, in per cent
    unrelated    of the questions that nothing answers, the share that gets an excerpt of a turn nevertheless
    facts        of the questions with an answer, the share that the facts alone answer
    for nothing  how many facts a question gets that nothing answers, on average
    tokens       how long the blocks are on average, by the estimate

``--search`` prints how a search does instead: of the questions with an answer, the share (%) with a fact or a turn of the person
that has it among the first 1, 3 and 10 hits, the mean of 1 / its rank, and how many of 10 hits a question without an answer gets.

Of the halves that are held back (held, fresh, unseen) counts are printed and nothing else. ``--fit`` chooses the weights of
``search/relevance.json`` on the dev half and the questions of ``more_dev.json`` about it (logistic regression), and prints
how well weights that were fitted without a person do for that person.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import briefing, excerpts, facts, relevance, scoring
from memtui.engine.search.word_meanings import packaged_meanings

TALKS = Path(__file__).parents[1] / "data" / "talks"
RIDGE = 3.0
KINDS = ("for one thing", "for work")
"""What a prompt asks: each has its own weights."""
KEEPS, TOLD = (
    {"turns": excerpts.KEEPS, "facts": facts.ANSWERS},
    {"turns": excerpts.MOST_PIECES, "facts": briefing.LIMIT},
)

EMBEDDERS = {"with vectors": "offline", "without vectors": "offline", "with sentence vectors": "minilm"}
"""With which embedder the weights for what features come from are fitted."""


class Judged(NamedTuple):
    """One question: what its block says; ``pattern`` None where nothing is the answer."""

    person: str
    question: str
    pattern: str | None
    text: str
    facts: str
    excerpts: int
    tokens: int

    @property
    def answered(self) -> bool:
        return self.pattern is not None and matches(self.pattern, self.text)


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def load(half: str) -> list[dict[str, Any]]:
    split = json.loads((TALKS / "split.json").read_text())
    return [json.loads((TALKS / f"{name}.json").read_text()) for name in split[half]]


@contextmanager
def remembered(person: dict[str, Any], embedder: str = "offline") -> Iterator[Memory]:
    """A memory of all that was said, and of the facts that the rules draw from it."""
    options = Options(embedder=embedder, background=False)
    with Memory.open(":memory:", options=options) as memory:
        for session in person["sessions"]:
            start = datetime.fromisoformat(session["start"]).replace(tzinfo=UTC).timestamp()
            for place, (role, text) in enumerate(session["turns"]):
                memory.record_turn(
                    session["id"], role, text, start + 60 * place, project=session.get("project")
                )
        asyncio.run(memory.consolidate())
        memory.models.index_pending()
        yield memory


def judge(person: dict[str, Any], embedder: str) -> list[Judged]:
    asked = [(one["question"], one["pattern"]) for one in person["asks"]]
    asked += [(question, None) for question in person["nothing"]]
    found = []
    with remembered(person, embedder) as memory:
        for question, pattern in asked:
            block = memory.context(question)
            told = [one.memory.content for one in (*block.vital, *block.hits, *block.related)]
            facts = "\n".join(told)
            found.append(
                Judged(
                    person["person"], question, pattern, block.text, facts, len(block.excerpts), block.tokens
                )
            )
    return found


def learnt_from() -> list[dict[str, Any]]:
    """The dev half with the questions of ``more_dev.json``."""
    more = json.loads((TALKS / "more_dev.json").read_text())
    people = load("dev")
    for person in people:
        for kind in ("asks", "nothing"):
            person[kind] = person[kind] + more.get(person["person"], {}).get(kind, [])
    return people


class LookedAt(NamedTuple):
    """What gets a probability for a prompt. ``cosines``: of the pieces' memories, where MiniLM made their vectors."""

    of: str
    prompt: relevance.PromptFeatures
    pieces: list[relevance.ClauseFeatures]
    cosines: list[float | None]


class Rows(NamedTuple):
    """One question's pieces: the features (n, features) by the vectors they come from, and which of them answer it."""

    person: str
    prompt: str
    kind: str
    answerable: bool
    features: dict[str, Any]
    lengths: list[int]
    right: Any


def rows_of(person: dict[str, Any], embedder: str = "offline") -> dict[str, list[Rows]]:
    """By what the pieces are of (turns, facts): those that the block looks at for each question."""
    found: dict[str, list[Rows]] = {"turns": [], "facts": []}
    asked = [(one["question"], one["pattern"]) for one in person["asks"]]
    asked += [(question, None) for question in person["nothing"]]
    with remembered(person, embedder) as memory:
        for question, pattern in asked:
            with looked_at() as seen:
                memory.context(question)
            for one in seen:
                if one.pieces:
                    found[one.of].append(compared(person["person"], question, one, pattern))
    return found


@contextmanager
def looked_at() -> Iterator[list[LookedAt]]:
    """What the block gives a probability to, while it is open."""
    seen: list[LookedAt] = []
    scored = scoring.score_pieces

    def noting(read: Any, pieces: Any, of: Any, *, with_meanings: bool, cosines: Any) -> Any:
        near = cosines({memory.rid for memory, _ in pieces}) if cosines else {}
        seen.append(
            LookedAt(of, read, [piece for _, piece in pieces], [near.get(memory.rid) for memory, _ in pieces])
        )
        return scored(read, pieces, of, with_meanings=with_meanings, cosines=cosines)

    scoring.score_pieces = noting
    try:
        yield seen
    finally:
        scoring.score_pieces = scored


def compared(person: str, prompt: str, seen: LookedAt, pattern: str | None) -> Rows:
    import numpy as np

    nearness = relevance.compare_words(packaged_meanings(), seen.prompt, seen.pieces)
    by_words = [relevance.word_features(seen.prompt, piece) for piece in seen.pieces]
    meant = [
        relevance.with_meanings(seen.prompt, piece, values, nearness, cosine)
        for piece, values, cosine in zip(seen.pieces, by_words, seen.cosines, strict=True)
    ]
    features = {
        vectors: np.array([list(values.values()) for values in rows])
        for vectors, rows in (("with vectors", meant), ("without vectors", by_words))
    }
    if any(cosine is not None for cosine in seen.cosines):
        features = {"with sentence vectors": features["with vectors"]}
    return Rows(
        person,
        prompt,
        "for one thing" if seen.prompt.factual else "for work",
        pattern is not None,
        features,
        [len(piece.clause.text) for piece in seen.pieces],
        np.array([bool(pattern and matches(pattern, piece.clause.text)) for piece in seen.pieces]),
    )


def fitted(rows: list[Rows], vectors: str) -> Any:
    """Weights and bias; the pieces that answer a question count as much as four that do not, however many they are."""
    import numpy as np

    values = np.concatenate([one.features[vectors] for one in rows])
    right = np.concatenate([one.right for one in rows]).astype(float)
    counts = np.concatenate([np.where(one.right, 4.0 / max(one.right.sum(), 1), 1.0) for one in rows])
    values = np.c_[values, np.ones(len(values))]
    rein = np.r_[np.full(values.shape[1] - 1, RIDGE), 1e-3]
    weights = np.zeros(values.shape[1])
    for _ in range(50):
        probable = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (counts * (probable - right)) + rein * weights
        curve = (values * (counts * probable * (1 - probable))[:, None]).T @ values + np.diag(rein)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def answers(rows: Rows, weights: Any, vectors: str, of: str) -> bool:
    """Whether what is told answers: by probability, as many as a block has of them, into 400 tokens."""
    import numpy as np

    values = rows.features[vectors]
    probable = 1 / (1 + np.exp(-np.c_[values, np.ones(len(values))] @ weights))
    left = 1570
    for place in np.argsort(-probable)[: TOLD[of]]:
        needed = rows.lengths[place] + 20
        if probable[place] >= KEEPS[of] and needed <= left:
            if rows.right[place]:
                return True
            left -= needed
    return False


def fit() -> None:
    people = {
        embedder: [rows_of(person, embedder) for person in learnt_from()]
        for embedder in ("offline", "minilm")
    }
    made: dict[str, dict[str, Any]] = {}
    for of in ("turns", "facts"):
        made[of] = {}
        for kind in KINDS:
            made[of][kind] = {}
            for vectors, embedder in EMBEDDERS.items():
                of_kind = [one for person in people[embedder] for one in person[of] if one.kind == kind]
                weights = fitted(of_kind, vectors)
                named = zip((*relevance.FEATURES, "bias"), weights.tolist(), strict=True)
                made[of][kind][vectors] = {name: round(value, 3) for name, value in named}
                left_out = {
                    name: fitted([one for one in of_kind if one.person != name], vectors)
                    for name in {one.person for one in of_kind}
                }
                found = [answers(one, left_out[one.person], vectors, of) for one in of_kind if one.answerable]
                print(f"{of}, {kind}, {vectors}: answered {share(found)}")
    target = Path(relevance.__file__).with_suffix(".json")
    target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def share(values: list[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f} ({sum(values)} of {len(values)})"


def report(half: str, judged: list[Judged], misses: bool) -> None:
    asks = [one for one in judged if one.pattern is not None]
    nothing = [one for one in judged if one.pattern is None]
    print(f"{half}: answered {share([one.answered for one in asks])}, ", end="")
    print(f"unrelated {share([one.excerpts > 0 for one in nothing])}, ", end="")
    print(f"facts {share([matches(one.pattern or '', one.facts) for one in asks])}, ", end="")
    print(f"for nothing {statistics.mean(len(one.facts.splitlines()) for one in nothing):.1f}, ", end="")
    print(f"tokens {statistics.mean(one.tokens for one in judged):.0f}")
    if misses:
        for one in asks:
            if not one.answered:
                print(f"\n--- {one.person}: {one.question}  /{one.pattern}/\n{one.text}")
        for one in nothing:
            if one.excerpts:
                print(f"\n--- {one.person}, nothing: {one.question}\n{one.text}")


def searched(half: str, embedder: str) -> None:
    places: list[float] = []
    strange: list[int] = []
    for person in load(half):
        with remembered(person, embedder) as memory:
            for one in person["asks"]:
                told = [
                    matches(one["pattern"], hit.memory.content) and hit.memory.trust == "user"
                    for hit in memory.search(one["question"]).hits
                ]
                places.append(told.index(True) + 1 if any(told) else math.inf)
            strange += [len(memory.search(question).hits) for question in person["nothing"]]
    first = ", ".join(f"first {k} {share([place <= k for place in places])}" for k in (1, 3, 10))
    print(f"{half}: {first}, 1/rank {100 * statistics.mean(1 / place for place in places):.1f}", end="")
    print(f", without an answer {statistics.mean(strange):.1f} hits")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("dev", "held", "fresh", "unseen", "both"), default="both")
    parser.add_argument("--embedder", choices=("offline", "minilm", "off"), default="offline")
    parser.add_argument("--misses", action="store_true", help="of the dev half, what was missed")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--search", action="store_true", help="how a search does, instead of the block")
    args = parser.parse_args()
    if args.fit:
        fit()
        relevance._load_weights.cache_clear()
    for half in ("dev", "held") if args.half == "both" else (args.half,):
        if args.search:
            searched(half, args.embedder)
            continue
        judged = [one for person in load(half) for one in judge(person, args.embedder)]
        report(half, judged, args.misses and half == "dev")


if __name__ == "__main__":
    main()
