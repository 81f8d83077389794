"""What the person can do if the memory's file cannot be opened, or was replaced while it was open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError, NewerFileError, ReplacedFileError
from memtui.present.format import local_time, plural
from memtui.present.past import kind_counts, time_ago
from memtui.present.text import one_line

from .action_dispatch import start_worker
from .messages import Notified

if TYPE_CHECKING:
    from memtui.engine.backups.rescue import Rescue
    from memtui.engine.records.backups import Backup, BackupContents

    from .shell import Shell

_CELLS = 200


class FileRecovery:
    """``memory_path``: the memory's file; None if it is in this process only, or read only.

    ``reopened`` is awaited after another file was opened.
    """

    def __init__(
        self, shell: Shell, memory_path: Path | None, reopened: Callable[[], Awaitable[None]]
    ) -> None:
        self._shell = shell
        self._reopened = reopened
        self._place = memory_path
        self._asked: asyncio.Future[bool] | None = None
        # The person did not open a replaced file: ask again only when something must be written.
        self._declined = False

    # -- a file that cannot be opened

    async def offer_backup(self, error: Exception) -> bool | None:
        """Let the person choose a backup, because the memory could not be opened.

        True: it was restored. False: the person left. None: there is no backup. Raises MemtuiError.
        """
        if self._place is None or not isinstance(error, MemtuiError):
            return None
        readable_backups = await asyncio.to_thread(self._readable_backups, self._place)
        if readable_backups is None or self._shell.is_leaving:
            return None
        rescue, backups = readable_backups
        from memtui.present.backup import short_backup_reason

        from .dialogs.choice import Choice, PickDialog

        now = self._shell.clock()
        choices = [
            Choice(
                f"{local_time(one.at, now)}, {time_ago(one.at, now)}: {kind_counts(contents.counts)}",
                short_backup_reason(one.reason),
            )
            for one, contents in backups
        ]
        text = (
            f"{one_line(error.message, _CELLS)}\n\n{plural(len(backups), 'backup')} can be read. The one that you choose is"
            " checked and replaces the memory. The present file is kept under another name."
        )
        chosen = await self._shell.show_dialog(
            PickDialog("! The memory cannot be opened", choices, yes="restore", text=text)
        )
        if chosen is None:
            return False
        done = await asyncio.to_thread(rescue.restore, backups[chosen][0].path)
        aside = f" What was there is in {done.aside[0].name}." if done.aside else ""
        self._shell.app.post_message(Notified(f"{done.operation.label}.{aside}"))
        return True

    @staticmethod
    def _readable_backups(path: Path) -> tuple[Rescue, list[tuple[Backup, BackupContents]]] | None:
        """The readable backups of a damaged file. None if there are none, or if the file is sound."""
        from memtui.engine.memory import Memory

        rescue = Memory.rescue(path)
        problem = rescue.find_problem() if rescue.has_backups else None
        if problem is None or isinstance(problem, NewerFileError):
            return None
        backups = rescue.backups()
        return (rescue, backups) if backups else None

    # -- a file that was replaced

    def report_replaced(self, error: ReplacedFileError) -> None:
        """The file was replaced, and nothing waits to be saved: ask once."""
        if not self._declined and self._asked is None:
            start_worker(self._shell.app, lambda: self._ask_to_reopen(error), "replaced", exclusive=False)

    async def _ask_to_reopen(self, error: ReplacedFileError) -> None:
        await self.offer_reopen(error)

    async def offer_reopen(self, error: ReplacedFileError) -> bool:
        """Ask whether to open the new file. Returns whether it is open. The caller handles waiting changes."""
        if self._asked is None:
            from .dialogs.choice import Question

            self._asked = asyncio.get_running_loop().create_future()
            text = f"{error.message} Changes that wait are kept until you answer."
            self._shell.app.push_screen(
                Question("! The file was replaced", text, yes="open the new file"), self._reopen_answered
            )
        return await asyncio.shield(self._asked)

    def _reopen_answered(self, yes: bool | None) -> None:
        start_worker(
            self._shell.app, self._reopen_file if yes else self._leave_app, "reopening", exclusive=False
        )

    async def _leave_app(self) -> None:
        self._declined = True
        self._shell.show_message(
            "The file was replaced while it was open: nothing can be written.", "warning"
        )
        self._finish_recovery(opened=False)

    async def _reopen_file(self) -> None:
        try:
            await self._shell.operations.go_on_with_current_file()
        except Exception:  # in every case, a waiting change gets its answer
            self._finish_recovery(opened=False)
            self._declined = True
            raise
        self._declined = False
        self._finish_recovery(opened=True)
        await self._reopened()

    def _finish_recovery(self, *, opened: bool) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_result(opened)
