"""Rows of memories that an erase reads, and their titles in the plan."""

from __future__ import annotations

from typing import NamedTuple

from memtui.engine.memories import validation

_TITLE = 300
COLUMNS = "m.rid, m.id, m.kind, m.content, m.session_id, m.source_key, m.source_role, m.event_time"
"""Columns of ``MemoryRow``, of a memory ``m``."""


class MemoryRow(NamedTuple):
    """A memory in the file, and the reason why it is erased."""

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
    """The last state of a memory in history. ``live``: it is in the file again. ``drawn_from``, ``replaced``: ids of others."""

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
    """The title of a row in the plan: the beginning of its text, without secrets."""
    return validation.without_secrets(text)[:_TITLE]
