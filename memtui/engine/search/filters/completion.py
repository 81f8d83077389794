"""What a filter that is being typed may go on with: its keys, the values there are, and saved filters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from memtui.engine.records import KINDS, TOPICS, TRUST_ORDER, Record
from memtui.engine.records.saved import SavedFilter
from memtui.engine.store.tokens import fold_text

from .sql import CATEGORIES, STATES
from .terms import KEYS, Value

_HEAD = re.compile(r"-?([^\W\d_]+)(:|<=|>=|<|>|=)")
# In the order in which a person looks for them.
_ABOUT: Mapping[str, str] = {
    "tag": "tags", "topic": "what a fact is about", "kind": "fact, reflection, observation, episode",
    "entity": "people, projects, places", "is": "protected, fading, in the Trash ...", "project": "projects",
    "session": "conversations", "source": "where it comes from", "role": "who said it", "trust": "whose word it is",
    "conf": "how sure: conf<0.5", "after": "a date, or 7d", "before": "a date, or 7d", "on": "a day, or a span",
    "added": "when it was written down", "happens": "the day that a fact names",
    "learned": "when it was new: a correction is not",
    "changed": "when it took the place of another one", "ended": "when it went to the Trash",
    "recalled": "when agents were told it",
    "category": "finding, insight, lesson", "text": "exact words", "id": "its id",
    "withheld": "what an agent is not told",
}  # fmt: skip
_DATES = ("today", "yesterday", "7d", "1mo", "1y")
_FIXED: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS, "topic": TOPICS, "trust": TRUST_ORDER, "category": CATEGORIES, "is": tuple(STATES),
    "after": _DATES, "before": _DATES, "on": ("today", "yesterday"), "added": ("today", "7d", "1mo"),
    "learned": ("today", "7d", "1mo"),
    "changed": ("today", "7d", "1mo"), "ended": ("today", "7d", "1mo"), "recalled": ("today", "7d", "1mo"),
    "happens": ("today", "tomorrow", "today..+7d", "today..+1mo"),
    "role": ("user", "assistant"),
}  # fmt: skip


class KnownValue(Record):
    """A value that memories have; ``count``: how many facts, reflections and observations, None where only turns."""

    text: str
    count: int | None = None


class Known(Record):
    """What a filter can name in one memory: the values of each key, the most used first, and the saved filters."""

    values: dict[str, tuple[KnownValue, ...]]
    saved: tuple[SavedFilter, ...] = ()


class Choice(NamedTuple):
    """One way to go on: ``text`` is what is put in, ``name`` what is shown, ``about`` what is said of it.

    ``found``: how many memories have it, if that is known."""

    text: str
    name: str
    about: str = ""
    found: int | None = None
    saved: bool = False


class Completion(NamedTuple):
    """``choices`` are in the place of the text from ``start`` to ``end``; ``term``: where their term begins."""

    start: int
    end: int
    choices: tuple[Choice, ...]
    term: int

    @property
    def unfinished(self) -> bool:
        """Whether of a term with a key nothing but the key is typed: it would be a mistake."""
        return self.term < self.start == self.end


def complete_filter(text: str, at: int, known: Known, most: int = 50) -> Completion | None:
    """How the filter may go on at the cursor ``at``; None where there is nothing to offer.

    Only the end of a word is completed. With nothing typed there are the saved filters.
    """
    if at < len(text) and not text[at].isspace():
        return None
    start = _word_at(text[:at])
    word = text[start:at]
    head = _HEAD.match(word)
    if head is None or head[1].casefold() not in KEYS:
        return _make_completion(
            start, start, at, word, _key_choices(word, known, alone=not text.strip()), most
        )
    key = head[1].casefold()
    begin = start + _last_value(word, head.end())
    typed = text[begin:at]
    if key == "conf":
        return None
    choices = [
        Choice(str(Value(text=one.text, quoted=_needs_quotes(one.text))), one.text, found=one.count)
        for one in _known_values(key, known)
    ]
    return _make_completion(
        start, begin, at, typed, _matching_choices(typed.removeprefix('"'), choices), most
    )


def _make_completion(
    term: int, start: int, end: int, typed: str, choices: list[Choice], most: int
) -> Completion | None:
    if not choices or (len(choices) == 1 and choices[0].text == typed):
        return None
    return Completion(start, end, tuple(choices[:most]), term)


def _key_choices(word: str, known: Known, *, alone: bool) -> list[Choice]:
    """Saved filters and keys for a word without a key; where nothing is typed, saved filters only."""
    negated = "-" * word.startswith("-")
    typed = word.removeprefix("-")
    saved = [Choice(one.filter, one.name, one.filter, saved=True) for one in known.saved]
    if alone or not typed:
        return saved if alone else []
    keys = [
        Choice(
            f"{negated}{key}{'<' if key == 'conf' else ':'}", f"{key}{'<' if key == 'conf' else ':'}", about
        )
        for key, about in _ABOUT.items()
        if key.startswith(typed.casefold())
    ]
    return [*([] if negated else _matching_choices(typed, saved)), *keys]


def _known_values(key: str, known: Known) -> list[KnownValue]:
    """What memories have, then what else the key knows."""
    found = list(known.values.get(key, ()))
    texts = {one.text for one in found}
    return found + [KnownValue(text=text) for text in _FIXED.get(key, ()) if text not in texts]


def _matching_choices(typed: str, choices: list[Choice]) -> list[Choice]:
    """Those that begin as typed, then those in which a later word does."""
    wanted = fold_text(typed)
    first = [one for one in choices if fold_text(one.name).startswith(wanted)]
    return first + [one for one in choices if one not in first and f" {wanted}" in fold_text(one.name)]


def _word_at(before: str) -> int:
    """Where the word at the end of ``before`` begins; blanks in quotes part no words."""
    start, quoted = 0, False
    for index, character in enumerate(before):
        if character == '"' and (index == 0 or before[index - 1] != "\\"):
            quoted = not quoted
        elif character.isspace() and not quoted:
            start = index + 1
    return start


def _last_value(word: str, begin: int) -> int:
    """Where the last of the values after the key begins; commas in quotes part no values."""
    quoted = False
    for index in range(begin, len(word)):
        if word[index] == '"' and word[index - 1] != "\\":
            quoted = not quoted
        elif word[index] == "," and not quoted:
            begin = index + 1
    return begin


def _needs_quotes(text: str) -> bool:
    return any(character.isspace() or character in ',"\\' for character in text) or text.endswith("*")
