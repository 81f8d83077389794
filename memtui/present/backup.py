"""Backups in words: when, why, how large, what they hold, and what restoring one would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .format import count, file_size, plural
from .lines import Role
from .past import ago, kind_counts

if TYPE_CHECKING:
    from memtui.engine.records.backups import Backup, BackupContents, RestoreChange, RestorePreview

_WHY = {
    "scheduled": "by itself", "manual": "asked for", "maintenance": "before a nightly run", "import": "before an import",
    "migration": "before an upgrade", "model": "before another model", "repair": "before a repair",
    "restore": "before a restore", "erase": "before erasing",
}  # fmt: skip
_BRIEFLY = {"scheduled": "by itself", "manual": "asked for", "maintenance": "nightly", "migration": "upgrade"}
# What is counted of each kind of row: there now, there then, and what a restore would do.
NUMBERS = ("now", "then", "back", "changed", "lost")
SAME = "It holds what is there now."


class RestorePart(NamedTuple):
    """What a restore would do to ``number`` memories, of which ``changes`` are the first."""

    title: str
    role: Role
    changes: tuple[RestoreChange, ...]
    number: int


def why(reason: str) -> str:
    """What it was made for."""
    return _WHY.get(reason, reason)


def why_briefly(reason: str) -> str:
    """The same in nine cells."""
    return _BRIEFLY.get(reason, reason)


def backups_summary(backups: Sequence[Backup], now: float) -> str:
    """All of them: how many, when the latest was made, how large they are."""
    if not backups:
        return "no backups yet"
    size = file_size(sum(one.size for one in backups))
    return f"{plural(len(backups), 'backup')}, the latest {ago(backups[0].at, now)}, {size}"


def contents_summary(contents: BackupContents) -> str:
    """``214 facts, 12 in Trash``, or why it cannot be used."""
    return f"unusable: {contents.problem}" if contents.problem else kind_counts(contents.counts)


def list_total(backups: Sequence[Backup], now: float) -> str:
    """What a list says of all of them: ``1.2 MB in 14, 20 min ago``."""
    if not backups:
        return "none yet"
    size = sum(one.size for one in backups)
    return f"{file_size(size)} in {count(len(backups))}, {ago(backups[0].at, now)}"


def list_entry(backup: Backup, contents: BackupContents | None) -> str:
    """What a list says of one: what it holds, where that was read, and how large it is."""
    size = file_size(backup.size)
    if contents is None:
        return size
    return contents_summary(contents) if contents.problem else f"{contents_summary(contents)}, {size}"


def restore_parts(preview: RestorePreview) -> list[RestorePart]:
    """What would come back, be as it was, and be lost."""
    from memtui.engine.records.backups import KIND_LABELS

    memories = [one for one in preview.counts if one.what in KIND_LABELS.values()]
    return [
        RestorePart("would come back", "added", preview.back, sum(one.back for one in memories)),
        RestorePart("would be as it was", "warning", preview.changed, sum(one.changed for one in memories)),
        RestorePart("would be lost", "removed", preview.lost, sum(one.lost for one in memories)),
    ]


def history_loss_note(preview: RestorePreview) -> str:
    """How many operations a restore would drop; empty when none."""
    number = preview.operations
    return f"{plural(number, 'operation')} since would no longer be in History" if number else ""


def erased_return_note(preview: RestorePreview) -> str:
    """That what was erased for good would be there again; empty when a restore brings none of it."""
    number = preview.erased
    return f"{plural(number, 'memory')} that you erased for good would be back" if number else ""
