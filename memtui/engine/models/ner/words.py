"""Word lists of the name finder, in small letters.

They are about how people write notes and messages: what opens a sentence without being a name. What stands
beside a name and tells its type is in ``cues``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from memtui.engine import word_lists
from memtui.engine.store.tokens import text_stems

_LIST = Path(__file__).with_name("words.txt")

# Never part of a name, however they are written.
NOT_NAMES = word_lists.read_words(_LIST, "not names")
ALSO_SURNAMES = word_lists.read_words(_LIST, "also surnames")
"""Months, seasons and feasts that are names after a first name or a title: "Anna Winter", not "call Anna Monday"."""

# No name alone, though it may be part of one: what opens a note or a request, and nationalities.
OPENERS = word_lists.read_words(_LIST, "openers")

# Acronyms of everyday computing and chat: things, not names.
ACRONYMS = word_lists.read_words(_LIST, "acronyms")

# Days and months that are nobody's name; and what stands beside them in a date.
CALENDAR = word_lists.read_words(_LIST, "calendar")
BESIDE_DATES = word_lists.read_words(_LIST, "beside dates")


_START = "▁"
"""Stands before what begins a word."""


class _VocabularyModel(msgspec.Struct):
    vocab: dict[str, int]


class _TokenizerFile(msgspec.Struct):
    model: _VocabularyModel


def ordinary_words(words: Iterable[str]) -> set[str]:
    """Those of the words (as the index gives them) that are ordinary; none where the embedder is not installed."""
    known = _word_stems()
    return {word for word in words if known and not known.isdisjoint(text_stems(word))}


@functools.cache
def _word_stems() -> frozenset[str]:
    return frozenset(text_stems(" ".join(whole_word_tokens())))


def whole_word_tokens() -> list[str]:
    """The words in small letters that the embedder's tokenizer has whole; none where it is not installed."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        return []
    place = Path(spec.submodule_search_locations[0], "tokenizers", "l2_supercat_tokenizer_config.json")
    if not place.is_file():
        return []
    vocab = msgspec.json.decode(place.read_bytes(), type=_TokenizerFile).model.vocab
    whole = (piece.removeprefix(_START) for piece in vocab if piece.startswith(_START))
    return [word for word in whole if word.isalpha() and word.islower()]
