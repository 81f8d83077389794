"""Restore a backup after a preview. Undoing a restore is a restore of the backup made before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Operation
    from memtui.engine.records.backups import Backup, RestorePreview
    from memtui.ui.progress import Work
    from memtui.ui.shell import Shell

    T = TypeVar("T")


class Working(Protocol):
    """Runs long work in its own thread."""

    async def __call__(self, call: Callable[[Memory, Work], T], name: str) -> T: ...


async def go_back(shell: Shell, operation: Operation) -> str:
    """Go back to the state before a restore, after a preview. Returns a message, or empty."""
    work, op_id = shell.operations.work, operation.op_id
    backup = await shell.operations.ask(lambda memory: memory.backups.before(op_id))
    if backup is None:
        return "The backup from before this restore no longer exists."
    preview = await work(lambda memory, _: memory.backups.preview(backup.path), "comparing")
    return await restore(shell, backup, preview, work)


async def restore(shell: Shell, backup: Backup, preview: RestorePreview, work: Working) -> str:
    """Ask what to restore from a backup, and do it. Returns a message, or empty."""
    from .restore import RestoreDialog

    chosen = await shell.ask_person(RestoreDialog(preview))
    if chosen is None:
        return "Nothing was restored."
    if chosen.ids is None:
        await work(lambda memory, _: memory.backups.restore(backup.path), "restore")
        return ""
    ids = chosen.ids or None
    taken = await work(lambda memory, _: memory.backups.take(backup.path, ids), "taking")
    return "The memory has all of it already." if taken is None else ""
