"""What was said before a statement: "it was pushed to 2 July" says nothing alone."""

from __future__ import annotations

from collections.abc import Iterable

from memtui.engine.records import MemoryRecord

from ..extract.sentences import sentences
from .similarity import tokens

_LONGEST_PRECEDING = 200
_LONGEST_BEFORE = 150


def preceding(text: str, turn: str) -> str:
    """What a turn says right before the sentence that the statement is drawn from."""
    words = set(tokens(text.casefold()))
    said = [sentence.text for sentence in sentences(turn[:20_000])]
    if not said:
        return ""
    best = max(range(len(said)), key=lambda place: len(words.intersection(tokens(said[place].casefold()))))
    return " ".join(said[max(0, best - 2) : best])[-_LONGEST_PRECEDING:]


def earlier_messages(turn: MemoryRecord, turns: Iterable[MemoryRecord]) -> str:
    """What the two messages before a turn say, of those that are at hand."""
    order = (turn.event_time, turn.rid)
    earlier = sorted(
        (one for one in turns if one.session_id == turn.session_id and (one.event_time, one.rid) < order),
        key=lambda one: (one.event_time, one.rid),
    )
    return " ".join(one.content[-_LONGEST_BEFORE:] for one in earlier[-2:])
