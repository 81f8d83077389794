"""Words that comparing two statements needs: which carry no content, which deny, which mean the same.

English; for other languages every word is content, which makes the comparison stricter, never looser. The lists are
``vocabulary.txt``.
"""

from __future__ import annotations

from pathlib import Path

from memtui.engine import word_lists

_LISTS = Path(__file__).with_name("vocabulary.txt")


def _first_by_word(heading: str) -> dict[str, str]:
    """The first word of each line below a heading, by every word of the line."""
    lines = [line.split() for line in word_lists.read_sections(_LISTS)[heading]]
    return {word: line[0] for line in lines for word in line}


FUNCTION_WORDS = word_lists.read_words(_LISTS, "function words")
NEGATIONS = word_lists.read_words(_LISTS, "negations")
ENDINGS = word_lists.read_words(_LISTS, "endings")
DIRECTIONS = word_lists.read_words(_LISTS, "directions")
NUMBER_WORDS = {word: number for word, number in _first_by_word("numbers").items() if not word.isdigit()}
SYNONYMS = _first_by_word("synonyms")
SEVERAL_AT_ONCE = word_lists.read_words(_LISTS, "several at once")
EMPTY_WORDS = word_lists.read_words(_LISTS, "empty words")
DEPENDENT = word_lists.read_words(_LISTS, "of a dependent clause")
