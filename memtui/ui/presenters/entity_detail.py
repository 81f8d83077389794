"""Everything that the profile of an entity shows, read at once outside the event loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, Companion, Entity, MemoryRecord

# More memories than this are counted only; Memories lists them.
LISTED = 200
# Of more memories at once (for example after an import) only the first ones are read.
_MOST = 200


class Month(NamedTuple):
    """How many of its memories are from one month (local time)."""

    year: int
    month: int
    memories: int


class Portrait(NamedTuple):
    """One entity and what belongs to it.

    ``memories``: facts first, then by time, at most ``LISTED`` of ``total``; ``months``: every month from
    the first to the last; ``titles``: the titles of the sessions of these memories, by their ids;
    ``unlinked``: memories that the person took out; ``waiting``: texts that were not searched for names yet.
    ``added``: the memories (rids) in which only a language model found it.
    ``cautions``: what was corrected, replaced or forgotten since in these memories or its summary (by id).
    """

    entity: Entity
    memories: tuple[MemoryRecord, ...] = ()
    total: int = 0
    seen_with: tuple[Companion, ...] = ()
    months: tuple[Month, ...] = ()
    titles: dict[str, str] = {}
    unlinked: int = 0
    waiting: int = 0
    added: frozenset[int] = frozenset()
    cautions: Mapping[str, Sequence[Caution]] = {}

    @property
    def complete(self) -> bool:
        """Whether every memory is listed."""
        return len(self.memories) >= self.total


def gather_portrait(memory: Memory, identity: str) -> Portrait:
    """Read everything about an entity. Blocks. Raises NotFoundError when there is none (any more)."""
    from memtui.engine.errors import NotFoundError

    profile = memory.entities.get(identity, limit=LISTED)
    titles: dict[str, str] = {}
    for session_id in {one.session_id for one in profile.memories if one.session_id is not None}:
        try:
            titles[session_id] = memory.view.session(session_id).name
        except NotFoundError:
            continue
    return Portrait(
        entity=profile.entity,
        memories=profile.memories,
        total=profile.total,
        seen_with=profile.seen_with,
        months=_filled([Month(*one) for one in memory.view.entity_months(profile.entity.eid)]),
        titles=titles,
        unlinked=profile.unlinked,
        waiting=profile.waiting,
        added=frozenset(memory.view.enriched_in(profile.entity.eid)),
        cautions=memory.view.cautions([one.id for one in profile.memories])
        | memory.view.summary_cautions([profile.entity]),
    )


def _filled(months: list[Month]) -> tuple[Month, ...]:
    """The months, with the empty ones between them."""
    if not months:
        return ()
    known = {(one.year, one.month): one for one in months}
    first, last = (one.year * 12 + one.month - 1 for one in (months[0], months[-1]))
    return tuple(
        known.get((number // 12, number % 12 + 1), Month(number // 12, number % 12 + 1, 0))
        for number in range(first, last + 1)
    )


def entities_in(memory: Memory, identities: Sequence[str]) -> list[Entity]:
    """The entities that these memories (by id) mention, each once, the most mentioned first. Blocks."""
    from memtui.engine.errors import NotFoundError

    times: Counter[int] = Counter()
    found: dict[int, Entity] = {}
    for identity in identities[:_MOST]:
        try:
            for entity in memory.view.entities_of(identity):
                found[entity.eid] = entity
                times[entity.eid] += 1
        except NotFoundError:
            continue  # erased in the meantime
    return sorted(found.values(), key=lambda one: (-times[one.eid], -one.mention_count, one.eid))
