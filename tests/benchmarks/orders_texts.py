"""Orders and ordinary texts to train on, made from ``tests/data/orders/templates``: one file a language.

A line ``= name one|two`` is a list of fillers for ``{name}``; ``! ...`` is a template of an order, ``- ...`` of an ordinary
text. ``[this|that]`` is a choice. The same files give the same texts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TEMPLATES = Path(__file__).parent.parent / "data" / "orders" / "templates"
OF_AN_ORDER, OF_AN_ORDINARY_TEXT = 6, 9
"""So many texts are made from a template at most."""
_TRIES = 60
_choice = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_filler = re.compile(r"\{(\w)\}")


class Text(NamedTuple):
    """``group``: the template or the writer that it is from; two texts of one group are no independent witnesses."""

    group: str
    language: str
    order: bool
    text: str


def made() -> Iterator[Text]:
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
