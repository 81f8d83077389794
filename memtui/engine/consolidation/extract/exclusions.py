"""Words that keep a clause from becoming a fact, however lasting it reads: what is supposed, asked for, felt, quoted.

The classifier judges by likeness; the rules in ``exclusions.txt`` say no. They are matched against a clause in small letters
in which what is quoted is blanked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("exclusions.txt")
_INVENTED = ("supposed", "example", "reported", "made up")
_REQUESTED = ("asked", "asked without a mark", "needed")
_SMALL_TALK = ("chat", "felt")
_EVERY = (
    *_INVENTED,
    *_REQUESTED,
    *_SMALL_TALK,
    "wished once",
    "of the moment",
    "of a task",
    "to the assistant",
)
_CODE = re.compile(
    r"[{}<>]|\w\(|=>|==|;\s*$|\bselect\b.+\bfrom\b|\b(?:func|def|return|import) \w|https?://", re.IGNORECASE
)
_word = re.compile(r"'?[^\W\d_]+(?:['’][^\W\d_]+)?")


def in_known_language(text: str, *, surely: bool = False) -> bool:
    """Whether a text looks to be in a language that the classifier was trained on: English, German, French or Spanish.

    ``surely``: one of its words is of such a language, also where it is short."""
    words = _word.findall(text.casefold().replace("’", "'"))
    known_words, foreign_words = (word_lists.read_words(_LIST, name) for name in ("known", "foreign"))
    foreign = sum(word in foreign_words and word not in known_words for word in words)
    known = sum(word in known_words for word in words)
    latin = sum(word[-1] < "ɐ" for word in words)
    return latin * 2 > len(words) and (known > foreign if foreign or surely else known > 0 or len(words) < 8)


def is_excluded_clause(masked: str, *, lasts: bool = False) -> bool:
    """Whether a clause must not become a fact. ``masked``: with a NUL in the place of each quoted character.

    ``lasts``: what it tells is true ever after, though it says "yesterday"."""
    plain = _plain_text(masked)
    kinds = [kind for kind in _EVERY if not (lasts and kind == "of the moment")]
    return _is_unreadable(masked, plain) or _matches_any(kinds, plain)


def is_small_talk(masked: str) -> bool:
    """Whether a clause greets, exclaims, tells a mood, or says nothing at all."""
    plain = _plain_text(masked)
    return _is_unreadable(masked, plain) or _matches_any(_SMALL_TALK, plain)


def is_hypothetical(masked: str) -> bool:
    """Whether a clause supposes, quotes or tells a tale: what it says holds of nobody."""
    plain = _plain_text(masked)
    return _is_unreadable(masked, plain) or _matches_any(_INVENTED, plain)


def is_request(masked: str) -> bool:
    """Whether a clause asks for something, be it an answer or a piece of work."""
    return _matches_any(_REQUESTED, _plain_text(masked))


def _matches_any(names: Iterable[str], plain: str) -> bool:
    return any(_exclusion_pattern(name).search(plain) for name in names)


@functools.cache
def _exclusion_pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists.as_folded(word_lists.read_expression(_LIST, name)))


def _plain_text(masked: str) -> str:
    return " ".join(masked.casefold().replace("’", "'").split()).strip(" ,.-–—")


def _is_unreadable(masked: str, plain: str) -> bool:
    """Whether what it says is elsewhere, or is quoted, or code."""
    return plain.endswith(":") or masked.count("\x00") * 3 > len(masked) or _CODE.search(masked) is not None
