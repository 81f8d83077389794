"""Train what recognises orders to an assistant: from tests/data/orders, from what people say in tests/data/talks, and the demo.

    python tests/benchmarks/orders_train.py [TURNS.jsonl]            cross-validated: each writer's texts are left out in turn
    python tests/benchmarks/orders_train.py [TURNS.jsonl] --write    the same, then memtui/engine/guards/instructions/weights.bin

TURNS: more turns of people, with ``conv`` and ``text`` (the weights were made with LoCoMo's). Every other conversation is
trained on; the rest is left to judge by. The same files give the same bytes. It takes some minutes.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from memtui.engine.guards.instructions.classifier import (
    _WEIGHTS,
    CERTAIN_SCORE,
    SIZE,
    extract_features,
    strip_markup,
    text_length,
)
from orders_texts import Text, made, put_together

DATA = Path(__file__).parent.parent / "data"
DEMO = DATA.parent.parent / "assets" / "demo.jsonl"
STRENGTH = 10.0
"""What a mistake costs beside large weights, as ``C`` of other programs."""
WORTH = {"near": 3.0, "turn": 3.0, "demo": 3.0, "part": 0.4}
"""What a text costs beside others: one that somebody wrote more, one that was put together from parts less."""
ROUNDS, KEPT, ENOUGH = 80, 10, 1e-5


def written() -> Iterator[Text]:
    """What writers wrote; the ordinary ones of them are in part written to be mistaken."""
    for path in sorted((DATA / "orders").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Text(path.stem, row["lang"], row["label"] == "order", row["text"])


def said(half: str = "dev") -> Iterator[Text]:
    """Turns of people and assistants: no orders."""
    for name in json.loads((DATA / "talks" / "split.json").read_text(encoding="utf-8"))[half]:
        talk = json.loads((DATA / "talks" / f"{name}.json").read_text(encoding="utf-8"))
        for session in talk["sessions"]:
            for _, text in session["turns"]:
                yield Text(name, talk["lang"], False, text)


def shown() -> Iterator[Text]:
    """What the demo's agents, models and person say and keep; not the page in it that gives orders."""
    for line in (json.loads(row) for row in DEMO.read_text(encoding="utf-8").splitlines()):
        if line.get("role") != "tool" and "content" in line:
            yield Text(f"demo {line.get('session', line['type'])}", "en", False, line["content"])


