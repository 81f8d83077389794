"""A new home, a new job, and that somebody or something with a name is gone: what changes a known fact without its words.

"Finally in Nantes, moved in on the 17th" shares no word with "I live in Leipzig", and its likeness to it is small. One has a home
and an employer at a time, and who died is no longer there: so such a statement always asks about what is known of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.models.ner import gazetteer
from memtui.engine.models.ner.words import ordinary_words

from ..extract.joined_statements import without_date
from .change_words import words_under
from .compatible import subject_of
from .similarity import tokens_as_written

HOME = "it tells of a new home"
JOB = "it tells of a new job"
GONE = "it says that this is over"
_LIST = Path(__file__).with_name("life_changes.txt")
_LONGEST = 300  # characters that are read
_SHORTEST_NAME = 3  # letters
_ANYBODY = r"(?!(?:i|we|it|he|she|they|that|this|who|battery|phone|laptop|car)\b)[\w-]+"


def changes_life(new: str, old: str) -> str:
    """Why a statement changes a known one, by its home, its job or who is gone; empty where it does not."""
    if len(new) > _LONGEST or len(old) > _LONGEST:
        return ""
    known = _plain_text(old)
    if tells_new_home(new) and _search("lives", known) and not _share_name(new, old):
        return HOME
    if tells_new_job(new) and _search("works", known) and not _share_name(new, old):
        return JOB
    for name in _names_of(old) & {_bare(token) for token in tokens_as_written(new)}:
        if name in words_under("people") | _animals() and _search("somebody's", _plain_text(new), name):
            continue
        if _ends(new, name) and _search("is about", known, name):
            return "" if _search("gone", known, name) else GONE
    return ""


def tells_life_change(text: str) -> bool:
    """Whether a statement may change a known one in this way."""
    return len(text) <= _LONGEST and (tells_new_home(text) or tells_new_job(text) or _ends(text, _ANYBODY))


def ends_belonging(new: str, old: str) -> bool:
    """Whether what is over is only a thing of somebody known: "Pixel's tracker died", of the dog Pixel."""
    plain, known = _plain_text(new), _plain_text(old)
    return any(
        match["thing"] not in known
        for name in _names_of(old) & {_bare(token) for token in tokens_as_written(new)}
        if (match := _search("of its belongings", plain, name))
    )


@functools.lru_cache(maxsize=1024)
def tells_new_home(text: str) -> bool:
    """Whether the person says that they have moved."""
    return any(
        "place" not in match.re.groupindex
        or any(gazetteer.is_place(words) for words in (match["place"].split()[:1], match["place"].split()))
        for match in _own_changes("new home", text)
    )


@functools.lru_cache(maxsize=1024)
def tells_new_job(text: str) -> bool:
    """Whether the person says that they have another employer, or none any more."""
    return any(
        "employer" not in match.re.groupindex or _is_name(match["employer"], text)
        for match in _own_changes("new job", text)
    )


def _own_changes(heading: str, text: str) -> Iterator[re.Match[str]]:
    """What a statement says of the person; of a clause without a subject only where nobody else is the subject before it."""
    plain = _plain_text(text)
    if _search("told", plain):
        return
    who = subject_of(text)
    of_others = bool(who.relation or who.name) or _search("of others", plain) is not None
    for shape in _patterns_of(heading):
        for match in shape.finditer(plain):
            if not of_others or not words_under("self").isdisjoint(tokens_as_written(match[0])):
                yield match


def _ends(text: str, name: str) -> bool:
    """Whether a statement says that who or what has the name is gone."""
    plain = _plain_text(text)
    match = _search("gone", plain, name)
    if match is None or _search("told", plain):
        return False
    start = max(plain.rfind(sign, 0, match.start()) for sign in ",;.!?:") + 1
    return _search("not really", plain[start : match.end()]) is None


def _is_name(word: str, text: str) -> bool:
    """Whether a word of ``text`` in small letters is written as a name there, or is no ordinary word."""
    bare = word.strip(".,;:!?()'\"")
    if any(token[0].isupper() and token.casefold() == bare for token in tokens_as_written(text)):
        return True
    return bare.isalpha() and not ordinary_words([bare])


def _share_name(new: str, old: str) -> bool:
    """Whether both name one place or one employer."""
    return not (_names_of(new) & _names_of(old)).issubset(words_under("people") | _animals())


@functools.lru_cache(maxsize=1024)
def _names_of(text: str) -> frozenset[str]:
    """The names in a statement, and the words for people and animals, which are as good as a name."""
    found = set()
    for place, token in enumerate(tokens_as_written(text)):
        bare = _bare(token)
        if len(bare) < _SHORTEST_NAME or not bare.isalpha():
            continue
        if (
            (place and token[0].isupper())
            or gazetteer.is_given_name(bare)
            or bare in words_under("people")
            or bare in _animals()
            or not ordinary_words([bare])
        ):
            found.add(bare)
    return frozenset(found)


def _bare(token: str) -> str:
    return token.casefold().replace("’", "'").removesuffix("'s")


def _plain_text(text: str) -> str:
    return " ".join(without_date(text).casefold().replace("’", "'").split())


def _search(heading: str, plain: str, name: str = "") -> re.Match[str] | None:
    return next((match for shape in _patterns_of(heading, name) if (match := shape.search(plain))), None)


@functools.lru_cache(maxsize=512)
def _patterns_of(heading: str, name: str = "") -> tuple[re.Pattern[str], ...]:
    """A pattern for each line under a heading. ``name``: an expression for the name that it speaks of."""
    parts = {
        part: word_lists.read_expression(_LIST, part) for part in ("SELF", "HOME", "JOB", "NAMED", "PLACE")
    }
    found = []
    for line in word_lists.read_sections(_LIST)[heading]:
        for part, expression in parts.items():
            line = line.replace(f"{{{part}}}", expression)
        found.append(re.compile(word_lists.as_folded(line.replace("{x}", name))))
    return tuple(found)


@functools.cache
def _animals() -> frozenset[str]:
    return word_lists.read_words(_LIST, "animals")
