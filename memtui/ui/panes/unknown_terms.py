"""What an empty list says about a term of its filter that only a list of memories knows."""

from __future__ import annotations

import re
from collections.abc import Collection

_COMPARED = re.compile(r"conf[<>=]")
# What a list with times knows.
TIMES = ("after", "before", "on")


def unknown_term(filter: str, known: Collection[str] = ()) -> str:
    """The first key of a filter that this list does not know, as typed: ``kind:``. Empty if there is none."""
    from memtui.engine.search.filters.terms import reads_as_filter

    for word in filter.split():
        word = word.removeprefix("-")
        if _COMPARED.match(word):
            return "conf"
        key = word.partition(":")[0]
        if reads_as_filter(word) and key not in known:
            return f"{key}:"
    return ""


def unread_time(filter: str, now: float) -> str:
    """The first ``on:``, ``after:`` or ``before:`` whose value is no time, as typed. Empty if there is none."""
    from memtui.engine.search.filters.dates import parse_bounds

    for word in filter.split():
        key, _, value = word.removeprefix("-").partition(":")
        if key in TIMES and value and parse_bounds(value, now) is None:
            return word
    return ""


def unknown_term_note(filter: str, known: Collection[str] = (), now: float | None = None) -> str:
    """A sentence and an empty line about such a term; empty if every term is known.

    ``now`` (Unix seconds): the list knows times.
    """
    if term := unknown_term(filter, (*known, *(TIMES if now is not None else ()))):
        return f"{term} is about memories, not for this list.\n\n"
    if now is not None and (term := unread_time(filter, now)):
        return f"{term} names no time. For example after:7d, before:2026-03, on:today.\n\n"
    return ""
