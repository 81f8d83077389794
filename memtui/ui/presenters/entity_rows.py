"""Entities as rows of a list: their source and their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memtui.present.format import count, local_month, relative_time
from memtui.present.text import Visible, cells, one_line, visible
from memtui.ui.widgets.columns import Column, Order, Piece

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Entity
    from memtui.present.glyphs import Glyphs

# Other names are shown only if this many cells are left beside the name.
_ALIASES_LEAST = 8
TYPES = ("person", "project", "organization", "location", "email", "url", "date", "other")
ORDERS = (
    Order("mentions", True, "most mentioned first", "least mentioned first"),
    Order("last_seen", True, "last seen first", "longest not seen first"),
    Order("first_seen", True, "newest first", "oldest first"),
    Order("name", False, "by name, from Z", "by name, from A"),
)


class EntitySource:
    """The entities that pass a filter, in an order, pinned ones first (see ``row_source``)."""

    def __init__(self, memory: Memory, filter: str, order: tuple[str, bool]) -> None:
        self._list = memory.view.entity_list
        self._filter = filter
        self._order, falling = order
        # The engine calls the natural order "falling"; for names that is A to Z.
        self._falling = falling != (self._order == "name")

    def count(self) -> int:
        return self._list.count(self._filter)

    def page(self, offset: int, limit: int) -> Sequence[Entity]:
        return self._list.page(
            self._filter, order=self._order, falling=self._falling, offset=offset, limit=limit
        )

    def keys(self) -> Iterator[Sequence[int]]:
        return self._list.keys(self._filter, order=self._order, falling=self._falling)

    def rows(self, keys: Sequence[int]) -> Sequence[Entity]:
        return self._list.rows(keys)

    def key(self, row: Entity) -> int:
        return row.eid


def entity_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[Entity]]:
    """Pin, name and other names, type, mentions, when it was seen first and last."""

    def pin(row: Entity, width: int) -> Iterable[Piece]:
        yield Piece(visible(glyphs.pinned if row.pinned else ""), "accent")

    def name(row: Entity, width: int) -> Iterable[Piece]:
        own = one_line(row.canonical_name, width)
        yield Piece(own)
        if row.aliases and (left := width - cells(own) - 2) >= _ALIASES_LEAST:
            yield Piece(Visible("  "))
            yield Piece(one_line(", ".join(row.aliases), left), "dim")

    def type(row: Entity, width: int) -> Iterable[Piece]:
        yield Piece(one_line(row.type, width), "dim")

    def mentions(row: Entity, width: int) -> Iterable[Piece]:
        yield Piece(count(row.mention_count))

    def last(row: Entity, width: int) -> Iterable[Piece]:
        if row.last_seen is not None:
            yield Piece(relative_time(row.last_seen, now()), "dim")

    def first(row: Entity, width: int) -> Iterable[Piece]:
        if row.first_seen is not None:
            yield Piece(local_month(row.first_seen), "dim")

    return [
        Column("pin", "", pin, width=1),
        Column("name", "name", name, least=28, gap=1, sort="name"),
        Column("type", "type", type, width=12, drop=3),
        Column("mentions", "mentions", mentions, width=9, drop=2, right=True, sort="mentions"),
        Column("first", "first", first, width=8, right=True, drop=4, sort="first_seen"),
        Column("last", "last", last, width=4, right=True, drop=1, sort="last_seen"),
    ]
