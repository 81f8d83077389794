"""What the person keeps beside memories: pinned questions, saved filters, scratchpad notes."""

from __future__ import annotations

from .base import Record


class SavedQuery(Record):
    """A pinned question. ``expected``: ids of the memories that should be among the first ``top`` hits."""

    query_id: int
    name: str
    query: str
    filter: str
    profile: str | None
    created_at: int
    expected: tuple[str, ...] = ()
    top: int = 10


class ExpectedMemory(Record):
    """The ``rank`` of an expected memory from 1, None if it is not found; ``why`` it is not among the first."""

    memory_id: str
    content: str
    rank: int | None
    passed: bool
    why: str = ""


class QuestionResult(Record):
    """The result of a pinned question at ``at`` (Unix seconds)."""

    question: SavedQuery
    at: int
    passed: bool
    places: tuple[ExpectedMemory, ...]


class SavedFilter(Record):
    """A filter under a name."""

    query_id: int
    name: str
    filter: str


class ScratchpadNote(Record):
    """One entry. ``updated_at``: Unix seconds. ``pad_id`` stays the same until the key is deleted."""

    pad_id: int
    key: str
    value: str
    updated_at: int
