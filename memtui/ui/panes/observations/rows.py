"""Observations as rows of three lists, one for each category: by time, or ranked by a query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.format import relative_time
from memtui.present.memory import confidence
from memtui.present.text import Visible, one_line, visible
from memtui.ui.presenters.memory_rows import MemorySource
from memtui.ui.presenters.text_layout import wrap
from memtui.ui.widgets.columns import Column, Piece
from memtui.ui.widgets.list_source import ListSource

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Category, MemoryRecord
    from memtui.engine.search.observations import ObservationHit
    from memtui.present.glyphs import Glyphs

CATEGORIES: tuple[Category, ...] = ("finding", "insight", "lesson")
BAR = 4
_READ = 400
_RECALLED = 1_000
_NEWEST = ("time", True)


class ObservationRow(NamedTuple):
    """An observation and the names in it; with a query, its hit and the best score of all."""

    memory: MemoryRecord
    entities: tuple[str, ...]
    hit: ObservationHit | None = None
    best: float = 1.0


class Recall:
    """The hits of one query, for all three lists. It is searched once, by the first thread that needs it."""

    def __init__(self, memory: Memory, query: str) -> None:
        self._memory = memory
        self._query = query
        self._lock = threading.Lock()
        self._rows: tuple[ObservationRow, ...] | None = None

    @property
    def best(self) -> Category | None:
        """The category of the best hit. None if nothing was searched or found."""
        return self._rows[0].memory.category if self._rows else None

    def rows(self) -> tuple[ObservationRow, ...]:
        """The best first."""
        with self._lock:
            if self._rows is None:
                hits = self._memory.observations.recall(self._query, limit=_RECALLED, preview=True)
                names = self._memory.view.entity_names([hit.memory.rid for hit in hits])
                best = hits[0].score if hits else 1.0
                self._rows = tuple(
                    ObservationRow(hit.memory, names.get(hit.memory.rid, ()), hit, best) for hit in hits
                )
            return self._rows


class ObservationSource:
    """The observations of a category: the hits of a ``recall``, or all, the newest first (see ``row_source``)."""

    def __init__(self, memory: Memory, category: Category, recall: Recall | None) -> None:
        self._category = category
        self._recall = recall
        self._all = MemorySource(memory, f"kind:observation category:{category}", _NEWEST)

    def count(self) -> int:
        return self._all.count() if self._recall is None else self._recalled(self._recall).count()

    def page(self, offset: int, limit: int) -> Sequence[ObservationRow]:
        if self._recall is not None:
            return self._recalled(self._recall).page(offset, limit)
        return [ObservationRow(row.memory, row.entities) for row in self._all.page(offset, limit)]

    def keys(self) -> Iterator[Sequence[int]]:
        return self._all.keys() if self._recall is None else self._recalled(self._recall).keys()

    def rows(self, keys: Sequence[int]) -> Sequence[ObservationRow]:
        if self._recall is not None:
            return self._recalled(self._recall).rows(keys)
        return [ObservationRow(row.memory, row.entities) for row in self._all.rows(keys)]

    def key(self, row: ObservationRow) -> int:
        return row.memory.rid

    def _recalled(self, recall: Recall) -> ListSource[ObservationRow]:
        return ListSource([row for row in recall.rows() if row.memory.category == self._category], self.key)


class ObservationLines:
    """The columns of a row: in one line, or in three if there is room.

    ``searched``: it shows its score as bar and number, otherwise its age.
    """

    def __init__(self, glyphs: Glyphs, now: Callable[[], float], *, searched: bool, tall: bool) -> None:
        self._glyphs = glyphs
        self._now = now
        last = (
            Column("score", "", self._score, width=BAR + 4, right=True, gap=1)
            if searched
            else Column("age", "", self._age, width=4, right=True, gap=1, drop=1)
        )
        text = Column("text", "", self._text, least=16)
        source = Column("source", "", self._source, width=18, drop=2)
        self._room = 0
        self.first: list[Column[ObservationRow]] = [text, last] if tall else [text, source, last]
        self.below: list[list[Column[ObservationRow]]] = (
            [[Column("rest", "", self._rest)], [Column("source", "", self._foot)]] if tall else []
        )
        self._tall = tall

    def _text(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        if row.memory.protected:
            yield Piece(visible(f"{self._glyphs.protected} "), "success")
        self._room = width
        yield Piece(self._broken(row)[0] if self._tall else one_line(row.memory.content, width))

    def _rest(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        rest = self._broken(row)[1:]
        if rest:
            yield Piece(one_line(" ".join(rest), width))
        else:
            yield from self._source(row, width)

    def _broken(self, row: ObservationRow) -> list[Visible]:
        """The text in lines; the first one leaves room for score or age."""
        taken = 2 if row.memory.protected else 0
        text = one_line(row.memory.content, _READ)
        return wrap(text, max(self._room - taken, 8)) or [Visible("")]

    def _source(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        yield Piece(one_line(row.memory.source or "", width), "dim")

    def _foot(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        """The source, unless it is already beside a short text."""
        if len(self._broken(row)) > 1:
            yield from self._source(row, width)

    def _age(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        yield Piece(relative_time(row.memory.event_time, self._now()), "dim")

    def _score(self, row: ObservationRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            filled = max(1, round(BAR * row.hit.score / row.best))
            yield Piece(visible(self._glyphs.bar * filled), "keyword")
            yield Piece(visible(self._glyphs.empty * (BAR - filled)), "faint")
            yield Piece(Visible(" "))
            yield Piece(confidence(row.hit.score), "dim")
