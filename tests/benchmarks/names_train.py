"""Train what tells the type of a name: from labelled notes and talks, and sentences with places for names (tests/data/names).

    python tests/benchmarks/names_train.py             cross-validated: each source is left out in turn
    python tests/benchmarks/names_train.py --write     the same, then memtui/engine/models/ner/type_model.bin

It needs what ``names_lists.py`` needs, and spaCy. The same files give the same bytes. It takes some minutes.
"""

from __future__ import annotations

import json
import random
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import names_lists as lists
import numpy as np
from memtui.engine.models.ner import name_lists, spacy_names, type_model
from memtui.engine.models.ner.gazetteer import GIVEN_NAMES
from memtui.engine.models.ner.name_lists import lists_with_name
from memtui.engine.models.ner.names import labelled_candidate, name_candidates
from memtui.engine.models.ner.type_model import (
    CLASSES,
    SIZE,
    NameContext,
    context_features,
    hash_features,
    name_features,
)
from ner_eval import Gold, notes, unmarked

DATA = Path(__file__).parent.parent / "data"
NAMES = DATA / "names"
DEMO = DATA.parent.parent / "assets" / "demo.jsonl"
STRENGTH, ROUNDS, KEPT = 2.0, 45, 8
"""What a mistake costs beside large weights; steps of L-BFGS, and how many it remembers."""
FILLED = 10
"""How often names are put into a sentence with places for them."""
WORTH = {"note": 3.0, "talk": 1.0, "made": 0.2}
UNLISTED = 0.4
"""The share of names whose words training does not see, or whose lists: else it learns them by heart."""
FORMED = {"o": "organization", "l": "location", "w": "title"}
"""What is made of other names: forms of them stand in lists.txt."""
COINED = {"g": "person", "s": "person", "o": "organization", "l": "location", "j": "project"}
_slot = re.compile(r"\{(\w)\}")


class Source(NamedTuple):
    """A text with its names; ``group``: what is left out together."""

    kind: str
    group: str
    text: str
    gold: list[Gold]


def noted() -> Iterator[Source]:
    for text, gold in notes("tuned"):
        yield Source("note", "named_notes", text, gold)
    file = DATA / "names_n_train.txt"
    for part in ("tuned", "held"):
        for text, gold in notes(part, file):
            yield Source("note", f"names_n {crc32(text.encode()) % 4}", text, gold)


def said() -> Iterator[Source]:
    """The turns of talks and of the demo."""
    for talk, names in _of_talks().items():
        if talk == "demo":
            texts = [row.get("content", "") for row in map(json.loads, DEMO.read_text("utf-8").splitlines())]
        else:
            read = json.loads((DATA / "talks" / f"{talk}.json").read_text("utf-8"))
            texts = [text for session in read["sessions"] for _, text in session["turns"]]
        pattern = re.compile(
            rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)"
        )
        for text in texts:
            gold = [Gold(one.start(), one.end(), names[one[0]]) for one in pattern.finditer(text)]
            yield Source("talk", talk, text, gold)


