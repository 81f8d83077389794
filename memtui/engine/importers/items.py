"""What a feed of another memory gives beside turns: notes, scratchpad entries, names, and how far a talk was read.

A turn is what somebody said; a memory of another program also knows facts, what they were drawn from, what ended
and why. All of it is named by keys of the source, and leads only to what came before it.
"""

from __future__ import annotations

from collections.abc import Mapping

from memtui.engine.records import Category, EndedBy, EntityType, Kind, Record, Topic, Trust


class Named(Record):
    """Somebody or something by name. Names that are known already stay what they are."""

    name: str
    type: EntityType = "other"
    aliases: tuple[str, ...] = ()
    summary: str | None = None


class Note(Record):
    """A memory of any kind with all that its source knew of it.

    ``lasting``: it was protected from decay there. ``own``: the person keeps it by hand. ``happens_at``: see
    ``MemoryRecord``. ``ended_at``, ``ended_by``: it comes into the Trash. Times are Unix
    seconds. ``drawn_from`` and ``supersedes`` are source keys, or such ids. ``about``: what it is linked to. An episode has a
    ``session_id``, namespaced by the feed, and a ``role``. ``id``: the memory's own, of something that came from memtui.
    """

    kind: Kind
    content: str
    source_key: str
    source: str
    trust: Trust
    category: Category | None = None
    event_time: float | None = None
    confidence: float = 1.0
    decay_rate: float | None = None
    lasting: bool = False
    own: bool = False
    topic: Topic | None = None
    happens_at: int | None = None
    ended_at: float | None = None
    ended_by: EndedBy = "forgotten"
    drawn_from: tuple[str, ...] = ()
    supersedes: str | None = None
    session_id: str | None = None
    role: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str | int | float] = {}
    about: tuple[Named, ...] = ()
    project: str | None = None
    id: str | None = None


class PadEntry(Record):
    """A key and its text. A key that is in use keeps its value."""

    key: str
    value: str
    source: str


class ConsolidatedSession(Record):
    """A session that was consolidated at its source, ``at`` Unix seconds; it comes after its turns."""

    session_id: str
    at: float


class SessionTitle(Record):
    """The title of the session that holds the turn with this source key, which may be in another file."""

    source_key: str
    title: str


Stored = Note | PadEntry | Named | ConsolidatedSession
Item = Stored | SessionTitle
