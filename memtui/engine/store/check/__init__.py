"""Invariants of a memory file, one function each. A function yields a finding for each violation.

A finding is ``repairable`` if it concerns derived data (an index, a count, a mode): repair rebuilds it from
the base rows. Base rows are never repaired; the person decides about their findings.
"""

from __future__ import annotations

from .base_rows import erase, history, jobs, json_and_entity_rows, memories, protection, sessions
from .findings import Check, CheckContext
from .indexes import cached, embeddings, full_text, links, mentions, queue
from .structure import foreign_keys, pages, permissions, schema

__all__ = ["CHECKS", "CheckContext"]

CHECKS: dict[str, Check] = {
    "pages": pages,
    "schema": schema,
    "foreign keys": foreign_keys,
    "full text": full_text,
    "embeddings": embeddings,
    "queue": queue,
    "cached": cached,
    "entities": mentions,
    "links": links,
    "rows": memories,
    "other rows": json_and_entity_rows,
    "sessions": sessions,
    "jobs": jobs,
    "protection": protection,
    "history": history,
    "erase": erase,
    "permissions": permissions,
}
