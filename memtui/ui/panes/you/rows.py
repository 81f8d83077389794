"""A line of the portrait before it has its column, and what Enter opens on it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.portrait import About
from memtui.present.text import max_cells, visible_text
from memtui.ui.widgets.columns import StyledText

if TYPE_CHECKING:
    from memtui.engine.records import DueInMonth, Entity, MemoryRecord, Month, TopicFacts

HEAD_SECTION = "head "
"""What the section of a stop of the first lines begins with."""


class Stop(NamedTuple):
    """What Enter opens: a fact, a person, all facts of a topic, what an agent was told, or what goes on.

    ``section``: the section that it is in, because a fact may be in two. ``month``: the month in which it stands. ``due``: all
    facts that name a day ahead in a month.
    """

    section: str
    memory: MemoryRecord | None = None
    entity: Entity | None = None
    topic: TopicFacts | None = None
    agent: str | None = None
    about: About | None = None
    month: Month | None = None
    due: DueInMonth | None = None

    @property
    def key(self) -> Hashable:
        if self.memory is not None:
            return self.section, self.memory.rid
        about = self.entity.eid if self.entity is not None else self.agent
        month = self.month or self.due
        if self.about == "told":
            return self.section, self.about
        return self.section, about, month.start if month is not None else None

    @property
    def section_on_screen(self) -> str:
        """The section that it is in; that of the first lines, with what goes on, is one."""
        return "" if self.section.startswith(HEAD_SECTION) else self.section


class PortraitRow(NamedTuple):
    """A line of a section before it has its column. ``draw`` gives its pieces for a width."""

    draw: Callable[[int], list[StyledText]]
    stop: Stop | None = None


Section = Sequence[PortraitRow]


def cells_of(pieces: Iterable[StyledText]) -> int:
    return sum(max_cells(piece.text) for piece in pieces)


def blank_cells(number: int) -> StyledText:
    return StyledText(visible_text(" " * max(number, 0)))
