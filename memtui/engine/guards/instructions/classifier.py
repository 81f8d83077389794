"""How much a text reads like an order to an assistant: a linear model over words, letters and meanings.

The weights are made by ``tests/benchmarks/orders_train.py`` from texts in six languages. Words and letters are hashed; meanings
have places of their own. A few words alone say little, so a short text needs more to be taken for an order. A text that is
longer than a few sentences is read in stretches, and the worst of them counts.
"""

from __future__ import annotations

import functools
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import mul
from pathlib import Path
from zlib import crc32

from .concepts import PLACES, meanings

HASHED = 1 << 16
SIZE = HASHED + PLACES
CERTAIN = -0.6
"""Where four of five planted orders by writers that nothing was trained on reach this, so do about 1 in 12 of the texts that
they wrote to be mistaken, and fewer than 1 in 100 turns, the person's own being judged by shape alone (see ``orders_eval.py``).
"""
_WEIGHTS = Path(__file__).parent / "weights.bin"
_STRETCH, _STEP, _MOST = 600, 400, 20_000
_MOST_LETTERS, _A_SENTENCE = 30, 20
_word = re.compile(r"\w+|[^\w\s]")
_number = re.compile(r"\d+")
_line_mark = re.compile(r"^[ \t]*(?:#{1,6}|[-*+]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_link = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}\)|!?\[\[|\]\]")
_address = re.compile(
    r"(?:https?://|www\.)\S{1,200}|[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,40}|\b[\w.-]{1,60}\.example\b[^\s]{0,80}"
)


def unmarked(text: str) -> str:
    """The text without the signs of headings, lists and links, which notes have as often as prompts."""
    return _link.sub(r"\1", _line_mark.sub("", text))


def features(text: str) -> dict[int, float]:
    """The features of a short ``unmarked`` text, each block of length one."""
    found: dict[int, float] = {}
    for counts, block in _blocks(text):
        for place, count in counts.items():
            found[place] = found.get(place, 0.0) + count / block
    return found


def _blocks(text: str) -> Iterator[tuple[Mapping[int, int], float]]:
    """How often each feature is there, and the length of the whole block."""
    plain = _number.sub("0", _address.sub(" URL ", text)).casefold()
    words = ["^", *_word.findall(plain), "$"]
    for counts in (_words(words), _letters(words), meanings(words[1:-1], HASHED)):
        yield counts, math.sqrt(sum(map(mul, counts.values(), counts.values()))) or 1.0


def _words(words: list[str]) -> Counter[int]:
    """Words, pairs and threes."""
    pairs = list(map(" ".join, pairwise(words)))
    threes = map(" ".join, zip(pairs, words[2:], strict=False))
    return Counter(map(_place, (*words, *pairs, *threes)))


def _letters(words: list[str]) -> Counter[int]:
    found: list[int] = []
    for word in words:
        found += _places_of(word)
    return Counter(found)


@functools.lru_cache(4096)
def _places_of(word: str) -> tuple[int, ...]:
    """Those of the three to five letters that stand together in a word."""
    padded = f"<{word[:_MOST_LETTERS]}>"
    return tuple(
        _place("#" + padded[at : at + size]) for size in (3, 4, 5) for at in range(len(padded) - size + 1)
    )


def _place(feature: str) -> int:
    return crc32(feature.encode("utf-8", "replace")) % HASHED


def score(text: str) -> float:
    """Above 0 it is more likely an order than not, among texts of which a third are."""
    text = unmarked(text[:_MOST])
    starts = range(0, max(len(text) - _STRETCH + _STEP, 1), _STEP)
    return max(_score(text[start : start + _STRETCH]) for start in starts)


def _score(text: str) -> float:
    weights, scale, bias, of_length = _model()
    worth = weights.__getitem__
    found = 0.0
    for counts, block in _blocks(text):
        found += sum(map(mul, map(worth, counts), counts.values())) / block
    return bias + scale * found + of_length * length(text)


def length(text: str) -> float:
    """How long a text is, up to about a sentence."""
    return math.log1p(min(len(text.split()), _A_SENTENCE))


@functools.cache
def _model() -> tuple[array[int], float, float, float]:
    """A byte for each feature, what one of it is worth, what every text begins with, and what its length is worth."""
    data = _WEIGHTS.read_bytes()
    scale, bias, of_length = array("d", data[:24])
    return array("b", data[24:]), scale, bias, of_length
