"""Two statements in one sentence: "Mia has swimming on Tuesdays and Leo has speech therapy on Thursdays".

Each has its own subject, so each can change alone. A sentence is split only where both parts can be understood alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.guards.quotes import mask_quotes

from .clauses import clause_spans
from .sentences import Sentence
from .statements import has_dangling_pronoun

_LIST = Path(__file__).with_name("joined_statements.txt")

_FEWEST_WORDS = 3
_said_on = re.compile(r" \(said \d{1,2} \w+ \d{4}\)$")
# Behind a name almost every small word in "s" is a verb; behind "my daughter" it may be a plural.
_subject = re.compile(word_lists.read_expression(_LIST, "subject"))
_join = re.compile(r",? (?:and|und|et|y) (?=\S)")
# What comes after such a word belongs to it: "when my mum visits and Tom is away".
_dependent = re.compile(word_lists.read_expression(_LIST, "dependent"), re.IGNORECASE)
# The second part leans on the first.
_leans = re.compile(word_lists.read_expression(_LIST, "leans"), re.IGNORECASE)
_ends_with_adjective = re.compile(word_lists.read_expression(_LIST, "adjective"))


def without_date(text: str) -> str:
    """The text without the date that a stored fact ends with: " (said 4 May 2026)"."""
    return _said_on.sub("", text)


def split_joined(text: str) -> list[str]:
    """The statements of a sentence that is joined of several with different subjects; else the sentence alone."""
    masked = mask_quotes(text)
    if "\x00" in masked or "(" in masked:
        return [text]
    found: list[str] = []
    start = 0
    for match in _join.finditer(text):
        first, second = text[start : match.start()], text[match.end() :]
        if (
            _as_standalone(first)
            and _as_standalone(second)
            and _have_different_subjects(first, second)
            and not _ends_with_adjective.search(first)
        ):
            found.append(first)
            start = match.end()
    last = text[start:]
    return [*found, last[:1].upper() + last[1:]] if found else [text]


def statements_in(text: str) -> list[str]:
    """What a stored fact says, statement by statement, also several about one subject."""
    found = []
    for part in split_joined(without_date(text)):
        found += [part[start:end] for start, end in clause_spans(Sentence(part, mask_quotes(part), False))]
    return found


def begins_with_subject(text: str) -> bool:
    """Whether a text begins with a name, a relation or the person, and a verb."""
    return _subject.match(text) is not None


def _as_standalone(text: str) -> bool:
    return (
        len(text.split()) >= _FEWEST_WORDS
        and begins_with_subject(text)
        and _dependent.search(text) is None
        and _leans.search(text) is None
        and not has_dangling_pronoun(text[:1].upper() + text[1:])
    )


def _have_different_subjects(first: str, second: str) -> bool:
    return _subject_of(first) != _subject_of(second)


def _subject_of(text: str) -> str:
    """The name or the relation in small letters; empty for the person themself."""
    match = _subject.match(text)
    return (match["subject"] or "").casefold() if match else ""
