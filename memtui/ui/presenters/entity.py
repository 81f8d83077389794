"""Entities as rows of a list, and what the profile of one shows, read at once outside the event loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.format import format_count, local_month, relative_time
from memtui.present.text import VisibleText, max_cells, one_line, visible_text
from memtui.ui.widgets.columns import Column, Order, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, Companion, Entity, MemoryRecord, Replacement
    from memtui.present.glyphs import Glyphs


# Other names are shown only if this many cells are left beside the name.
_ALIASES_LEAST = 8
TYPES = ("person", "project", "organization", "location", "email", "url", "date", "other")
ORDERS = (
    Order("mentions", True, "most mentioned first", "least mentioned first"),
    Order("last_seen", True, "last seen first", "longest not seen first"),
    Order("first_seen", True, "newest first", "oldest first"),
    Order("name", False, "by name, Z to A", "by name, A to Z"),
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

    def page_rows(self, offset: int, limit: int) -> Sequence[Entity]:
        return self._list.page(
            self._filter, order=self._order, falling=self._falling, offset=offset, limit=limit
        )

    def row_keys(self) -> Iterator[Sequence[int]]:
        return self._list.keys(self._filter, order=self._order, falling=self._falling)

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[Entity]:
        return self._list.rows(keys)

    def row_key(self, row: Entity) -> int:
        return row.eid


def entity_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[Entity]]:
    """Pin, name and other names, type, mentions, when it was seen first and last."""

    def pin_cell(row: Entity, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(glyphs.pinned if row.pinned else ""), "accent")

    def name_cell(row: Entity, width: int) -> Iterable[StyledText]:
        own = one_line(row.canonical_name, width)
        yield StyledText(own)
        if row.aliases and (width_left := width - max_cells(own) - 2) >= _ALIASES_LEAST:
            yield StyledText(VisibleText("  "))
            yield StyledText(one_line(", ".join(row.aliases), width_left), "dim")

    def type_cell(row: Entity, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.type, width), "dim")

    def mentions_cell(row: Entity, width: int) -> Iterable[StyledText]:
        yield StyledText(format_count(row.mention_count))

    def last_seen_cell(row: Entity, width: int) -> Iterable[StyledText]:
        if row.last_seen is not None:
            yield StyledText(relative_time(row.last_seen, now()), "dim")

    def first_seen_cell(row: Entity, width: int) -> Iterable[StyledText]:
        if row.first_seen is not None:
            yield StyledText(local_month(row.first_seen), "dim")

    return [
        Column("pin", "", pin_cell, width=1),
        Column("name", "name", name_cell, least=28, gap=1, sort="name"),
        Column("type", "type", type_cell, width=12, drop=3),
        Column("mentions", "mentions", mentions_cell, width=9, drop=2, right=True, sort="mentions"),
        Column("first", "first", first_seen_cell, width=8, right=True, drop=4, sort="first_seen"),
        Column("last", "last", last_seen_cell, width=4, right=True, drop=1, sort="last_seen"),
    ]


# More memories than this are counted only; Memories lists them.
LISTED = 200
# Of more memories at once (for example after an import) only the first ones are read.
_MOST = 200


class MonthCount(NamedTuple):
    """How many of its memories are from one month (local time)."""

    year: int
    month: int
    memories: int


class EntityPortrait(NamedTuple):
    """One entity and what belongs to it.

    ``memories``: facts first, then by time, at most ``LISTED`` of ``total``; ``months``: every month from
    the first to the last; ``titles``: the titles of the sessions of these memories, by their ids;
    ``unlinked``: memories that the person took out; ``waiting``: texts that were not searched for names yet.
    ``added``: the memories (rids) in which only a language model found it.
    ``cautions``: what was corrected, replaced or forgotten since in these memories or its summary (by id).
    ``replaced``: what took the place of what around these memories (by id).
    """

    entity: Entity
    memories: tuple[MemoryRecord, ...] = ()
    total: int = 0
    seen_with: tuple[Companion, ...] = ()
    months: tuple[MonthCount, ...] = ()
    titles: dict[str, str] = {}
    unlinked: int = 0
    waiting: int = 0
    added: frozenset[int] = frozenset()
    cautions: Mapping[str, Sequence[Caution]] = {}
    replaced: Mapping[str, Sequence[Replacement]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether every memory is listed."""
        return len(self.memories) >= self.total


def gather_portrait(memory: Memory, entity_id: str) -> EntityPortrait:
    """Read everything about an entity. Blocks. Raises NotFoundError when there is none (any more)."""
    from memtui.engine.errors import NotFoundError

    profile = memory.entities.get(entity_id, limit=LISTED)
    titles: dict[str, str] = {}
    ids = [one.id for one in profile.memories]
    for session_id in {one.session_id for one in profile.memories if one.session_id is not None}:
        try:
            titles[session_id] = memory.view.session(session_id).name
        except NotFoundError:
            continue
    return EntityPortrait(
        entity=profile.entity,
        memories=profile.memories,
        total=profile.total,
        seen_with=profile.seen_with,
        months=_fill_empty_months(
            [MonthCount(*one) for one in memory.view.entity_months(profile.entity.eid)]
        ),
        titles=titles,
        unlinked=profile.unlinked,
        waiting=profile.waiting,
        added=frozenset(memory.view.enriched_in(profile.entity.eid)),
        cautions=memory.view.cautions(ids) | memory.view.summary_cautions([profile.entity]),
        replaced=memory.view.replacements(ids),
    )


def _fill_empty_months(months: list[MonthCount]) -> tuple[MonthCount, ...]:
    """The months, with the empty ones between them."""
    if not months:
        return ()
    known = {(one.year, one.month): one for one in months}
    first, last = (one.year * 12 + one.month - 1 for one in (months[0], months[-1]))
    return tuple(
        known.get((number // 12, number % 12 + 1), MonthCount(number // 12, number % 12 + 1, 0))
        for number in range(first, last + 1)
    )


def entities_in(memory: Memory, memory_ids: Sequence[str]) -> list[Entity]:
    """The entities that these memories (by id) mention, each once, the most mentioned first. Blocks."""
    from memtui.engine.errors import NotFoundError

    times: Counter[int] = Counter()
    by_eid: dict[int, Entity] = {}
    for memory_id in memory_ids[:_MOST]:
        try:
            for entity in memory.view.entities_of(memory_id):
                by_eid[entity.eid] = entity
                times[entity.eid] += 1
        except NotFoundError:
            continue  # erased in the meantime
    return sorted(by_eid.values(), key=lambda one: (-times[one.eid], -one.mention_count, one.eid))
