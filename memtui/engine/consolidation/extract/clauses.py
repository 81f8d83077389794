"""Clauses of a sentence as people type them: commas for full stops, "and" for a new start, dots for a breath.

What one sentence strings together ("I sold the Fabia btw, we've got a Kia now, how do I say that nicely") may be
partly worth keeping. A cut is made only where what follows begins anew: with its own subject, an order or a question.
"""

from __future__ import annotations

import re

from .exclusions import is_small_talk
from .sentences import Sentence

_SUBJECT = (
    r"(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|we'll|he|he's|she|she's|they|they're|they've|it|it's|its|my|our|his|her|"
    r"their|there's|that's|this|you|you're|don't|do|does|can|could|should|will|what|how|which|who|when|where|why|is|are|"
    r"please|(?:never|always)(?! (?:on|at|in|by|before|after|past|with|without|for|from|the|a|an|any|my|our) )|so|nobody|"
    r"ich|wir|er|sie|es|mein|meine|unser|unsere|bitte|wie|was|wer|wo|wann|kann|darf|soll|je|j'ai|j'|on|il|elle|mon|ma|mes|nous|c'est|"
    r"yo|mi|mis|él|ella|nos|me|le|tengo|estoy|es|ya|qué|cómo|puedo)"
)
_JOIN = r"(?:and|but|so|or|also|oh|plus|und|aber|et|mais|donc|y|pero|entonces|así que|o sea)"
_cut = re.compile(
    rf"\s*(?:[;…]|\.\.+|\s[-–—]\s)\s*"
    rf"|,?\s+(?=(?:oh and|anyway|so basically|one more thing|by the way|side note)\b)"
    rf"|,\s+(?={_JOIN}?\s?{_SUBJECT}(?![\w'’]))"
    rf"|,\s+{_JOIN}\s+(?=\w)"
    rf"|\s+(?=and (?:please )?(?:always|never) [^.;]{{3,80}}\byou\b)"
    rf"|\s+(?=(?:and|but|so) (?:i|i'm|i've|we|we're|we've|he|he's|she|she's|they|my|our)\s)",
    re.IGNORECASE,
)
_FEWEST_WORDS = 3


def clauses(sentence: Sentence) -> list[tuple[int, int]]:
    """Where the clauses of a sentence begin and end in its text, in order; a short one stays with the one before it."""
    masked = sentence.masked.replace("’", "'")
    found: list[tuple[int, int]] = []
    start = 0
    for match in _cut.finditer(masked):
        if not _has_words(masked[start : match.start()], _FEWEST_WORDS) or not _has_words(
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
    parts = clauses(sentence)
    end = len(sentence.text)
    while len(parts) > 1 and is_small_talk(sentence.masked[parts[-1][0] : parts[-1][1]]):
        parts.pop()
        end = parts[-1][1]
    return (
        sentence if end == len(sentence.text) else Sentence(sentence.text[:end], sentence.masked[:end], False)
    )


def _has_words(text: str, least: int) -> bool:
    """Whether a text has so many words; of a long one the rest is not read."""
    return len(text.split(None, least)) >= least
