"""Which tables and columns history covers: what the person, or anyone, can decide and take back.

Not covered: access counts, automatic links, mention counts, vectors, the recall log, queues.
"""

from __future__ import annotations

from typing import NamedTuple


class Covered(NamedTuple):
    """``columns`` make a change worth recording; ``uncovered`` ride along in the image of a deleted row.

    ``derivable``: programs add rows by themselves (``current_op`` 0), which is not history.
    """

    key: str
    columns: tuple[str, ...]
    uncovered: tuple[str, ...] = ()
    derivable: bool = False

    @property
    def all_columns(self) -> tuple[str, ...]:
        return (self.key, *self.columns, *self.uncovered)


COVERED: dict[str, Covered] = {
    "memories": Covered(
        "rid",
        (
            "id", "kind", "category", "content", "content_hash", "session_id", "source_role", "source",
            "source_key", "project", "trust", "event_time", "created_at", "valid_until", "ended_by",
            "confidence", "decay_rate", "confirmed_at", "reviewed_at", "source_ids", "tags", "attributes",
        ),
        ("access_count", "last_accessed", "recall_days"),
    ),
    "sessions_consolidations": Covered(
        "sid",
        (
            "session_id", "consolidated_at", "consolidated_through", "attempts", "next_attempt_at",
            "last_error", "title", "summary", "source", "project",
        ),
        ("first_seen_at", "last_seen_at"),
    ),
    "entities": Covered(
        "eid",
        (
            "id", "canonical_name", "type", "summary", "protected", "hidden", "pinned", "merged_into", "created_at",
        ),
        derivable=True,
    ),
    "entity_aliases": Covered("alias_id", ("key", "entity_id", "alias"), derivable=True),
    "entity_decisions": Covered("decision_id", ("decision", "entity_id", "other_id", "rid", "key", "at", "actor")),
    "scratchpad": Covered("pad_id", ("key", "value", "updated_at")),
    "proposals": Covered(
        "proposal_id", ("id", "kind", "payload", "state", "snoozed_until", "created_at", "decided_at")
    ),
    "saved_queries": Covered(
        "query_id", ("name", "query", "filter", "profile", "created_at", "expected", "top")
    ),
    "profiles": Covered("profile_id", ("name", "settings")),
}  # fmt: skip
