"""Sentences that say of themselves that they matter: "we decided", "important", "note that", "learned that".

Whole words only, and not where they are denied ("nothing important", "haven't decided", "I don't remember").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtui.engine.records import Category

from .sentences import Sentence

# Long phrases first: "learned that" makes a lesson, every other one an insight.
_PHRASES: tuple[tuple[str, Category], ...] = (
    ("learned that", "lesson"), ("learnt that", "lesson"), ("note that", "insight"), ("key insight", "insight"),
    ("will use", "insight"), ("should use", "insight"), ("decided", "insight"), ("conclusion", "insight"),
    ("important", "insight"), ("remember", "insight"), ("agreed", "insight"),
)  # fmt: skip
_TRIGGERS = tuple(
    (phrase, category, re.compile(rf"\b{phrase}\b".replace(" ", r"\s+"))) for phrase, category in _PHRASES
)
_DENIAL = re.compile(
    r"(?:\b(?:not|never|no|nothing|none|nobody|neither|nor|without|hardly|cannot|un)|n['’]?t|n['’]t)\b(?:\W+\w+){0,3}\W*$"
)
# "I remember the summer when ..." recalls; "remember that ..." asks to keep.
_RECALLING = re.compile(r"\b(?:i|we|you|they|he|she|to|can|do|did|and i) (?:\w+ )?$")
# What an assistant tells everybody: "it's important to sleep", "remember to preheat the oven", "in conclusion, both are fine".
_ADVICE = re.compile(
    r"\b(?:important (?:to (?!me\b|us\b|my\b|our\b)|for (?!me\b|us\b|my\b|our\b)|that you\b|(?:ingredient|factor|step|"
    r"aspect|nutrient)s?\b)|"
    r"remember(?:,| to\b| that you\b| you\b)|you should use\b|in conclusion\b)"
)
_SHORTEST_MESSAGE, _SHORTEST, _LONGEST = 50, 20, 2_000


class TriggerPhrase(NamedTuple):
    phrase: str
    category: Category


def find_trigger(sentence: Sentence, *, by_assistant: bool = False) -> TriggerPhrase | None:
    """The phrase that makes a sentence worth noting; None for questions, fragments, and where it is denied.

    ``by_assistant``: nor for the advice that one gives to everybody.
    """
    if sentence.question or not _SHORTEST <= len(sentence.text) <= _LONGEST or sentence.text.count(" ") < 2:
        return None
    plain = sentence.masked.casefold().replace("’", "'")
    if by_assistant and _ADVICE.search(plain):
        return None
    for phrase, category, shape in _TRIGGERS:
        for match in shape.finditer(plain):
            before = plain[: match.start()]
            if _DENIAL.search(before) or (phrase == "remember" and _RECALLING.search(before)):
                continue
            return TriggerPhrase(phrase, category)
    return None


def worth_reading(message: str) -> bool:
    """A message shorter than this ("Agreed.") says nothing without the one before."""
    return len(message.strip()) >= _SHORTEST_MESSAGE
