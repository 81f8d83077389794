"""Entities as text: what one is, its other names, where it is mentioned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .format import local_date, plural
from .text import Labelled

if TYPE_CHECKING:
    from memtui.engine.records import Entity

DECIDED = "as you said"


def mentioned(entity: Entity, now: float) -> str:
    """``in 4 memories, 3 Mar to 5 May``."""
    number = f"in {plural(entity.mention_count, 'memory')}"
    if entity.first_seen is None or entity.last_seen is None:
        return number
    first, last = (local_date(seconds, now) for seconds in (entity.first_seen, entity.last_seen))
    return f"{number}, {first}" if first == last else f"{number}, {first} to {last}"


def facts(entity: Entity, unlinked: int, now: float, *, between: str = ", ") -> Iterator[Labelled]:
    """Its other names and its mentions. ``unlinked``: how many memories the person took out."""
    if entity.aliases:
        yield Labelled("also", ((between.join(map(str.strip, entity.aliases)), "text"),))
    yield Labelled("mentioned", ((mentioned(entity, now), "text"),))
    if unlinked:
        yield Labelled("not in", ((f"{plural(unlinked, 'memory')} that you took out", "text"),))


def waiting(number: int) -> str:
    """How many texts were not searched for names yet. Empty for none."""
    return f"{plural(number, 'text waits', 'texts wait')} to be read for names" if number else ""
