"""A linear classifier that tells the type of a name, or that it is none.

It sees the name (its words, their letters, their form, the lists that they are in), the words before and after, what the
rules say and, where it read the text, what spaCy says. ``tests/benchmarks/names_train.py`` makes the weights.
"""

from __future__ import annotations

import functools
import math
import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from .name_lists import lists_with_name, name_group

FILE = Path(__file__).with_name("type_model.bin")
CLASSES = ("person", "organization", "location", "project", "other", "none")
SIZE = 1 << 15
"""Places of the hashed features; each has a byte for each class."""
_COUNT = len(CLASSES)
_SHIFTS = tuple(range(0, 16 * _COUNT, 16))
_LANE = 0xFFFF
_MOST_FEATURES = 255
"""More of them could overflow the bits of a class."""
_NEAR = 48
_MOST_LETTERS = 24
_word = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\w\s]")
_upper, _lower, _digit = re.compile("[A-Z]+"), re.compile("[a-z]+"), re.compile("[0-9]+")


class NameContext(NamedTuple):
    """Where a name may be: code points ``start:end`` of ``text``; ``opens`` a sentence.

    ``rule``: the type that the rules give it and how sure they are, or that they take it for none; ``label``: spaCy's, or "".
    """

    text: str
    start: int
    end: int
    opens: bool
    rule: str
    label: str = ""


def type_probabilities(place: NameContext) -> tuple[float, ...]:
    """How likely each of ``CLASSES`` is; they add up to 1."""
    _, scale, bias = _load_model()
    plain, of_letters = _score_of_name(place.text[place.start : place.end])
    around = context_features(place)
    sums = _sum_rows(sum(map(_weights_of, around)), len(around))
    odds = [scale * sum(parts) for parts in zip(bias, sums, plain, of_letters, strict=True)]
    most = max(odds)
    worth = [math.exp(one - most) for one in odds]
    total = sum(worth)
    return tuple(one / total for one in worth)


@functools.lru_cache(2048)
def _score_of_name(name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What the name itself adds to each class: as a whole, and by its letters."""
    plain, letters = name_features(name)
    share = 1.0 / math.sqrt(len(letters) or 1)
    of_letters = _sum_rows(sum(map(_weights_at, letters)), len(letters))
    return _sum_rows(sum(map(_weights_of, plain)), len(plain)), tuple(share * one for one in of_letters)


def _sum_rows(rows: int, count: int) -> tuple[float, ...]:
    """The numbers of ``count`` rows that were added up, a class each."""
    return tuple(float((rows >> shift & _LANE) - 128 * count) for shift in _SHIFTS)


@functools.lru_cache(16384)
def _weights_of(feature: str) -> int:
    return _weights_at(_hash_feature(feature))


def _weights_at(place: int) -> int:
    """The weights of a feature, 16 bits a class and each 128 more than it is: one addition adds up six numbers."""
    weights = _load_model()[0]
    return sum((weights[place * _COUNT + kind] + 128) << shift for kind, shift in enumerate(_SHIFTS))


def name_features(name: str) -> tuple[list[str], list[int]]:
    """Features of the name as a whole, and the places of its letters."""
    words = name.split()[:6]
    lowered = [word.lower() for word in words]
    whole = " ".join(lowered)
    first, last, every = lists_with_name(lowered[0]), lists_with_name(lowered[-1]), lists_with_name(whole)
    features = [
        f"n{len(words)}",
        "s" + " ".join(map(word_shape, words)),
        f"kw{every}",
        f"kf{first}",
        f"kl{last}",
        f"k{first},{last},{min(len(words), 3)}",
        "f" + lowered[0],
        "l" + lowered[-1],
        "s1" + word_shape(words[0]),
        "s9" + word_shape(words[-1]),
        f"gf{name_group(lowered[0])}",
        f"gl{name_group(lowered[-1])}",
        f"g{name_group(whole)}",
    ]
    features += [f"kb{bit}" for bit in range(7) if every >> bit & 1]
    if len(words) > 1:
        features += ["w" + word for word in lowered]
        features += [f"kh{bit}" for bit in range(7) if first >> bit & 1]
        features += [f"kt{bit}" for bit in range(7) if last >> bit & 1]
    letters: list[int] = []
    for word in lowered:
        letters += _letter_ngrams(word)
    return features, letters[:_MOST_FEATURES]


def context_features(place: NameContext) -> list[str]:
    """Features of what stands around the name, and what others say of it."""
    text, start, end = place.text, place.start, place.end
    before = ["^", "^", *map(_fold_word, _word.findall(text[max(0, start - _NEAR) : start]))]
    after = [*map(_fold_word, _word.findall(text[end : end + _NEAR])), "$", "$"]
    b1, b2, a1, a2 = before[-1], before[-2], after[0], after[1]
    features = [
        "r" + place.rule, "b" + b1, "a" + a1, f"b2{b2}", f"a2{a2}", f"bb{b2} {b1}", f"aa{a1} {a2}", f"ba{b1} {a1}",
        f"o{place.opens:d}{b1 == '^':d}{a1 == '$':d}",
        f"q{lists_with_name(b1)}", f"u{lists_with_name(a1)}",
    ]  # fmt: skip
    features += ["x" + word for word in before[-5:]]
    features += ["y" + word for word in after[:5]]
    nearby = [name_group(word) for word in before[-4:]]
    features += [f"gx{one}" for one in dict.fromkeys(nearby)]
    nearby = [name_group(word) for word in after[:4]]
    features += [f"gy{one}" for one in dict.fromkeys(nearby)]
    features += [f"gb{name_group(b1)}", f"ga{name_group(a1)}"]
    if len(before) > 4:
        features.append(f"b3{before[-3]} {b2}")
    if place.label:
        name = text[start:end].lower().split()
        features += [
            "L" + place.label,
            f"L{place.label} {place.rule}",
            f"L{place.label} {lists_with_name(name[0])} {len(name) > 1}",
        ]
    return features


def _fold_word(word: str) -> str:
    return "0" if word.isdigit() else word.lower()


@functools.lru_cache(2048)
def word_shape(word: str) -> str:
    """ "Iris" is Xx, "GmbH" XxX, "Q3" X9."""
    if word.isascii():
        return _digit.sub("9", _lower.sub("x", _upper.sub("X", word)))
    marks: list[str] = []
    for letter in word:
        mark = "X" if letter.isupper() else "x" if letter.isalpha() else "9" if letter.isdigit() else letter
        if not marks or marks[-1] != mark:
            marks.append(mark)
    return "".join(marks)


@functools.lru_cache(2048)
def _letter_ngrams(word: str) -> tuple[int, ...]:
    """The places of those of the two to four letters that stand together in a word."""
    padded = f"<{word[:_MOST_LETTERS]}>"
    ngrams = [padded[at : at + size] for size in (3, 4) for at in range(len(padded) - size + 1)]
    return tuple(_hash_feature("#" + piece) for piece in (*ngrams, padded[-3:-1] + "$", "^" + padded[1:3]))


def _hash_feature(feature: str) -> int:
    return crc32(feature.encode("utf-8", "replace")) % SIZE


@functools.cache
def _load_model() -> tuple[array[int], float, tuple[float, ...]]:
    """A byte for each feature and class, what one of it is worth, and what each class begins with."""
    data = FILE.read_bytes()
    ends = array("d", data[:56])
    return array("b", data[56:]), ends[0], tuple(ends[1:])


def hash_features(features: Sequence[str]) -> list[int]:
    return [_hash_feature(feature) for feature in features]
