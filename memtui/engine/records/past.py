"""The memory at an earlier moment, and its changes between two moments."""

from __future__ import annotations

from typing import Literal

from .base import Record
from .memories import MemoryRecord


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
        found = self.after or self.before
        assert found is not None
        return found


class PastDiff(Record):
    """All changes from ``start`` to ``end``. ``counts``: verb -> number, without turns; ``turns``: the same for turns.

    ``changes``: the latest first, without turns; ``more``: how many others there are. ``reach``: coverage of the first
    moment.
    """

    start: int
    end: int
    counts: dict[str, int]
    turns: dict[str, int]
    changes: tuple[PastChange, ...]
    more: int
    reach: HistoryCoverage
