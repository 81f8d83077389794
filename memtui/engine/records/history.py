"""Operations: their changes, and the results of undoing them."""

from __future__ import annotations

from typing import Any, Literal

from .base import Record

RESTORE_BACKUP = "restore-backup"
"""The kind of the first operation of a restored file. It has no rows: it concerns the whole file."""


class Operation(Record):
    """One named change of the memory. ``rows`` counts the rows it changed."""

    op_id: int
    at: int
    actor: str
    kind: str
    label: str
    state: Literal["running", "done", "undone"]
    rows: int
    run_id: str | None = None
    undoes: int | None = None
    undone_by: int | None = None

    @property
    def interrupted(self) -> bool:
        """Whether it is an undo that stopped half-way: undo finishes it, redo takes it back (of a redo, the reverse)."""
        return self.state == "running" and self.undoes is not None and self.label.endswith("(interrupted)")


class RowChange(Record):
    """What one operation did to one row: the columns that changed, before and after.

    ``before`` is None for an inserted row, ``after`` is None for a deleted one.
    ``memory_id`` is set where the row is a memory.
    """

    table: str
    key: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    memory_id: str | None = None


class Conflict(Record):
    """A row that undo left alone, because somebody changed it (or came to depend on it) since."""

    table: str
    key: int
    reason: str
    memory_id: str | None = None
    wanted: dict[str, Any] | None = None
    current: dict[str, Any] | None = None


class Undone(Record):
    """The outcome of undo or redo: the operation taken back, the new one, and what was left alone."""

    operation: Operation
    by: Operation
    restored: int
    conflicts: tuple[Conflict, ...] = ()


class AgentChanges(Record):
    """What an agent did since a time and can be taken back, the latest first. ``turns_left``: turns of talks that it recorded,
    which stay; ``conflicts``: rows that would be left alone, as somebody changed them since.
    """

    agent: str
    since: int
    operations: tuple[Operation, ...]
    turns_left: int = 0
    conflicts: tuple[Conflict, ...] = ()


class AgentUndone(Record):
    """The operation that took them back, what it took back, how many rows; and what was left alone."""

    by: Operation
    operations: tuple[Operation, ...]
    restored: int
    conflicts: tuple[Conflict, ...] = ()


class Changes(Record):
    """Told to subscribers after a commit: which operation touched which tables and memories.

    ``ids`` is cut at 1,000; ``operation`` None means that another process wrote. ``sessions``: the ids of those
    that are over, of ``session_completed`` alone.
    """

    tables: frozenset[str]
    ids: tuple[str, ...] = ()
    operation: Operation | None = None
    sessions: tuple[str, ...] = ()
