"""Invariants of a memory file, one function each. A function yields a finding for each violation.

A finding is ``repairable`` if it concerns derived data (an index, a count, a mode): repair rebuilds it from
the base rows. Base rows are never repaired; the person decides about their findings.
"""

from __future__ import annotations

from .base_rows import (
    check_history,
    check_jobs,
    check_memories,
    check_protection,
    check_sessions,
    erase,
    json_and_entity_rows,
)
from .findings import Check, CheckContext
from .indexes import check_caches, check_embeddings, check_links, check_mentions, check_queue, full_text
from .structure import check_pages, check_permissions, check_schema, foreign_keys

__all__ = ["CHECKS", "CheckContext"]

CHECKS: dict[str, Check] = {
    "pages": check_pages,
    "schema": check_schema,
    "foreign keys": foreign_keys,
    "full text": full_text,
    "embeddings": check_embeddings,
    "queue": check_queue,
    "cached": check_caches,
    "entities": check_mentions,
    "links": check_links,
    "rows": check_memories,
    "other rows": json_and_entity_rows,
    "sessions": check_sessions,
    "jobs": check_jobs,
    "protection": check_protection,
    "history": check_history,
    "erase": erase,
    "permissions": check_permissions,
}
