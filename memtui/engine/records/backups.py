"""Backups of a memory: what is in one, and what a restore changes."""

from __future__ import annotations

from pathlib import Path

from .base import Record
from .history import Operation
from .memories import KINDS, Kind


class Backup(Record):
    """A backup file beside the memory: made at ``at`` (Unix seconds), ``size`` in bytes."""

    path: Path
    at: int
    reason: str
    size: int


class BackupContents(Record):
    """Counts of a backup: active memories by kind, and ``trash``. ``problem``: why it cannot be read, else "".

    ``stamp``: the file's modification time (ns). An erase rewrites backups under the same names, so counts are kept by it.
    """

    counts: dict[str, int] = {}
    problem: str = ""
    stamp: int = 0


class RescueResult(Record):
    """The backup ``restored`` replaced an unusable memory. ``aside``: the old files under their new names, if there were any.

    ``kept_erased``: the list of erased memories was carried over from the old file.
    """

    restored: Path
    aside: tuple[Path, ...]
    operation: Operation
    kept_erased: bool


KIND_LABELS = {kind: "turns" if kind == "episode" else f"{kind}s" for kind in KINDS}
"""Memory kind -> its name in ``RestoreCount.what``."""


class RestoreCount(Record):
    """Counts of one kind of row, ``now`` and in the backup (``then``), and how a restore changes them.

    ``back``: rows that return; ``changed``: rows with other values; ``lost``: rows that go. Only active memories count.
    """

    what: str
    now: int
    then: int
    back: int = 0
    changed: int = 0
    lost: int = 0


class RestoreChange(Record):
    """One memory that a restore changes: its text ``now`` and in the backup (``then``); None where it is not active.

    ``id``: its id in the backup if it is active there, else its id now.
    """

    id: str
    kind: Kind
    now: str | None
    then: str | None


class RestorePreview(Record):
    """A backup compared with the file. ``path``, ``at`` (Unix seconds), ``reason``, ``size`` (bytes) are the backup's.

    ``back``, ``changed``, ``lost``: the latest of each, notes before turns, at most 200; ``counts`` counts all.
    ``operations``: how many operations a restore removes from history. ``erased``: how many of ``back`` were erased
    here; an old copy from elsewhere may still hold them.
    """

    path: str
    at: int
    reason: str
    size: int
    counts: tuple[RestoreCount, ...]
    back: tuple[RestoreChange, ...]
    changed: tuple[RestoreChange, ...]
    lost: tuple[RestoreChange, ...]
    operations: int
    erased: int = 0

    @property
    def changes_nothing(self) -> bool:
        """Whether a restore changes nothing that a person can see."""
        return not any(one.back or one.changed or one.lost for one in self.counts)
