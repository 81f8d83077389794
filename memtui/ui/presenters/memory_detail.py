"""All that the preview tells about one memory, gathered in one go off the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Enrichment, Entity, MemoryRecord, Operation, Recall, RowChange, Session

_DAY = 86_400
# Facts have no transcript of their own: what was learned within that many days is around them.
_AROUND_DAYS = 3
_AROUND_EACH = 3
_AROUND_READ = 400


@dataclass(frozen=True, slots=True)
class Detail:
    """One memory and what belongs to it; ``versions`` holds the chain of corrections, oldest first.

    ``merged``: what was merged into it; ``merged_into``: what it was merged into.
    ``fades``: when its confidence reaches the threshold (Unix seconds), None when it never does.
    """

    memory: MemoryRecord
    fades: float | None
    threshold: float
    sources: tuple[MemoryRecord, ...]
    derived: tuple[MemoryRecord, ...]
    versions: tuple[MemoryRecord, ...]
    merged: tuple[MemoryRecord, ...]
    merged_into: tuple[MemoryRecord, ...]
    around: tuple[MemoryRecord, ...]
    entities: tuple[Entity, ...]
    enrichment: Enrichment | None
    history: tuple[tuple[Operation, RowChange], ...]
    recalls: tuple[Recall, ...]
    sessions: dict[str, Session]

    @property
    def successor(self) -> MemoryRecord | None:
        """What stands in its place."""
        return _latest(self.memory, self.versions, self.merged_into)


def gather(memory: Memory, identity: str) -> Detail:
    """Read everything about a memory. Blocks. Raises NotFoundError when it is gone for good."""
    from memtui.engine.confidence import fades_at
    from memtui.engine.errors import NotFoundError

    view = memory.view
    one = view.get(identity)
    sources = view.sources(identity)
    if one.kind == "episode":
        around = view.neighbours(identity)
    elif sources and sources[0].kind == "episode":
        around = view.neighbours(sources[0].id)
    else:
        near = view.page(_days_around(one.event_time), sort="time", descending=False, limit=_AROUND_READ)
        here = next((place for place, other in enumerate(near) if other.rid == one.rid), None)
        around = near[max(here - _AROUND_EACH, 0) : here + _AROUND_EACH + 1] if here is not None else []
    sessions = {}
    for session_id in {m.session_id for m in (one, *sources) if m.session_id is not None}:
        try:
            sessions[session_id] = view.session(session_id)
        except NotFoundError:
            continue
    threshold = memory.options.fade_threshold
    return Detail(
        memory=one,
        fades=fades_at(
            one.confidence, one.decay_rate, one.recall_days,
            one.created_at, one.last_accessed, one.confirmed_at, one.happens_at, threshold,
        ),
        threshold=threshold,
        sources=tuple(sources),
        derived=tuple(view.derived(identity)),
        versions=tuple(view.versions(identity)),
        merged=tuple(view.merged(identity)),
        merged_into=tuple(view.merged(identity, into=True)),
        around=tuple(around),
        entities=tuple(view.entities_of(identity)),
        enrichment=view.enrichment_of(identity),
        history=tuple(view.history_of(identity)),
        recalls=tuple(view.recalls_of(identity)),
        sessions=sessions,
    )  # fmt: skip


def successor(memory: Memory, identity: str) -> MemoryRecord | None:
    """What stands in the place of a memory now: its latest text, or what it was merged into. Blocks."""
    view = memory.view
    return _latest(view.get(identity), view.versions(identity), view.merged(identity, into=True))


def _latest(
    one: MemoryRecord, versions: Sequence[MemoryRecord], merged_into: Sequence[MemoryRecord]
) -> MemoryRecord | None:
    if one.ended_by == "merged" and merged_into:
        return merged_into[-1]
    later = versions[-1] if one.ended_by == "superseded" and versions else one
    return None if later.id == one.id else later


def _days_around(moment: int) -> str:
    def day(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")

    near = f"{day(moment - _AROUND_DAYS * _DAY)}..{day(moment + _AROUND_DAYS * _DAY)}"
    return f"kind:fact,reflection,observation {near}"
