"""What the person is shown before something is erased for good, and what was proven afterwards."""

from __future__ import annotations

from typing import NamedTuple

from memtui.engine.memories import validation

_TITLE = 300
COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role, m.event_time"
"""Of a memory ``m``, as ``Row`` has them."""


class MemoryRow(NamedTuple):
    """A memory as it stands in the file, and why it goes."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    why: str
    chosen: bool = False


class FormerMemory(NamedTuple):
    """A memory as it last stood. ``live``: it is back in the file. ``drawn_from``, ``replaced``: ids of others."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    drawn_from: frozenset[str]
    replaced: frozenset[str]
    live: bool
    why: str = ""
    chosen: bool = False


def title_of(text: str) -> str:
    """The beginning of a text as the list of what carries it has it: without its secrets."""
    return validation.without_secrets(text)[:_TITLE]
