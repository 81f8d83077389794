"""Backups as text: their date, reason, size and contents, and what restoring one would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .format import file_size, format_count, plural
from .past import kind_counts, time_ago
from .text import Role

if TYPE_CHECKING:
    from memtui.engine.records.backups import Backup, BackupContents, RestoreChange, RestorePreview

_WHY = {
    "scheduled": "by itself", "manual": "asked for", "maintenance": "before a nightly run", "import": "before an import",
    "migration": "before an upgrade", "model": "before another model", "repair": "before a repair",
    "restore": "before a restore", "erase": "before erasing",
}  # fmt: skip
_BRIEFLY = {"scheduled": "by itself", "manual": "asked for", "maintenance": "nightly", "migration": "upgrade"}
# Counts for each kind of row: now, in the backup, and what a restore would do.
NUMBERS = ("now", "then", "back", "changed", "lost")
SAME = "It holds the same as the memory now."


class RestorePart(NamedTuple):
    """What a restore would do to ``number`` memories. ``changes`` are the first of them."""

    title: str
    role: Role
    changes: tuple[RestoreChange, ...]
    number: int


def backup_reason(reason: str) -> str:
    """The reason why a backup was made."""
    return _WHY.get(reason, reason)


def short_backup_reason(reason: str) -> str:
    """The same reason in at most nine cells."""
    return _BRIEFLY.get(reason, reason)


def backups_summary(backups: Sequence[Backup], now: float) -> str:
    """How many backups there are, when the latest was made, and their size."""
    if not backups:
        return "no backups yet"
    size = file_size(sum(one.size for one in backups))
    return f"{plural(len(backups), 'backup')}, the latest {time_ago(backups[0].at, now)}, {size}"


def contents_summary(contents: BackupContents) -> str:
    """``214 facts, 12 in Trash``, or why the backup cannot be used."""
    return f"unusable: {contents.problem}" if contents.problem else kind_counts(contents.counts)


def list_total(backups: Sequence[Backup], now: float) -> str:
    """All backups in one line of a list: ``1.2 MB in 14, 20 min ago``."""
    if not backups:
        return "none yet"
    size = sum(one.size for one in backups)
    return f"{file_size(size)} in {format_count(len(backups))}, {time_ago(backups[0].at, now)}"


def list_entry(backup: Backup, contents: BackupContents | None) -> str:
    """One backup in a list: its contents, if they were read, and its size."""
    size = file_size(backup.size)
    if contents is None:
        return size
    return contents_summary(contents) if contents.problem else f"{contents_summary(contents)}, {size}"


def restore_parts(preview: RestorePreview) -> list[RestorePart]:
    """The memories that a restore would bring back, change and remove."""
    from memtui.engine.records.backups import KIND_LABELS

    memories = [one for one in preview.counts if one.what in KIND_LABELS.values()]
    return [
        RestorePart("would come back", "added", preview.back, sum(one.back for one in memories)),
        RestorePart("would be as it was", "warning", preview.changed, sum(one.changed for one in memories)),
        RestorePart("would be lost", "removed", preview.lost, sum(one.lost for one in memories)),
    ]


def history_loss_note(preview: RestorePreview) -> str:
    """How many operations a restore would drop. Empty if none."""
    number = preview.operations
    return f"{plural(number, 'operation')} since would no longer be in History" if number else ""


def erased_return_note(preview: RestorePreview) -> str:
    """How many erased memories a restore would bring back. Empty if none."""
    number = preview.erased
    return f"{plural(number, 'memory')} that you erased for good would be back" if number else ""
