"""What kind of thing a question asks for (when, how much, who), by its words, and which texts have such a thing.

"When is the race?" shares no word with "sunday 9am, st james": what tells that this answers is that it names a time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists
from memtui.engine.memories.validation import role_trust
from memtui.engine.store.tokens import STOP_WORDS, text_words

READ = 400
"""So many characters of a text are looked through: a long one has a number or a name nearly always."""
_LIST = Path(__file__).with_name("words") / "answer_types.txt"
_LEAST_OF_A_NAME = 3
_WORD = re.compile(r"\w+")
_CAPITAL = re.compile(r"\b[^\W\d_a-z]\w+")


class Wanted(NamedTuple):
    """What a question asks for: how that is put beside a text that has it, and how such a text looks.

    ``words`` in small letters: one of them will do.
    """

    said: str
    words: frozenset[str]
    pattern: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        beginning = text[:READ]
        if self.pattern.search(beginning):
            return True
        return bool(self.words) and not self.words.isdisjoint(_WORD.findall(beginning.lower()))


class _Kind(NamedTuple):
    asks: re.Pattern[str]
    wanted: Wanted


def things_wanted(question: str) -> list[Wanted]:
    """What a question asks for; most ask for one kind of thing or for none."""
    lowered = question.lower()
    return [kind.wanted for kind in _compile_kinds() if kind.asks.search(lowered)]


@functools.cache
def _compile_kinds() -> tuple[_Kind, ...]:
    def make_kind(thing: str, said: str, words: frozenset[str]) -> _Kind:
        asks, looks = (
            re.compile(word_lists.read_expression(_LIST, f"{verb} {thing}"))
            for verb in ("asks", "looks like")
        )
        return _Kind(asks, Wanted(f"{said}, as asked", words, looks))

    return (
        make_kind("when", "a time", word_lists.read_words(_LIST, "says when")),
        make_kind("how much", "a number", word_lists.read_words(_LIST, "says how much")),
        make_kind("who", "a name", frozenset()),
    )


def speakers_named(question: str, roles: Iterable[str]) -> frozenset[str]:
    """Those of the speakers whom a question names: by one of their names, its beginning or a longer form (Kat, Katharina).

    ``roles`` as they are stored; "user" and "assistant" are no names.
    """
    question_words = frozenset(text_words(question)) - STOP_WORDS
    names = frozenset(word for one in _CAPITAL.findall(question) for word in text_words(one)) & question_words
    return frozenset(
        role
        for role in roles
        if any(_is_called(name, question_words, names) for name in text_words(role.replace("_", " ")))
        and role_trust(role) is None
    )


def _is_called(name: str, question_words: frozenset[str], names: frozenset[str]) -> bool:
    """``names``: those words of what is asked that have a capital letter."""
    if len(name) < _LEAST_OF_A_NAME:
        return False
    return name in question_words or any(
        len(word) >= _LEAST_OF_A_NAME and (word.startswith(name) or name.startswith(word)) for word in names
    )
