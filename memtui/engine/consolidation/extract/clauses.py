"""Clauses of a sentence as people type them: commas for full stops, "and" for a new start, dots for a breath.

What one sentence strings together ("I sold the Fabia btw, we've got a Kia now, how do I say that nicely") may be
partly worth keeping. A cut is made only where what follows begins anew: with its own subject, an order or a question.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists

from .exclusions import is_small_talk
from .sentences import Sentence

_LIST = Path(__file__).with_name("clauses.txt")

_cut = re.compile(word_lists.read_expression(_LIST, "cut"), re.IGNORECASE)
_FEWEST_WORDS = 3


def clause_spans(sentence: Sentence) -> list[tuple[int, int]]:
    """Where the clauses of a sentence begin and end in its text, in order; a short one stays with the one before it."""
    masked = sentence.masked.replace("’", "'")
    found: list[tuple[int, int]] = []
    start = 0
    for match in _cut.finditer(masked):
        if not _has_at_least_words(masked[start : match.start()], _FEWEST_WORDS) or not _has_at_least_words(
            masked[match.end() :], 2
        ):
            continue
        if masked.count("(", 0, match.start()) > masked.count(")", 0, match.start()):
            continue
        found.append((start, match.start()))
        start = match.end()
    found.append((start, len(sentence.text)))
    return found


def without_chat(sentence: Sentence) -> Sentence:
    """The sentence without the moods and exclamations that end it: "we moved yesterday, I'm dead"."""
    parts = clause_spans(sentence)
    end = len(sentence.text)
    while len(parts) > 1 and is_small_talk(sentence.masked[parts[-1][0] : parts[-1][1]]):
        parts.pop()
        end = parts[-1][1]
    return (
        sentence if end == len(sentence.text) else Sentence(sentence.text[:end], sentence.masked[:end], False)
    )


def _has_at_least_words(text: str, least: int) -> bool:
    """Whether a text has so many words; of a long one the rest is not read."""
    return len(text.split(None, least)) >= least
