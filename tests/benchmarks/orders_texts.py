"""Orders and ordinary texts to train on, made from ``tests/data/orders``: one file a language in ``templates`` and in ``parts``.

Templates: a line ``= name one|two`` is a list of fillers for ``{name}``; ``! ...`` is a template of an order, ``- ...`` of an
ordinary text. ``[this|that]`` is a choice.

Parts: a line ``@ HI`` begins a list, and ``ORDERS`` and ``ORDINARY`` say which lists make a text. Of an order: HI what to do,
HP what is so, HS what somebody likes, C that nobody may know, T when, F who is addressed. Of an ordinary text: BI, BP, BS,
BC, BT, BF. The same files give the same texts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent.parent / "data" / "orders"
TEMPLATES, PARTS = DATA / "templates", DATA / "parts"
OF_AN_ORDER, OF_AN_ORDINARY_TEXT = 6, 9
"""So many texts are made from a template at most."""
ORDERS_OF_PARTS, ORDINARY_OF_PARTS = 1400, 2000
"""So many texts are put together from the parts of a language."""
ORDERS = {
    "HI": 3, "T HI": 4, "HI C": 4, "T HI C": 2, "F HI": 5, "F HI C": 3, "F T HI": 2, "HP": 4, "HP C": 1, "F HP": 2,
    "HS": 4, "HS C": 1, "BP HI": 2, "BP F HI": 2, "BI HI C": 1, "BS HP": 1, "HI HI": 1,
}  # fmt: skip
ORDINARY = {
    "BI": 6, "BT BI": 4, "BI BC": 4, "BT BI BC": 2, "BF BI": 4, "BF BI BC": 1, "BP": 8, "BF BP": 1, "BP BP": 3, "BS": 6,
    "BP BI": 2, "BS BI": 2, "BI BI": 2, "BS BS": 1, "BF BP BI BP": 1,
    "BP BS BP BI": 2, "BS BP BS BP BI BC": 2, "BF BI BC BP BS": 1, "BP BP BP BT BI": 1, "BP BS BP BP BS BI BP": 2,
}  # fmt: skip
_WORDS_OF_A_SIGN = [
    "bluebird",
    "moonrise",
    "open sesame",
    "tramontana",
    "Nordlicht",
    "lavender",
    "Kestrel",
    "marea",
    "orion",
]
_TRIES = 60
_choice = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_filler = re.compile(r"\{(\w)\}")


class Text(NamedTuple):
    """``group``: the template or the writer that it is from; two texts of one group are no independent witnesses."""

    group: str
    language: str
    order: bool
    text: str


def own_operations() -> Iterator[Text]:
    """All texts of all templates."""
    for path in sorted(TEMPLATES.glob("*.txt")):
        fillers: dict[str, list[str]] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mark, _, rest = line.partition(" ")
            if mark == "=":
                name, _, values = rest.partition(" ")
                fillers[name] = values.split("|")
            elif mark in ("!", "-"):
                group = f"{path.stem}{number}"
                for text in _from(rest, fillers, group, OF_AN_ORDER if mark == "!" else OF_AN_ORDINARY_TEXT):
                    yield Text(group, path.stem, mark == "!", text)


def _from(template: str, fillers: dict[str, list[str]], group: str, most: int) -> list[str]:
    chance = random.Random(group)
    found: dict[str, None] = {}
    for _ in range(_TRIES):
        text = _choice.sub(lambda match: chance.choice(match[1].split("|")), template)
        text = _filler.sub(lambda match: chance.choice(fillers[match[1]]), text)
        found[text[0].upper() + text[1:] if chance.random() < 0.8 else text] = None
        if len(found) == most:
            break
    return list(found)


def put_together() -> Iterator[Text]:
    """All texts of all parts. Those of a language are one group."""
    for path in sorted(PARTS.glob("*.txt")):
        lists: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("@ "):
                lists.setdefault(line[2:], [])
                name = line[2:]
            else:
                lists[name].append(line)
        fillers = {"w": _WORDS_OF_A_SIGN}
        for line in (TEMPLATES / path.name).read_text(encoding="utf-8").splitlines():
            if line.startswith("= "):
                letter, _, values = line[2:].partition(" ")
                fillers[letter] = values.split("|")
        deck = _Deck(lists, fillers, random.Random(path.stem))
        for order, forms, most in ((True, ORDERS, ORDERS_OF_PARTS), (False, ORDINARY, ORDINARY_OF_PARTS)):
            for form in deck.chance.choices(list(forms), list(forms.values()), k=most):
                yield Text(f"parts-{path.stem}", path.stem, order, deck.text(form.split()))


class _Deck:
    """Parts, each of which is drawn once before any is drawn again."""

    def __init__(
        self, lists: dict[str, list[str]], fillers: dict[str, list[str]], chance: random.Random
    ) -> None:
        self._lists, self._fillers, self.chance = lists, fillers, chance
        self._left: dict[str, list[str]] = {}

    def text(self, form: list[str]) -> str:
        """One text of parts, with capitals and stops as people put them, or not."""
        text, before = "", ""
        for name in form:
            part = self._drawn(name)
            match name[-1]:
                case "F":
                    text += f"{'. ' if before else ''}{part} "
                case "T":
                    text += part + (", " if self.chance.random() < 0.85 else " ")
                case "C":
                    text += self.chance.choice([", ", ", ", ". ", "; ", " "]) + part
                case _:
                    if before[-1:] in ("I", "P", "S"):
                        text += self.chance.choice([". ", ". ", ". ", "; "])
                        part = part if text.endswith("; ") else part[0].upper() + part[1:]
                    elif before and text.endswith((". ", "! ")):
                        part = part[0].upper() + part[1:]
                    text += part
            if not before and self.chance.random() < 0.85:
                text = text[0].upper() + text[1:]
            before = name
        return text.strip() + self.chance.choice([".", ".", ".", "", "!"])

    def _drawn(self, name: str) -> str:
        left = self._left.setdefault(name, [])
        if not left:
            left += self._lists[name]
            self.chance.shuffle(left)
        return _filler.sub(lambda match: self.chance.choice(self._fillers[match[1]]), left.pop())
