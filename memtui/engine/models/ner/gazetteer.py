"""Gazetteers: well-known given names and places, lower case.

They give a name its type, and let it count where a sentence begins. Names that are ordinary words as well
("rose", "reading") are left out. Of names in Cyrillic and Greek letters the stems stand here: they change
their endings.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memtui.engine import word_lists

from . import cues

_LIST = Path(__file__).with_name("gazetteer.txt")

GIVEN_NAMES = word_lists.read_words(_LIST, "given names")

PLACES = word_lists.read_words(_LIST, "places")

_NAME_STEMS = word_lists.read_words(_LIST, "name stems")
_PLACE_STEMS = word_lists.read_words(_LIST, "place stems")
_ENDINGS = word_lists.read_words(_LIST, "endings") | {""}


def is_given_name(word: str) -> bool:
    return word in GIVEN_NAMES or (not word.isascii() and _begins_with_stem(word, _NAME_STEMS))


def is_place(words: Sequence[str]) -> bool:
    """Whether the words, in small letters, name a well-known place: "porto", "porto alegre", "new york"."""
    first, last = words[0], words[-1]
    if len(words) < 3 and (
        first in PLACES or (not first.isascii() and _begins_with_stem(first, _PLACE_STEMS))
    ):
        return first not in GIVEN_NAMES or len(words) == 1
    return len(words) == 2 and first in cues.PLACE_STARTS and last in PLACES


def _begins_with_stem(word: str, stems: frozenset[str]) -> bool:
    return any(word[: len(word) - cut] in stems and word[len(word) - cut :] in _ENDINGS for cut in range(3))
