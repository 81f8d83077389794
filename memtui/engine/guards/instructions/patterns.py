"""Patterns of prompt injection, as ``patterns.txt`` has them: each reason with alternatives, of which one must be found."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("patterns.txt")
_EDGE = r"\b"
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

    What begins at the edge of a word is looked for in one go, at the edges only.
    """
    every = [one for reason in reasons for one in _alternatives_of(_expression_for(reason))]
    at_edge = [one.removeprefix(_EDGE) for one in every if one.startswith(_EDGE)]
    others = [one for one in every if not one.startswith(_EDGE)]
    joined = [f"{_EDGE}(?:{'|'.join(at_edge)})"] if at_edge else []
    joined += ["|".join(others)] if others else []
    return tuple(re.compile(one, re.MULTILINE) for one in joined)


def _expression_for(reason: str) -> str:
    return word_lists.read_expression(_LIST, reason).replace("GAP", r"[^.!?\n]{0,40}")


def _alternatives_of(expression: str) -> list[str]:
    """Those of the whole expression, not of a group in it."""
    found = [""]
    depth = 0
    for part in _part.findall(expression):
        if part == "|" and not depth:
            found.append("")
            continue
        depth += {"(": 1, ")": -1}.get(part, 0)
        found[-1] += part
    return found
