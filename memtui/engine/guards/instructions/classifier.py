"""A linear classifier for prompt injection, over words, letters and meanings.

The weights are made by ``tests/benchmarks/orders_train.py`` from texts in six languages. Words and letters are hashed; meanings
have places of their own. A few words alone say little, so a short text needs more to be taken for an order. A text that is
longer than a few sentences is read in stretches, and the worst of them counts.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, combinations, pairwise, repeat
from operator import getitem, mul
from pathlib import Path
from zlib import crc32

MOST = 1 << 7
PLACES = MOST + 2 * MOST * MOST
"""One place for each meaning, for each two that follow each other, and for each two of a text."""
_FILE = Path(__file__).parent / "meanings.txt"
_SHORTEST_STEM, _NEAR = 2, 2
_ALONE, _FOLLOWING, _TOGETHER = 2, 2, 1
"""How much each counts."""


def find_meanings(words: list[str], first: int) -> dict[int, int]:
    """The places of what is found in the words of a text, counted from ``first``, and how much each counts."""
    read, phrases = _meanings_of, _concept_words().phrases
    line: list[tuple[int, ...]] = []
    pairs = list(map(" ".join, pairwise(words)))
    for word, pair, last in zip(words, [*pairs, ""], [*words[2:], "", ""], strict=False):
        if pair in phrases:
            line.append(phrases[pair])
        elif (three := f"{pair} {last}") in phrases:
            line.append(phrases[three])
        if found := read(word):
            line.append(found)
    every = sorted({one for here in line for one in here})
    following, together = first + MOST, first + MOST + MOST * MOST
    near = chain.from_iterable(zip(line, line[away:], strict=False) for away in range(1, _NEAR + 1))
    return {
        **dict.fromkeys([together + one * MOST + other for one, other in combinations(every, 2)], _TOGETHER),
        **dict.fromkeys(
            [following + one * MOST + other for here, there in near for one in here for other in there],
            _FOLLOWING,
        ),
        **dict.fromkeys([first + one for one in every], _ALONE),
    }


class _MeaningLexicon:
    """The words of ``meanings.txt``: whole words, stems and phrases, with the numbers of their meanings."""

    def __init__(self, lines: list[str]) -> None:
        self.words: dict[str, tuple[int, ...]] = {}
        self.stems: dict[str, tuple[int, ...]] = {}
        self.phrases: dict[str, tuple[int, ...]] = {}
        for number, line in enumerate(line for line in lines if not line.startswith("#")):
            for word in line.partition(":")[2].split():
                name, kind = word.replace("_", " ").replace("'", " ' "), self.words
                if word.endswith("*"):
                    name, kind = word[:-1], self.stems
                elif " " in name:
                    name, kind = " ".join(name.split()), self.phrases
                if number not in kind.get(name, ()):
                    kind[name] = (*kind.get(name, ()), number)
        self.longest = max(map(len, self.stems))


@functools.cache
def _concept_words() -> _MeaningLexicon:
    return _MeaningLexicon(_FILE.read_text(encoding="utf-8").splitlines())


@functools.lru_cache(8192)
def _meanings_of(word: str) -> tuple[int, ...]:
    """The meanings of a word, by itself or else by the longest stem that it begins with."""
    known = _concept_words()
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    if plain in known.words:
        return known.words[plain]
    for end in range(min(len(plain), known.longest), _SHORTEST_STEM - 1, -1):
        if plain[:end] in known.stems:
            return known.stems[plain[:end]]
    return ()


HASHED = 1 << 16
SIZE = HASHED + PLACES
CERTAIN_SCORE = -0.6
"""Where four of five planted orders by writers that nothing was trained on reach this, so do about 1 in 12 of the texts that
they wrote to be mistaken, and fewer than 1 in 100 turns, the person's own being judged by shape alone (see ``orders_eval.py``).
"""
_WEIGHTS = Path(__file__).parent / "weights.bin"
_STRETCH, _STEP, _MAX_LENGTH = 600, 400, 20_000
_MOST_LETTERS, _A_SENTENCE = 30, 20
_NGRAM = crc32(b"#")
_word = re.compile(r"\w+|[^\w\s]")
_number = re.compile(r"\d+")
_line_mark = re.compile(r"^[ \t]*(?:#{1,6}|[-*+]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_link = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}\)|!?\[\[|\]\]")
_address = re.compile(
    r"(?:https?://|www\.)\S{1,200}|[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,40}|\b[\w.-]{1,60}\.example\b[^\s]{0,80}"
)


def strip_markup(text: str) -> str:
    """The text without the signs of headings, lists and links, which notes have as often as prompts."""
    return _link.sub(r"\1", _line_mark.sub("", text))


def extract_features(text: str) -> dict[int, float]:
    """The features of a short ``unmarked`` text, each block of length one."""
    found: dict[int, float] = {}
    for counts, block in _feature_blocks(text):
        for bucket, count in counts.items():
            found[bucket] = found.get(bucket, 0.0) + count / block
    return found


def _feature_blocks(text: str) -> Iterator[tuple[Mapping[int, int], float]]:
    """How often each feature is there, and the length of the whole block."""
    plain = _number.sub("0", _address.sub(" URL ", text)).casefold()
    words = ["^", *_word.findall(plain), "$"]
    for counts in (_word_ngrams(words), _character_ngrams(words), find_meanings(words[1:-1], HASHED)):
        yield counts, math.sqrt(sum(map(mul, counts.values(), counts.values()))) or 1.0


def _word_ngrams(words: list[str]) -> Counter[int]:
    """Words, pairs and threes."""
    encoded = [word.encode("utf-8", "replace") for word in words]
    ones = list(map(crc32, encoded))
    # A checksum goes on where that of the beginning ends.
    blanks = [b" " + word for word in encoded[1:]]
    twos = list(map(crc32, blanks, ones))
    threes = map(crc32, blanks[1:], twos)
    return Counter([one % HASHED for one in chain(ones, twos, threes)])


def _character_ngrams(words: list[str]) -> Counter[int]:
    return Counter(chain.from_iterable(map(_ngrams_of_word, words)))


@functools.lru_cache(4096)
def _ngrams_of_word(word: str) -> tuple[int, ...]:
    """Those of the three to five letters that stand together in a word."""
    padded = f"<{word[:_MOST_LETTERS]}>"
    return tuple([
        crc32(padded[at : at + size].encode("utf-8", "replace"), _NGRAM) % HASHED
        for size in (3, 4, 5) for at in range(len(padded) - size + 1)
    ])  # fmt: skip


def score_instruction(text: str) -> float:
    """Above 0 it is more likely an order than not, among texts of which a third are."""
    text = strip_markup(text[:_MAX_LENGTH])
    starts = range(0, max(len(text) - _STRETCH + _STEP, 1), _STEP)
    return max(_weigh_features(text[start : start + _STRETCH]) for start in starts)


def _weigh_features(text: str) -> float:
    weights, scale, bias, of_length = _load_model()
    found = 0.0
    for counts, block in _feature_blocks(text):
        found += sum(map(mul, map(getitem, repeat(weights), counts), counts.values())) / block
    return bias + scale * found + of_length * text_length(text)


def text_length(text: str) -> float:
    """How long a text is, up to about a sentence."""
    return math.log1p(min(len(text.split()), _A_SENTENCE))


@functools.cache
def _load_model() -> tuple[array[int], float, float, float]:
    """A byte for each feature, what one of it is worth, what every text begins with, and what its length is worth."""
    data = _WEIGHTS.read_bytes()
    scale, bias, of_length = array("d", data[:24])
    return array("b", data[24:]), scale, bias, of_length