def talked(path: Path, *, to_judge: bool = False) -> Iterator[Text]:
    """The turns of every other conversation of a file; ``to_judge``: of those that were passed over."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    trained = sorted({line["conv"] for line in lines})[::2]
    for line in lines:
        if (line["conv"] in trained) != to_judge:
            yield Text(line["conv"], "en", False, line["text"])


class Rows(NamedTuple):
    """Sparse rows: values at places, and where each row begins."""

    places: Any
    values: Any
    starts: Any

    def times(self, weights: Any) -> Any:
        return np.add.reduceat(weights[self.places] * self.values, self.starts)

    def of(self, chosen: Any) -> Rows:
        ends = np.append(self.starts[1:], len(self.places))
        parts = [np.arange(self.starts[row], ends[row]) for row in np.flatnonzero(chosen)]
        inside = np.concatenate(parts)
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        return Rows(self.places[inside], self.values[inside], starts)


def rows_of(texts: Sequence[str]) -> Rows:
    places: list[int] = []
    values: list[float] = []
    starts = []
    for text in texts:
        found = extract_features(strip_markup(text[:600]))
        starts.append(len(places))
        places += found.keys()
        values += found.values()
    return Rows(np.array(places), np.array(values), np.array(starts))


def fitted(rows: Rows, orders: Any, worth: Any) -> tuple[Any, float]:
    """The weights and the bias of a logistic regression, by L-BFGS."""
    signs = np.where(orders, 1.0, -1.0)
    lengths = np.diff(np.append(rows.starts, len(rows.places)))
    cost = STRENGTH * worth

    def loss(at: Any) -> tuple[float, Any]:
        margin = signs * (rows.times(at[:-1]) + at[-1])
        pull = -signs / (1.0 + np.exp(np.clip(margin, -500, 500))) * cost
        slope = np.append(
            at[:-1] + np.bincount(rows.places, rows.values * np.repeat(pull, lengths), SIZE), pull.sum()
        )
        return float((cost * np.logaddexp(0, -margin)).sum() + at[:-1] @ at[:-1] / 2), slope

    at = np.zeros(SIZE + 1)
    value, slope = loss(at)
    past: list[tuple[Any, Any]] = []
    for _ in range(ROUNDS):
        step = -_directed(slope, past)
        stride = 1.0 if past else 1.0 / np.linalg.norm(slope)
        downhill = slope @ step
        for _ in range(30):
            next_value, next_slope = loss(at + stride * step)
            if next_value <= value + 1e-4 * stride * downhill:
                break
            stride /= 2
        moved, bent = stride * step, next_slope - slope
        at, better, value, slope = at + moved, value - next_value, next_value, next_slope
        if moved @ bent > 1e-12:
            past = [*past[-KEPT + 1 :], (moved, bent)]
        if better < ENOUGH * abs(value):
            break
    return at[:-1], float(at[-1])


def calibrated(columns: Any, labels: Any) -> Any:
    """What each column is worth in the log odds of a label, of texts that the columns were not made from."""
    at = np.zeros(columns.shape[1])
    for _ in range(50):
        likely = 1.0 / (1.0 + np.exp(-columns @ at))
        bend = (columns * (likely * (1.0 - likely))[:, None]).T @ columns + 1e-3 * np.eye(len(at))
        at -= np.linalg.solve(bend, columns.T @ (likely - labels) + 1e-3 * at)
    return at


def _directed(slope: Any, past: list[tuple[Any, Any]]) -> Any:
    way = slope.copy()
    shares = []
    for moved, bent in reversed(past):
        share = moved @ way / (moved @ bent)
        way -= share * bent
        shares.append(share)
    if past:
        moved, bent = past[-1]
        way *= moved @ bent / (bent @ bent)
    for (moved, bent), share in zip(past, reversed(shares), strict=True):
        way += moved * (share - bent @ way / (moved @ bent))
    return way


def main() -> None:
    near, turns, templates, parts = list(written()), list(said()), list(made()), list(put_together())
    other = [text for name in sys.argv[1:] if not name.startswith("-") for text in talked(Path(name))]
    demo = list(shown())
    texts = [*near, *turns, *other, *demo, *templates, *parts]
    kinds = np.repeat(
        ["near", "turn", "other", "demo", "made", "part"],
        [len(near), len(turns), len(other), len(demo), len(templates), len(parts)],
    )
    rows = rows_of([text.text for text in texts])
    lengths = np.array([text_length(strip_markup(text.text[:600])) for text in texts])
    orders = np.array([text.order for text in texts])
    groups = np.array([text.group for text in texts])
    worth = np.array([WORTH.get(kind, 1.0) for kind in kinds])
    print(
        f"{orders.sum()} orders and {(~orders).sum()} ordinary texts, of {len(set(groups))} writers, templates and parts"
    )
    # Each writer is a part of their own; people who talk and templates are dealt out among them.
    # What is put together from parts is always trained on: it says nothing of what others write.
    writers = sorted({text.group for text in near})
    part = np.array([g if g in writers else writers[crc32(g.encode()) % len(writers)] for g in groups])
    part[kinds == "part"] = ""
    scores = np.zeros(len(texts))
    for one in writers:
        inside = part != one
        weights, bias = fitted(rows.of(inside), orders[inside], worth[inside])
        scores[~inside] = rows.of(~inside).times(weights) + bias
    judged = (kinds == "near") | (kinds == "turn") | (kinds == "demo")
    columns = np.stack([scores, lengths, np.ones(len(scores))], axis=1)
    slope, of_length, start = map(float, calibrated(columns[judged], orders[judged]))
    print(f"a sentence is worth {of_length:.2f} beside {slope:.2f}")
    scores = slope * scores + of_length * lengths + start
    for least in sorted({-1.0, -0.8, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, CERTAIN_SCORE}):
        shares = [
            f"{name} {np.mean(scores[chosen] >= least):5.1%}"
            for name, chosen in (
                *((f"orders of {one}", orders & (groups == one)) for one in writers),
                *((f"near-misses of {one}", ~orders & (groups == one)) for one in writers),
                ("made orders", orders & (kinds == "made")),
                ("made ordinary", ~orders & (kinds == "made")),
                ("turns of talks", kinds == "turn"),
                ("other turns", kinds == "other"),
                ("the demo", kinds == "demo"),
            )
            if chosen.any()
        ]
        print(f"{'*' if least == CERTAIN_SCORE else ' '} from {least:.2f}: " + ", ".join(shares))
    if "--write" in sys.argv:
        weights, bias = fitted(rows, orders, worth)
        scale = float(np.abs(weights).max() / 127)
        ends = array("d", [slope * scale, slope * bias + start, of_length])
        _WEIGHTS.write_bytes(ends.tobytes() + np.rint(weights / scale).astype(np.int8).tobytes())


if __name__ == "__main__":
    main()
