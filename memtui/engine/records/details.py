"""Everything that is known about one memory."""

from __future__ import annotations

from .base import Record
from .cautions import Caution
from .decisions import Stamp
from .entities import Enrichment, Entity
from .history import Operation, RowChange
from .memories import MemoryRecord, Session
from .search import Recall


class MemoryDetail(Record):
    """One memory and what belongs to it; ``versions`` holds the chain of corrections, oldest first.

    ``merged``: what was merged into it; ``merged_into``: what it was merged into; ``successor``: what stands in its place.
    ``fades``: when its confidence reaches the threshold (Unix seconds), None when it never does. ``around``: the turns
    around it or around its first source, else what was learned in the same days. ``sessions``: its own and those of its
    sources, by id. ``cautions``: what it tells that was corrected or forgotten since. ``decided``: who decided last about each
    of its aspects, and on which device; ``device`` is this one. ``withheld_from``: the agents that are not
    told it, because of it or of what it belongs to.
    """

    memory: MemoryRecord
    fades: float | None
    threshold: float
    sources: tuple[MemoryRecord, ...]
    derived: tuple[MemoryRecord, ...]
    versions: tuple[MemoryRecord, ...]
    merged: tuple[MemoryRecord, ...]
    merged_into: tuple[MemoryRecord, ...]
    successor: MemoryRecord | None
    around: tuple[MemoryRecord, ...]
    entities: tuple[Entity, ...]
    enrichment: Enrichment | None
    history: tuple[tuple[Operation, RowChange], ...]
    recalls: tuple[Recall, ...]
    sessions: dict[str, Session]
    cautions: tuple[Caution, ...] = ()
    decided: tuple[Stamp, ...] = ()
    device: str = ""
    withheld_from: tuple[str, ...] = ()
