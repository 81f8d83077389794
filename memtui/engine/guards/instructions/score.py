"""How much a text reads like an order to an assistant: a linear model over hashed words and letters.

The weights are made by ``tests/benchmarks/orders_train.py`` from texts in six languages. A text that is longer than a few
sentences is read in stretches, and the worst of them counts.
"""

from __future__ import annotations

import functools
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

SIZE = 1 << 16
CERTAIN = 2.5
"""About 1 in 100 ordinary texts reaches this; orders that were not trained on, about 1 in 5."""
_WEIGHTS = Path(__file__).parent / "weights.bin"
_STRETCH, _STEP, _MOST = 600, 400, 20_000
_word = re.compile(r"\w+|[^\w\s]")
_number = re.compile(r"\d+")
_address = re.compile(
    r"(?:https?://|www\.)\S{1,200}|[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,40}|\b[\w.-]{1,60}\.example\b[^\s]{0,80}"
)


def features(text: str) -> dict[int, float]:
    """The hashed features of a short text, each block of length one."""
    plain = _number.sub("0", _address.sub(" URL ", text)).casefold()
    words = ["^", *_word.findall(plain), "$"]
    found: dict[int, float] = {}
    for block in (_words(words), _letters(words)):
        counts = Counter(block)
        length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
        for feature, count in counts.items():
            place = crc32(feature.encode("utf-8", "replace")) % SIZE
            found[place] = found.get(place, 0.0) + count / length
    return found


def _words(words: list[str]) -> Iterator[str]:
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            yield " ".join(words[at : at + size])


def _letters(words: list[str]) -> Iterator[str]:
    for word in words:
        padded = f"<{word}>"
        for size in (3, 4, 5):
            for at in range(len(padded) - size + 1):
                yield "#" + padded[at : at + size]


def score(text: str) -> float:
    """Above 0 it is more likely an order than not, among texts of which a third are."""
    text = text[:_MOST]
    starts = range(0, max(len(text) - _STRETCH + _STEP, 1), _STEP)
    return max(_score(text[start : start + _STRETCH]) for start in starts)


def _score(text: str) -> float:
    weights, scale, bias = _model()
    return bias + scale * sum(weights[place] * value for place, value in features(text).items())


@functools.cache
def _model() -> tuple[array[int], float, float]:
    """A byte for each feature, what one of it is worth, and what every text begins with."""
    data = _WEIGHTS.read_bytes()
    ends = array("d", data[:16])
    return array("b", data[16:]), ends[0], ends[1]
