"""What the words of a text are about, whatever its language: send, hide, the user, a password, from now on.

The words are in ``meanings.txt``. What stands together in an order is learned of meanings, so that what was seen in one
language is recognised in another.
"""

from __future__ import annotations

import functools
import unicodedata
from itertools import chain, combinations, pairwise
from pathlib import Path

MOST = 1 << 7
PLACES = MOST + 2 * MOST * MOST
"""One place for each meaning, for each two that follow each other, and for each two of a text."""
_FILE = Path(__file__).parent / "meanings.txt"
_SHORTEST_STEM, _NEAR = 2, 2
_ALONE, _FOLLOWING, _TOGETHER = 2, 2, 1
"""How much each counts."""


def meanings(words: list[str], first: int) -> dict[int, int]:
    """The places of what is found in the words of a text, counted from ``first``, and how much each counts."""
    read, phrases = _meanings_of, _words().phrases
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


class _Words:
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
def _words() -> _Words:
    return _Words(_FILE.read_text(encoding="utf-8").splitlines())


@functools.lru_cache(8192)
def _meanings_of(word: str) -> tuple[int, ...]:
    """The meanings of a word, by itself or else by the longest stem that it begins with."""
    known = _words()
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    if plain in known.words:
        return known.words[plain]
    for end in range(min(len(plain), known.longest), _SHORTEST_STEM - 1, -1):
        if plain[:end] in known.stems:
            return known.stems[plain[:end]]
    return ()
