"""Entities, and how their names were found."""

from __future__ import annotations

from typing import Literal

from ..strategies import ProviderName
from .base import Record
from .memories import MemoryRecord

EntityType = Literal["person", "project", "organization", "location", "email", "url", "date", "other"]


class Entity(Record):
    """Somebody or something that memories name.

    ``mention_count``: active memories that are linked to it or to one merged into it. ``first_seen``, ``last_seen``:
    when the earliest and the latest of them happened, Unix seconds. ``aliases``: its other names. ``decided``: the
    person named or typed it. ``merged_into``: the ``eid`` of the entity that it is a name of.
    """

    eid: int
    id: str
    canonical_name: str
    type: str
    mention_count: int
    aliases: tuple[str, ...] = ()
    summary: str | None = None
    merged_into: int | None = None
    pinned: bool = False
    first_seen: int | None = None
    last_seen: int | None = None
    decided: bool = False


class Companion(Record):
    """An entity and the number of memories that mention it ``together`` with another one.

    ``last``: when the latest of them happened, Unix seconds. ``latest``: the latest fact among them, without one
    the latest memory; only in a ``Neighbourhood``.
    """

    entity: Entity
    together: int
    last: int | None = None
    latest: MemoryRecord | None = None


class Neighbourhood(Record):
    """An entity and those that memories mention together with it, those of the most memories first.

    ``others``: how many more there are. ``memories``: how many memories mention the entity; with a filter, those
    of them that pass. ``partly``: there are so many that only the latest were looked at.
    """

    entity: Entity
    companions: tuple[Companion, ...]
    others: int
    memories: int
    partly: bool = False


class EntityProfile(Record):
    """Everything about one entity.

    ``memories``: facts first, then the rest, the newest first; ``total`` is how many there are. ``seen_with``:
    those it is mentioned with most; ``others``: how many more there are. ``unlinked``: memories that somebody said
    are not about it. ``waiting``: texts of the whole memory that have not been read for names yet.
    """

    entity: Entity
    memories: tuple[MemoryRecord, ...]
    total: int
    seen_with: tuple[Companion, ...] = ()
    others: int = 0
    unlinked: int = 0
    waiting: int = 0


class EntityMerge(Record):
    """What a merge would make: ``moved`` memories come to the survivor, which then has ``memories_after``."""

    survivor: Entity
    absorbed: Entity
    memories_after: int
    moved: int
    aliases: tuple[str, ...]
    type: str


class Enrichment(Record):
    """A memory was read again for names at ``at`` (Unix seconds), and has the links to ``added`` from that."""

    at: int
    added: tuple[Entity, ...]


class ProviderReport(Record):
    """What one provider of names did: the texts it read (those it knew by heart are ``remembered``), the spans it
    found in them, its time. ``why``: why it took no part; "" when it did. ``failed``: it was there and was asked.
    """

    provider: ProviderName
    texts: int = 0
    remembered: int = 0
    spans: int = 0
    milliseconds: float = 0.0
    why: str = ""
    failed: bool = False


class StrategyReport(Record):
    """What a strategy did: ``spans`` are those that were kept where providers overlap."""

    strategy: str
    texts: int
    spans: int
    milliseconds: float
    providers: tuple[ProviderReport, ...]