def _of_talks() -> dict[str, dict[str, str]]:
    """The names of each talk and their types."""
    found: dict[str, dict[str, str]] = {}
    for line in (NAMES / "talks.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            here = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            type, _, names = line.partition(":")
            here.update((name.strip(), type) for name in names.split(","))
    return found


class Filler:
    """Puts names into the places for them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        common = sorted(name.title() for name in GIVEN_NAMES if not re.search(r"[Ѐ-ӿ]", name))
        latin = [name for name in sorted(lists.given()) if max(name) < "ɏ"]
        self.given = [common, common, latin]
        self.surnames = [name for name in sorted(lists.surnames()) if max(name) < "ɏ"]
        self.places = [list(lists.own("location")), [n for n in sorted(lists.places()) if max(n) < "ɏ"]]
        self.known = [list(lists.own("organization")), sorted(lists.organisations())]

    def one(self, slot: str) -> tuple[str, str]:
        """A name and its type."""
        pick, chance = self.random.choice, self.random.random()
        if slot in COINED and self.random.random() < 0.1:
            return self.coined(), COINED[slot]
        if slot == "g":
            return pick(pick(self.given)), "person"
        if slot == "s":
            return pick(self.surnames), "person"
        if slot == "f":
            initial = pick("ABCDEFGHJKLMRST")
            if chance < 0.06:
                return f"{initial}. {pick(self.surnames)}", "person"
            middle = f" {initial}." if chance < 0.09 else ""
            return f"{pick(pick(self.given))}{middle} {pick(self.surnames)}", "person"
        if slot == "p":
            return self.one("gfs"[int(chance * 3)])
        if slot == "o":
            return (pick(pick(self.known)) if chance < 0.6 else self.formed("o")), "organization"
        if slot == "l":
            return (pick(pick(self.places)) if chance < 0.75 else self.formed("l")), "location"
        if slot == "j":
            return pick(lists.own("project")), "project"
        kind = {
            "a": "animal",
            "n": "title",
            "w": "work",
            "t": "software" if chance < 0.6 else "device",
            "b": "thing",
            "v": "vehicle",
        }[slot]
        if slot == "a" and chance < 0.25:
            return self.one("g")[0], "other"
        if slot == "v" and chance < 0.7:
            return pick(lists.vehicles()), "other"
        if slot == "w" and chance < 0.3:
            return self.formed("w"), "other"
        return pick(lists.own(kind)), "other"

    def formed(self, slot: str) -> str:
        return _slot.sub(
            lambda found: self.one(found[1])[0], self.random.choice(lists.own(f"{FORMED[slot]} forms"))
        )

    def coined(self) -> str:
        """A word that is in no list: only what is around it tells what it is."""
        pick = self.random.choice
        return "".join(pick(lists.own("syllable")) for _ in range(pick((2, 2, 3)))).capitalize()

    def fill(self, line: str) -> tuple[str, list[Gold]]:
        def put(found: re.Match[str]) -> str:
            name, type = self.one(found[1])
            return f"{{{name}|{type}}}"

        line = line.replace("{c}", self.random.choice(lists.own("common")))
        text, gold = unmarked(_slot.sub(put, line))
        if self.random.random() < 0.5:
            text = text.rstrip(".")
        return text, gold


def made() -> Iterator[Source]:
    filler = Filler(7)
    for line in (NAMES / "templates.txt").read_text("utf-8").splitlines():
        if line and line[0] not in "#[":
            for _ in range(FILLED if _slot.search(line) else 1):
                text, gold = filler.fill(line)
                yield Source("made", "made", text, gold)


def swapped(sources: Iterable[Source]) -> Iterator[Source]:
    """Real texts with other names of the same type in the place of theirs."""
    filler = Filler(11)
    slots = {"person": "gfsgg", "organization": "o", "location": "l", "project": "j", "other": "wtbv"}
    for source in sources:
        if not source.gold or source.kind == "made" or not source.text[: source.gold[-1].end].isascii():
            continue
        for _ in range(3):
            text, gold, at = "", [], 0
            for start, end, type in source.gold:
                words = source.text[start:end].split()
                slot = filler.random.choice(slots[type])
                if type == "person":
                    slot = (
                        "f"
                        if len(words) > 1
                        else "g"
                        if words[0].lower() in GIVEN_NAMES
                        else filler.random.choice("gs")
                    )
                name = filler.one(slot)[0]
                text += source.text[at:start]
                gold.append(Gold(len(text), len(text) + len(name), type))
                text, at = text + name, end
            yield Source("made", source.group, text + source.text[at:], gold)


def every() -> Iterator[Source]:
    real = [*noted(), *said()]
    sources = [*real, *made(), *swapped(real)]
    yield from sources
    yield from in_small_letters(sources)


def in_small_letters(sources: Iterable[Source]) -> Iterator[Source]:
    """The shorter ones as somebody writes them who uses no capitals."""
    chance = random.Random(3)
    for source in sources:
        small = source.text.lower()
        if (
            len(small) == len(source.text)
            and len(small) < 300
            and (source.kind == "note" or chance.random() < 0.3)
        ):
            yield source._replace(text=small, kind=source.kind if source.kind == "note" else "made")


class Rows(NamedTuple):
    """Sparse rows: values at places, and where each row begins; the class of each, its worth, what it is left out with."""

    places: Any
    values: Any
    starts: Any
    classes: Any
    worth: Any
    groups: Any
    kinds: Any
    asked: Any


def examples(sources: Sequence[Source]) -> Iterator[tuple[Source, NameContext, str]]:
    """What rules and spaCy take for names, and what it is; what is only a part of a name is left out."""
    texts = [source.text for source in sources]
    by_spacy = [
        one
        for start in range(0, len(texts), 500)
        for one in spacy_names.find_labelled(texts[start : start + 500])
    ]
    for source, spans in zip(sources, by_spacy, strict=True):
        here = {(start, end): type for start, end, type in source.gold}
        places = [one.to_model_input(source.text) for one in name_candidates(source.text)]
        places += [
            labelled_candidate(source.text, one.start, one.end).to_model_input(source.text, one.label)
            for one in spans
        ]
        for place in places:
            type = here.get((place.start, place.end))
            if type is None:
                if any(start < place.end and place.start < end for start, end in here):
                    continue
                type = "none"
            yield source, place, type


def _words_only(name: str) -> int:
    return lists_with_name(name) & name_lists.WORD


def rows_of(sources: Sequence[Source]) -> Rows:
    positions: list[int] = []
    values: list[float] = []
    starts, classes, worth, groups, kinds, asked = [], [], [], [], [], []
    chance = random.Random(5)
    for source, place, type in examples(sources):
        unlisted = chance.random() < (UNLISTED if source.kind == "made" else UNLISTED / 2)
        unknown = unlisted or chance.random() < UNLISTED
        type_model.lists_with_name = _words_only if unlisted else lists_with_name
        plain, letters = name_features(source.text[place.start : place.end])
        type_model.lists_with_name = lists_with_name
        if unknown:
            plain = [one for one in plain if one[0] not in "flw"]
            letters = letters if chance.random() < 0.5 else []
        found = hash_features([*context_features(place), *plain])
        starts.append(len(positions))
        positions += [*found, *letters]
        values += [1.0] * len(found) + [max(len(letters), 1) ** -0.5] * len(letters)
        classes.append(CLASSES.index(type))
        worth.append(WORTH[source.kind])
        groups.append(source.group)
        kinds.append(source.kind)
        asked.append(place.label)
    return Rows(*map(np.array, (positions, values, starts, classes, worth, groups, kinds, asked)))


def chosen(rows: Rows, which: Any) -> Rows:
    ends = np.append(rows.starts[1:], len(rows.places))
    lengths = (ends - rows.starts)[which]
    inside = np.repeat(which, ends - rows.starts)
    starts = np.cumsum([0, *lengths[:-1]])
    return Rows(
        rows.places[inside], rows.values[inside], starts, rows.classes[which], rows.worth[which], rows.groups[which],
        rows.kinds[which], rows.asked[which],
    )  # fmt: skip


def scores(rows: Rows, weights: Any, bias: Any) -> Any:
    return np.add.reduceat(weights[rows.places] * rows.values[:, None], rows.starts) + bias


def fitted(rows: Rows) -> tuple[Any, Any]:
    """The weights and biases of a multinomial logistic regression, by L-BFGS."""
    count = len(CLASSES)
    lengths = np.diff(np.append(rows.starts, len(rows.places)))
    owner = np.repeat(np.arange(len(rows.starts)), lengths)
    right = np.eye(count)[rows.classes]
    cost = (STRENGTH * rows.worth)[:, None]
    used, places = np.unique(rows.places, return_inverse=True)
    order = np.argsort(places, kind="stable")
    by_place = np.searchsorted(places[order], np.arange(len(used)))
    values, of_place = rows.values[:, None].astype(np.float32), owner[order]
    turned_values = values[order]

    def loss(at: Any) -> tuple[float, Any]:
        weights, bias = at[:-count].reshape(-1, count), at[-count:]
        odds = np.add.reduceat(weights.astype(np.float32)[places] * values, rows.starts) + bias
        odds -= odds.max(axis=1, keepdims=True)
        log_total = np.log(np.exp(odds).sum(axis=1, keepdims=True))
        pull = (np.exp(odds - log_total) - right) * cost
        value = float((cost * right * (log_total - odds)).sum() + (weights * weights).sum() / 2)
        slope = np.add.reduceat(pull.astype(np.float32)[of_place] * turned_values, by_place) + weights
        return value, np.append(slope.ravel(), pull.sum(axis=0))

    at = lbfgs(loss, np.zeros(len(used) * count + count))
    weights = np.zeros((SIZE, count))
    weights[used] = at[:-count].reshape(-1, count)
    return weights, at[-count:]


def lbfgs(loss: Callable[[Any], tuple[float, Any]], at: Any) -> Any:
    value, slope = loss(at)
    past: list[tuple[Any, Any]] = []
    for _ in range(ROUNDS):
        way, shares = slope.copy(), []
        for moved, bent in reversed(past):
            shares.append(moved @ way / (moved @ bent))
            way -= shares[-1] * bent
        if past:
            moved, bent = past[-1]
            way *= moved @ bent / (bent @ bent)
        for (moved, bent), share in zip(past, reversed(shares), strict=True):
            way += moved * (share - bent @ way / (moved @ bent))
        stride, downhill = 1.0 if past else 1.0 / np.linalg.norm(slope), -(slope @ way)
        for _ in range(25):
            next_value, next_slope = loss(at - stride * way)
            if next_value <= value + 1e-4 * stride * downhill:
                break
            stride /= 2
        moved, bent = -stride * way, next_slope - slope
        better, at, value, slope = value - next_value, at + moved, next_value, next_slope
        if moved @ bent > 1e-12:
            past = [*past[-KEPT + 1 :], (moved, bent)]
        if better < 3e-4 * abs(value):
            break
    return at


def report(name: str, rows: Rows, odds: Any) -> None:
    """How many names get their type, and how many are taken for none; the same of what spaCy found."""
    shares = np.exp(odds - odds.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for told, which in (("rules", rows.asked == ""), ("spaCy", rows.asked != "")):
        names, none = which & (rows.classes < 5), which & (rows.classes == 5)
        if names.any() and none.any():
            right = odds[names, :5].argmax(axis=1) == rows.classes[names]
            print(
                f"{name:14} {told} {names.sum():6} names, {right.mean():5.1%} of the right type; taken for none"
                f" {np.mean(shares[names, 5] > 0.65):5.1%}; {none.sum():6} no names, {np.mean(shares[none, 5] > 0.65):5.1%} seen"
            )


def main() -> None:
    sources = list(every())
    rows = rows_of(sources)
    print(
        f"{len(sources)} texts, {len(rows.starts)} places, {len(rows.places)} features; {np.bincount(rows.classes)}"
    )
    groups = sorted({source.group for source in sources if source.group != "made"})
    part = {
        group: "demo"
        if group == "demo"
        else "notes"
        if group == "named_notes"
        else group
        if group.startswith("names_n")
        else f"talks {crc32(group.encode()) % 3}"
        for group in groups
    }
    parts = np.array([part.get(group, "") for group in rows.groups.tolist()])
    odds = np.zeros((len(rows.starts), len(CLASSES)))
    if "--quick" not in sys.argv:
        for one in sorted(set(part.values())):
            inside = parts != one
            weights, bias = fitted(chosen(rows, inside))
            odds[~inside] = scores(chosen(rows, ~inside), weights, bias)
        real = rows.kinds != "made"
        for one in ("notes", "names_n", "talks", "demo"):
            here = real & np.array([str(name).startswith(one) for name in parts])
            report(one, chosen(rows, here), odds[here])
    if "--write" in sys.argv:
        weights, bias = fitted(rows)
        scale = float(np.abs(weights).max() / 127)
        ends = array("d", [scale, *(bias / scale)])
        type_model.FILE.write_bytes(ends.tobytes() + np.rint(weights / scale).astype(np.int8).tobytes())


if __name__ == "__main__":
    main()
