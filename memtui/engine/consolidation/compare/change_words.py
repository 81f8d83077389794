"""The word lists of comparison: words for people, days, months, hours and numbers, and phrases that tell of a change.

English, German, French and Spanish; the lists are ``change_words.txt`` and ``change_cues.txt``.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from memtui.engine import word_lists

CUES = (
    "now", "instead", "correction", "moved", "replaced", "ended", "again", "amount",
    "also", "temporary", "maybe", "past", "asks", "other", "reminder",
)  # fmt: skip
"""The headings of ``change_cues.txt``."""
CHANGES = 8
"""So many of the first cues say that something changed."""
_CHANGED = ("instead", "correction", "moved", "replaced", "ended")


@functools.cache
def change_words() -> dict[str, frozenset[str]]:
    """The words of ``change_words.txt``, by heading."""
    return {
        heading: frozenset(" ".join(lines).split())
        for heading, lines in _lines_by_heading("change_words.txt").items()
    }


def words_under(heading: str) -> frozenset[str]:
    """The words under one heading."""
    return change_words()[heading]


@functools.cache
def day_names() -> dict[str, str]:
    """The names of the days, with 0 for Monday to 6."""
    lines = _lines_by_heading("change_words.txt")["days"]
    return {name: str(number) for number, names in enumerate(lines) for name in names.split()}


@functools.cache
def same_things() -> tuple[frozenset[str], ...]:
    """Groups of stems that name one thing to somebody who must not have it."""
    lines = _lines_by_heading("change_words.txt")["the same to an allergy"]
    return tuple(frozenset(names.split()) for names in lines)


@functools.cache
def month_names() -> dict[str, int]:
    """The names of the months, with their numbers from 1."""
    lines = _lines_by_heading("change_words.txt")["months"]
    return {name: number for number, names in enumerate(lines, start=1) for name in names.split()}


@functools.cache
def hour_names() -> dict[str, str]:
    """The words for the hours of the clock, with their numbers."""
    lines = _lines_by_heading("change_words.txt")["hours in order"]
    return {word: str(number) for number, names in enumerate(lines, start=1) for word in names.split()}


@functools.cache
def cue_patterns() -> tuple[re.Pattern[str], ...]:
    """A pattern for each of ``CUES``, for text in small letters."""
    lines = _lines_by_heading("change_cues.txt")
    return tuple(
        re.compile(rf"(?<!\w)(?:{word_lists.as_folded('|'.join(lines[name]))})(?!\w)") for name in CUES
    )


@functools.lru_cache(maxsize=4096)
def says_change(text: str) -> bool:
    """Whether it says that something changed: "now", "moved to", "went up to"."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    return any(shape.search(plain) for shape in cue_patterns()[:CHANGES])


def says_addition(text: str) -> bool:
    """Whether a statement says of itself that it adds to what is known, and of nothing that it ended or changed."""
    plain = text.casefold()
    return cue_phrases("adds").search(plain) is not None and not any(
        cue_patterns()[CUES.index(name)].search(plain) for name in _CHANGED
    )


@functools.cache
def cue_phrases(heading: str) -> re.Pattern[str]:
    """The phrases under a heading of ``change_cues.txt``, for text in small letters."""
    alternatives = word_lists.as_folded("|".join(_lines_by_heading("change_cues.txt")[heading]))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


def _lines_by_heading(name: str) -> dict[str, list[str]]:
    """The lines of a word list, by heading."""
    return word_lists.read_sections(Path(__file__).with_name(name))
