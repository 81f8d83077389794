"""Train what tells whether a prompt needs the memory: from the prompts of tests/data/talks that may be learnt from.

    python tests/benchmarks/prompts_train.py            cross-validated: each writer's prompts are left out in turn
    python tests/benchmarks/prompts_train.py --write    the same, then memtui/engine/search/prompt_need.bin and .json

Printed: how often a prompt that needs the memory is above one that does not (the area under the curve), by its words
alone and with the best scores of facts or turns; and at some odds, the share of prompts of both kinds that reach them.
It takes some minutes.
"""

from __future__ import annotations

import json
import sys
from array import array
from typing import Any, NamedTuple

import numpy as np
from memtui.engine.search import prompt_need
from orders_train import Rows as SparseRows
from orders_train import calibrated, fitted
from talks_eval import KINDS, learnt_from, rows_of
from talks_eval import fitted as piece_weights

SOURCES = ("facts", "turns")
VECTORS = "with vectors"


class Asked(NamedTuple):
    """A prompt: who wrote it, whether the memory has what it needs, and the features of its pieces by their source."""

    writer: str
    text: str
    needs: bool
    working: bool
    pieces: dict[str, Any]


def sparse(texts: list[str]) -> SparseRows:
    places: list[int] = []
    values: list[float] = []
    starts = []
    for text in texts:
        found = prompt_need.hashed_features(text)
        starts.append(len(places))
        places += found.keys()
        values += found.values()
    return SparseRows(np.array(places), np.array(values), np.array(starts))


def asked() -> list[Asked]:
    found = []
    for person in learnt_from():
        of_source = rows_of(person, "offline")
        pieces: dict[str, dict[str, Any]] = {}
        for source in SOURCES:
            for one in of_source[source]:
                pieces.setdefault(one.prompt, {})[source] = one
        texts = [(one["question"], True) for one in person["asks"]]
        texts += [(question, False) for question in person["nothing"]]
        for text, needs in texts:
            own = pieces.get(text, {})
            working = all(one.kind == "for work" for one in own.values())
            found.append(Asked(person["person"][0], text, needs, working, own))
    return found


def area(scores: Any, needs: Any) -> float:
    """How often what needs the memory is above what does not."""
    order = np.argsort(np.argsort(scores)) + 1
    mine = needs.sum()
    return float((order[needs].sum() - mine * (mine + 1) / 2) / (mine * (~needs).sum()))


def main() -> None:
    prompts = asked()
    needs = np.array([one.needs for one in prompts])
    writers = np.array([one.writer for one in prompts])
    rows, worth = (
        sparse([one.text for one in prompts]),
        np.where(needs, 1.0, needs.mean() / (1 - needs.mean())),
    )
    need = np.zeros(len(prompts))
    scores: dict[str, list[list[float]]] = {source: [[] for _ in prompts] for source in SOURCES}
    for writer in sorted(set(writers)):
        others = writers != writer
        weights, bias = fitted(rows.of(others), needs[others], worth[others])
        need[~others] = rows.of(~others).times(weights) + bias
        for source in SOURCES:
            for kind in KINDS:
                known = [
                    one.pieces[source] for one, other in zip(prompts, others, strict=True)
                    if other and source in one.pieces and one.pieces[source].kind == kind
                ]  # fmt: skip
                of_pieces = piece_weights(known, VECTORS)
                for place in np.flatnonzero(~others):
                    one = prompts[place].pieces.get(source)
                    if one is not None and one.kind == kind:
                        values = np.c_[one.features[VECTORS], np.ones(len(one.lengths))] @ of_pieces
                        scores[source][place] = sorted(1 / (1 + np.exp(-values)), reverse=True)
    print(
        f"{needs.sum()} prompts that need the memory, {(~needs).sum()} that do not, of {len(set(writers))} writers"
    )
    print(f"by the prompt alone: {area(need, needs):.3f}")
    made: dict[str, list[float]] = {}
    for source in SOURCES:
        table = np.array([
            prompt_need.odds_features(float(of), one.working, found)
            for of, one, found in zip(need, prompts, scores[source], strict=True)
        ])  # fmt: skip
        odds = np.zeros(len(prompts))
        for writer in sorted(set(writers)):
            others = writers != writer
            odds[~others] = table[~others] @ calibrated(table[others], needs[others])
        made[source] = [round(float(value), 3) for value in calibrated(table, needs)]
        print(f"with {source}: {area(odds, needs):.3f}, {made[source]}")
        for least in (-1.5, -1.0, -0.5, 0.0, 0.3, 0.6, 0.9, 1.2):
            print(
                f"  from {least:4.1f}: {np.mean(odds[needs] >= least):5.1%} and {np.mean(odds[~needs] >= least):5.1%}"
            )
    if "--write" in sys.argv:
        weights, bias = fitted(rows, needs, worth)
        weights = weights[: prompt_need.SIZE]
        scale = float(np.abs(weights).max() / 127)
        prompt_need._NEED.write_bytes(
            array("d", [scale, bias]).tobytes() + np.rint(weights / scale).astype(np.int8).tobytes()
        )
        prompt_need._ODDS.write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
