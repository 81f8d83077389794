"""What was changed and decided: operations, rows, stamps, earlier states."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ..clock import EARLIEST, LATEST
from .base import Record
from .memories import MemoryRecord

RESTORE_BACKUP = "restore-backup"
"""The kind of the first operation of a restored file. It has no rows: it concerns the whole file."""
SYNC = "sync"
"""The kind of an operation that takes over what came from another device of the same memory."""


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
    which stay; ``conflicts``: rows that would be left alone, as somebody changed them since. ``undo_first``: consolidations
    that drew facts from its turns and from others: once they are undone, the turns can go too.
    """

    agent: str
    since: int
    operations: tuple[Operation, ...]
    turns_left: int = 0
    conflicts: tuple[Conflict, ...] = ()
    undo_first: tuple[Operation, ...] = ()


class AgentUndone(Record):
    """The operation that took them back, what it took back, how many rows; and what was left alone (see AgentChanges)."""

    by: Operation
    operations: tuple[Operation, ...]
    restored: int
    conflicts: tuple[Conflict, ...] = ()
    undo_first: tuple[Operation, ...] = ()


class Changes(Record):
    """Told to subscribers after a commit: which operation touched which tables and memories.

    ``ids`` is cut at 1,000; ``operation`` None means that another process wrote. ``sessions``: the ids of those
    that are over, of ``session_completed`` alone.
    """

    tables: frozenset[str]
    ids: tuple[str, ...] = ()
    operation: Operation | None = None
    sessions: tuple[str, ...] = ()


DeviceId = Annotated[str, Meta(pattern=r"^[\w.-]{1,80}$")]


class Stamp(Record):
    """The latest decision about one ``aspect`` of something: ``state``, ``topic``, ``tag:work`` and so on.

    ``seen``: the number of the last decision of each device that it knew of, its own among them. ``device``: where it
    was made, a name and a number (``device_name``); ``at``: when, in Unix seconds of that device's clock; ``actor``: by whom.
    """

    aspect: Annotated[str, Meta(min_length=1, max_length=1_000)]
    seen: dict[DeviceId, Annotated[int, Meta(ge=1, lt=1 << 53)]]
    device: DeviceId
    at: Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
    actor: Annotated[str, Meta(max_length=200)]


def device_name(device: str) -> str:
    """What people call a device, without the number that tells its memories apart."""
    return device.rpartition("-")[0] or device


class RestoreGap(Record):
    """The time between a backup (``start``) and its restore (``end``), which the restore undid.

    ``backup``: name of the file that has the state before the restore. ``operation``: its line in history; None for
    restores by old versions.
    """

    start: int
    end: int
    backup: str
    operation: int | None = None


class HistoryCoverage(Record):
    """Whether history covers a moment. ``complete``: it does; otherwise the state is estimated from the rows' times.

    ``since``: history is complete from then on (Unix seconds); None: from the beginning. ``gap``: a restore undid the
    moment, so the state shown is the backup's.
    """

    complete: bool
    since: int | None = None
    gap: RestoreGap | None = None


PastVerb = Literal[
    "added", "corrected", "forgotten", "faded", "superseded", "merged", "restored", "removed", "confirmed",
    "unconfirmed", "confidence", "tagged", "changed", "passing",
]  # fmt: skip
"""``removed``: its recording was undone. ``passing``: added and removed again. ``confidence``: only that changed."""


class PastChange(Record):
    """The change of one memory. ``before``: at the first moment, ``after``: at the second; None where it did not exist.

    A correction has the old and the new memory. ``at``, ``op_id``: the operation that added it, else the last that touched it.
    """

    verb: PastVerb
    before: MemoryRecord | None
    after: MemoryRecord | None
    at: int | None = None
    op_id: int | None = None

    @property
    def memory(self) -> MemoryRecord:
        """The latest state of the memory."""
        memory_found = self.after or self.before
        assert memory_found is not None
        return memory_found


class PastDiff(Record):
    """All changes from ``start`` to ``end``. ``counts``: verb -> number, without turns; ``turns``: the same for turns.

    ``changes``: the latest first, without turns; ``more``: how many others there are. ``coverage``: coverage of the first
    moment.
    """

    start: int
    end: int
    counts: dict[str, int]
    turns: dict[str, int]
    changes: tuple[PastChange, ...]
    more: int
    coverage: HistoryCoverage
