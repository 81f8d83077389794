"""Restoring a backup after a look at what it would do; and the way back from a restore, which is such a one."""

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
    """Runs long work in a thread of its own."""

    async def __call__(self, call: Callable[[Memory, Work], T], name: str) -> T: ...


async def go_back(shell: Shell, operation: Operation) -> str:
    """To what was there before a restore, after a look; returns what is to be said besides what is done."""
    work, op_id = shell.operations.work, operation.op_id
    backup = await shell.operations.ask(lambda memory: memory.backups.before(op_id))
    if backup is None:
        return "What was there before this restore is not kept any more."
    preview = await work(lambda memory, _: memory.backups.preview(backup.path), "comparing")
    return await restore(shell, backup, preview, work)


async def restore(shell: Shell, backup: Backup, preview: RestorePreview, work: Working) -> str:
    """Ask what is to be done with a backup, and do it; returns what is to be said besides what is done."""
    from .restore import RestoreDialog

    chosen = await shell.ask_person(RestoreDialog(preview))
    if chosen is None:
        return "Nothing was restored."
    if chosen.ids is None:
        await work(lambda memory, _: memory.backups.restore(backup.path), "restore")
        return ""
    ids = chosen.ids or None
    taken = await work(lambda memory, _: memory.backups.take(backup.path, ids), "taking")
    return "All of it is there already." if taken is None else ""
