"""Train what recognises orders to an assistant: from tests/data/orders, from what people say in tests/data/talks, and the demo.

    python tests/benchmarks/orders_train.py [TURNS.jsonl]            cross-validated: a writer's or template's texts stay together
    python tests/benchmarks/orders_train.py [TURNS.jsonl] --write    the same, then memtui/engine/guards/instructions/weights.bin

TURNS: more turns of people, with ``conv`` and ``text`` (the weights were made with LoCoMo's). Every other conversation is
trained on; the rest is left to judge by. The same files give the same bytes. It takes a minute.
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
from memtui.engine.guards.instructions.score import _WEIGHTS, CERTAIN, SIZE, features
from orders_texts import Text, made

DATA = Path(__file__).parent.parent / "data"
DEMO = DATA.parent.parent / "assets" / "demo.jsonl"
STRENGTH = 30.0
"""What a mistake costs beside large weights, as ``C`` of other programs."""
ROUNDS, KEPT = 120, 10


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
        found = features(text[:600])
        starts.append(len(places))
        places += found.keys()
        values += found.values()
    return Rows(np.array(places), np.array(values), np.array(starts))


def fitted(rows: Rows, orders: Any) -> tuple[Any, float]:
    """The weights and the bias of a logistic regression, by L-BFGS."""
    signs = np.where(orders, 1.0, -1.0)
    lengths = np.diff(np.append(rows.starts, len(rows.places)))

    def loss(at: Any) -> tuple[float, Any]:
        margin = signs * (rows.times(at[:-1]) + at[-1])
        pull = -signs / (1.0 + np.exp(np.clip(margin, -500, 500))) * STRENGTH
        slope = np.append(
            at[:-1] + np.bincount(rows.places, rows.values * np.repeat(pull, lengths), SIZE), pull.sum()
        )
        return float(STRENGTH * np.logaddexp(0, -margin).sum() + at[:-1] @ at[:-1] / 2), slope

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
        if better < 1e-6 * abs(value):
            break
    return at[:-1], float(at[-1])


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
    near, turns, templates = list(written()), list(said()), list(made())
    other = [text for name in sys.argv[1:] if not name.startswith("-") for text in talked(Path(name))]
    demo = list(shown())
    texts = [*near, *turns, *other, *demo, *templates]
    kinds = np.repeat(
        ["near", "turn", "other", "demo", "made"],
        [len(near), len(turns), len(other), len(demo), len(templates)],
    )
    rows = rows_of([text.text for text in texts])
    orders = np.array([text.order for text in texts])
    groups = np.array([text.group for text in texts])
    print(
        f"{orders.sum()} orders and {(~orders).sum()} ordinary texts, of {len(set(groups))} writers and templates"
    )
    # Each writer is a part of their own; people who talk and templates are dealt out among them.
    parts = sorted({text.group for text in near})
    part = np.array([g if g in parts else parts[crc32(g.encode()) % len(parts)] for g in groups])
    scores = np.zeros(len(texts))
    for one in parts:
        inside = part != one
        weights, bias = fitted(rows.of(inside), orders[inside])
        scores[~inside] = rows.of(~inside).times(weights) + bias
    for least in (0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0):
        shares = [
            f"{name} {np.mean(scores[chosen] >= least):5.1%}"
            for name, chosen in (
                *((f"orders of {one}", orders & (groups == one)) for one in parts),
                *((f"near-misses of {one}", ~orders & (groups == one)) for one in parts),
                ("made orders", orders & (kinds == "made")),
                ("made ordinary", ~orders & (kinds == "made")),
                ("turns of talks", kinds == "turn"),
                ("other turns", kinds == "other"),
                ("the demo", kinds == "demo"),
            )
            if chosen.any()
        ]
        print(f"{'*' if least == CERTAIN else ' '} from {least:.1f}: " + ", ".join(shares))
    if "--write" in sys.argv:
        weights, bias = fitted(rows, orders)
        scale = float(np.abs(weights).max() / 127)
        ends = array("d", [scale, bias])
        _WEIGHTS.write_bytes(ends.tobytes() + np.rint(weights / scale).astype(np.int8).tobytes())


if __name__ == "__main__":
    main()
