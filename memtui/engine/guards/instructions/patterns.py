"""Patterns of prompt injection, as ``patterns.txt`` has them: each reason with alternatives, of which one must be found."""

from __future__ import annotations

import functools
import re
from itertools import accumulate, takewhile
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("patterns.txt")
_EDGE = r"\b"
_FIRST = 3
_SIGNS = frozenset("().[]{}?*+|^$\\")
_OPTIONAL = (["?"], ["*"], ["{"])
# An escaped sign, the signs between brackets, or one sign.
_part = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
REASONS = tuple(section for section in word_lists.read_sections(_LIST) if section[0].islower())


@functools.cache
def pattern_for(reason: str) -> re.Pattern[str]:
    """What is looked for, for one of ``REASONS``. Compiled when it is needed: all of them take 20 ms."""
    return re.compile(_expression_for(reason), re.MULTILINE)


@functools.cache
def patterns_for_any(reasons: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """One of these is in a text that gives one of the reasons, and in no other: nearly every text gives none.

    What begins at the edge of a word is looked for in one go, and only where the first letters of one of them stand. Each
    of the others is looked for by itself, which is quicker than all at once.
    """
    every = dict.fromkeys(one for reason in reasons for one in _alternatives_of(_expression_for(reason)))
    at_edge = {
        one: beginnings
        for one in every
        if one.startswith(_EDGE) and "" not in (beginnings := _beginnings_of(one.removeprefix(_EDGE)))
    }
    single = [one for one in every if one not in at_edge]
    if at_edge:
        first = _expression_for_any(set().union(*at_edge.values()))
        rest = "|".join(one.removeprefix(_EDGE) for one in at_edge)
        single.insert(0, f"{_EDGE}(?={first})(?:{rest})")
    return tuple(re.compile(one, re.MULTILINE) for one in single)


def _beginnings_of(expression: str) -> set[str]:
    """With what each match begins: up to three letters of it. Empty where that may be anything."""
    parts = _part.findall(expression)
    if parts[:3] == ["(", "?", ":"]:
        depths = accumulate({"(": 1, ")": -1}.get(part, 0) for part in parts)
        end = next(place for place, depth in enumerate(depths, 1) if not depth)
        found = set().union(*map(_beginnings_of, _alternatives_of("".join(parts[3 : end - 1]))))
    else:
        letters = "".join(takewhile(lambda part: len(part) == 1 and part not in _SIGNS, parts))
        end = len(letters)
        if end > 1 and parts[end : end + 1] in _OPTIONAL:
            letters, end = letters[:-1], end - 1
        found = {letters[:_FIRST]}
        if end != 1:
            return found
    if parts[end : end + 1] in _OPTIONAL:
        found |= _beginnings_of("".join(parts[end + 1 :] if parts[end] != "{" else parts[end:]))
    return found


def _expression_for_any(beginnings: set[str]) -> str:
    """An expression for texts that begin with one of these."""
    by_letter: dict[str, list[str]] = {}
    for one in sorted(beginnings):
        by_letter.setdefault(one[0], []).append(re.escape(one[1:]))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())


def _expression_for(reason: str) -> str:
    return word_lists.read_expression(_LIST, reason).replace("GAP", r"[^.!?\n]{0,40}")


def _alternatives_of(expression: str) -> list[str]:
    """Those of the whole expression, not of a group in it."""
    alternatives = [""]
    depth = 0
    for part in _part.findall(expression):
        if part == "|" and not depth:
            alternatives.append("")
            continue
        depth += {"(": 1, ")": -1}.get(part, 0)
        alternatives[-1] += part
    return alternatives
