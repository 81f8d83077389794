"""Texts that cannot be understood without what was said before them: "Makes me less jittery", "Same as last year".

A fact stands alone. So a fragment is put behind the statement or the sentence that it follows. Where there is none it is no
fact; it may still be the change of a known one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists

from ..compare.change_words import says_change
from .exclusions import is_excluded_clause, is_small_talk
from .filler import is_retraction, without_filler
from .sentences import Sentence
from .severity import is_severe
from .statements import Statement
from .unresolved import find_unresolved

_LIST = Path(__file__).with_name("fragments.txt")
_KINDS = ("points back", "without subject", "compares", "goes on", "answers", "value first")
# They say something by themselves, if not of what.
_HALF_CLEAR = ("points back", "value first")
_LONGEST_BEFORE, _LONGEST = 140, 280  # characters of what is put before a fragment; of both
_FEWEST_WORDS = 2


class CompletedStatements(NamedTuple):
    """By the place of the sentence: the statements that can be understood, and the fragments that may only change something."""

    lasting: dict[int, list[Statement]]
    updates: dict[int, list[Statement]]


def complete_fragments(
    message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]]
) -> CompletedStatements:
    """The statements of a message, each fragment with what it follows. ``stated``: by the place of the sentence."""
    lasting: dict[int, list[Statement]] = {}
    updates: dict[int, list[Statement]] = {}
    for index in sorted(stated):
        for statement in stated[index]:
            kind = "" if is_severe(statement.text) or statement.question else fragment_kind(statement.text)
            if not kind:
                lasting.setdefault(index, []).append(statement)
                continue
            followed = _followed_statement(message, index, statement, lasting)
            if followed is not None:
                place, first = followed
                lasting[place][-1] = _joined(first, first.text, statement)
            elif (before := _followed_text(message, index, statement.text)) and not (
                says_change(statement.text) and _pattern_of("only names").search(before.casefold())
            ):
                lasting.setdefault(index, []).append(_joined(statement, before, statement))
            elif kind in _HALF_CLEAR:
                lasting.setdefault(index, []).append(statement)
            else:
                updates.setdefault(index, []).append(statement)
    return CompletedStatements(lasting, updates)


def fragment_kind(text: str) -> str:
    """By what a text needs something before it; empty where it can be understood alone."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    return next((kind for kind in _KINDS if _pattern_of(kind).search(plain)), "")


def _followed_statement(
    message: Sequence[Sentence], index: int, fragment: Statement, lasting: Mapping[int, Sequence[Statement]]
) -> tuple[int, Statement] | None:
    """The statement right before a fragment, and the place of its sentence: the end of the same one, or of the one before."""
    at = _place_in(message[index], fragment.text)
    for place in (index, index - 1):
        if place not in lasting or (place < index and at > 0):
            continue
        last = lasting[place][-1]
        said = _place_in(message[place], last.text)
        end = said + len(last.text)
        rest = message[place].text[end : at if place == index else None]
        if said < 0 or last.question or is_severe(last.text) or len(rest.split()) >= _FEWEST_WORDS:
            continue
        return (place, last) if len(last.text) + len(fragment.text) <= _LONGEST else None
    return None


def _followed_text(message: Sequence[Sentence], index: int, text: str) -> str:
    """What a message says right before a fragment, in its sentence or the one before; empty where that states nothing."""
    own = message[index]
    at = _place_in(own, text)
    if at > 0 and len(own.text[:at].split()) >= _FEWEST_WORDS:
        return _readable(Sentence(own.text[:at], own.masked[:at], False))
    return _readable(message[index - 1]) if index else ""


def _readable(sentence: Sentence) -> str:
    said = without_filler(sentence.text)
    if (
        sentence.question
        or said.endswith(":")
        or len(said.split()) < _FEWEST_WORDS
        or len(said) > _LONGEST_BEFORE
        or is_retraction(said)
        or is_small_talk(sentence.masked)
        or is_excluded_clause(sentence.masked)
        or fragment_kind(said) not in ("", "value first")
        or find_unresolved(said) is not None
    ):
        return ""
    return said


def _joined(first: Statement, before: str, fragment: Statement) -> Statement:
    stop = "" if before[-1:] in ".!?…" else "."
    return first._replace(
        text=f"{before}{stop} {fragment.text}",
        confidence=min(first.confidence, fragment.confidence),
        correcting=first.correcting or fragment.correcting,
        dated=first.dated or fragment.dated,
    )


def _place_in(sentence: Sentence, text: str) -> int:
    return sentence.text.casefold().find(text.casefold())


@functools.cache
def _pattern_of(kind: str) -> re.Pattern[str]:
    return re.compile(word_lists.as_folded(word_lists.read_expression(_LIST, kind)))
