"""The columns of the file's tables, in one place: what is inserted, kept in history, exported, erased and checked.

A new column of a memory is a line of ``MEMORY`` here, one in ``schema.sql``, a migration, and a field of
``MemoryRecord``. Every other list of columns is made from these (a test compares them with the schema).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import NODEFAULT, Meta, Raw

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.records import Category, EndedBy, Kind, Topic, Trust

# What a line of an export may hold.
Time = Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Rate = Annotated[float, Meta(ge=0.0)]
Id = Annotated[str, Meta(min_length=1, max_length=500)]
LIST, OBJECT = Raw(b"[]"), Raw(b"{}")


class MemoryColumn(NamedTuple):
    """A column of ``memories``.

    ``type`` and ``default``: as a line of an export has it. ``default`` is what an insert writes too; without one a
    value is required.
    """

    name: str
    stored: Literal["INTEGER", "REAL", "TEXT"]
    type: Any
    default: Any = NODEFAULT
    inserted: bool = True
    """Whether a writer states it with a new row; else it is set later."""
    history: bool = True
    """Whether a change of it is recorded, and can be undone; it belongs to the content hash of the memory."""
    exported: bool = True
    """Whether it means something in another file."""
    words: bool = False
    """Whether a person's words can be in it: they are looked for when a text is erased."""

    @property
    def json(self) -> Literal["array", "object"] | None:
        """What it holds as JSON, if it does."""
        if self.type is not Raw:
            return None
        return "array" if self.default is LIST else "object"

    @property
    def default_value(self) -> Any:
        """The default as it is stored."""
        return bytes(self.default).decode() if self.type is Raw else self.default

    @property
    def is_time(self) -> bool:
        return self.type in (Time, Time | None)


MEMORY: tuple[MemoryColumn, ...] = (
    MemoryColumn("rid", "INTEGER", Count, inserted=False, history=False, exported=False),
    MemoryColumn("id", "TEXT", Id),
    MemoryColumn("kind", "TEXT", Kind),
    MemoryColumn("category", "TEXT", Category | None, None),
    MemoryColumn("content", "TEXT", str, words=True),
    MemoryColumn("content_hash", "TEXT", str, exported=False),
    MemoryColumn("session_id", "TEXT", Id | None, None, words=True),
    MemoryColumn("source_role", "TEXT", str | None, None, words=True),
    MemoryColumn("source", "TEXT", str | None, None, words=True),
    MemoryColumn("source_key", "TEXT", Id | None, None, words=True),
    MemoryColumn("project", "TEXT", str | None, None, words=True),
    MemoryColumn("trust", "TEXT", Trust),
    MemoryColumn("event_time", "INTEGER", Time),
    MemoryColumn("created_at", "INTEGER", Time),
    MemoryColumn("valid_until", "INTEGER", Time | None, None, inserted=False),
    MemoryColumn("ended_by", "TEXT", EndedBy | None, None, inserted=False),
    MemoryColumn("confidence", "REAL", Share, 1.0),
    MemoryColumn("decay_rate", "REAL", Rate, 0.0),
    MemoryColumn("confirmed_at", "INTEGER", Time | None, None),
    MemoryColumn("reviewed_at", "INTEGER", Time | None, None, inserted=False),
    MemoryColumn("access_count", "INTEGER", Count, 0, inserted=False, history=False),
    MemoryColumn("last_accessed", "INTEGER", Time | None, None, inserted=False, history=False),
    MemoryColumn("recall_days", "INTEGER", Count, 0, inserted=False, history=False),
    MemoryColumn("source_ids", "TEXT", Raw, LIST),
    MemoryColumn("tags", "TEXT", Raw, LIST, words=True),
    MemoryColumn("attributes", "TEXT", Raw, OBJECT, words=True),
    MemoryColumn("topic", "TEXT", Topic | None, None),
    MemoryColumn("happens_at", "INTEGER", Time | None, None),
)
KEY = MEMORY[0].name

MEMORY_COLUMNS_EXPLAINED = (
    "kind episode (a turn of a conversation), fact, reflection or observation (with a category); event_time "
    "when it happened, created_at when it was stored; valid_until and ended_by: in the Trash since, and why; "
    "source_ids: the memories it was drawn from; attributes.supersedes: the ones it replaces; source_key: its identity "
    "at the place it was imported from; confidence when stored, and decay_rate by which it fades; confirmed_at: "
    "protected; access_count, last_accessed, recall_days: recalls by agents; topic of a fact; happens_at: noon of the day "
    "that it names"
)
"""The columns in words, as an export explains them."""


class HistoryTable(NamedTuple):
    """A table that history covers: what the person, or anyone, can decide and take back.

    ``columns`` make a change worth recording; ``uncovered`` ride along in the image of a deleted row.
    ``derivable``: programs add rows by themselves (``current_op`` 0), which is not history.
    """

    key: str
    columns: tuple[str, ...]
    uncovered: tuple[str, ...] = ()
    derivable: bool = False
    only: str = ""
    """SQL: when a change is history, if it is not always."""

    @property
    def all_columns(self) -> tuple[str, ...]:
        return (self.key, *self.columns, *self.uncovered)


TAKING_OVER = "(SELECT stamping FROM current_op) IS 0"
"""SQL: whether the running operation takes over what another device decided, with its stamps."""

# Not covered: automatic links, mention counts, vectors, the recall log, queues.
COVERED: dict[str, HistoryTable] = {
    "memories": HistoryTable(
        KEY,
        tuple(column.name for column in MEMORY if column.history),
        tuple(column.name for column in MEMORY if not column.history and column.name != KEY),
        derivable=True,
    ),
    "sessions_consolidations": HistoryTable(
        "sid",
        (
            "session_id", "consolidated_at", "consolidated_through", "attempts", "next_attempt_at",
            "last_error", "title", "summary", "source", "project", "begun_by",
            "read_by",
        ),
        ("first_seen_at", "last_seen_at"),
    ),
    "entities": HistoryTable(
        "eid",
        (
            "id", "canonical_name", "type", "summary", "protected", "hidden", "pinned", "merged_into", "created_at",
        ),
        derivable=True,
    ),
    "entity_aliases": HistoryTable("alias_id", ("key", "entity_id", "alias"), derivable=True),
    "entity_decisions": HistoryTable("decision_id", ("decision", "entity_id", "other_id", "rid", "key", "at", "actor")),
    "scratchpad": HistoryTable("pad_id", ("key", "value", "updated_at")),
    "proposals": HistoryTable(
        "proposal_id", ("id", "kind", "payload", "state", "snoozed_until", "created_at", "decided_at")
    ),
    "saved_queries": HistoryTable(
        "query_id", ("name", "query", "filter", "profile", "created_at", "expected", "top")
    ),
    "profiles": HistoryTable("profile_id", ("name", "settings")),
    "decided": HistoryTable(
        "decided_id", ("thing", "aspect", "seen", "device", "at", "actor"), only=TAKING_OVER
    ),
}  # fmt: skip
