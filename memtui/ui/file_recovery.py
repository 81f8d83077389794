"""When the memory's file cannot be opened, or was replaced while it was open: what the person may do then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError, NewerFileError, ReplacedFileError
from memtui.present.format import local_time, plural
from memtui.present.past import ago, kind_counts
from memtui.present.text import one_line

from .action_dispatch import start
from .messages import Notified

if TYPE_CHECKING:
    from memtui.engine.backups.rescue import Rescue
    from memtui.engine.records.backups import Backup, BackupContents

    from .shell import Shell

_CELLS = 200


class FileRecovery:
    """``place``: where the memory's file is; None for one that lives in this process, or may not be written.

    ``reopened`` is awaited when another file is open.
    """

    def __init__(self, shell: Shell, place: Path | None, reopened: Callable[[], Awaitable[None]]) -> None:
        self._shell = shell
        self._reopened = reopened
        self._place = place
        self._asked: asyncio.Future[bool] | None = None
        # The person left a replaced file alone: they are asked again only when something is to be written.
        self._declined = False

    # -- a file that cannot be opened

    async def offer_backup(self, error: Exception) -> bool | None:
        """Let the person choose a backup in place of a memory that could not be opened.

        True: it was restored. False: the person left. None: there is none to choose. Raises MemtuiError.
        """
        if self._place is None or not isinstance(error, MemtuiError):
            return None
        found = await asyncio.to_thread(self._way_back, self._place)
        if found is None or self._shell.is_leaving:
            return None
        rescue, backups = found
        from memtui.present.backup import why_briefly

        from .dialogs.choice import Choice, PickDialog

        now = self._shell.clock()
        choices = [
            Choice(
                f"{local_time(one.at, now)}, {ago(one.at, now)}: {kind_counts(held.counts)}",
                why_briefly(one.reason),
            )
            for one, held in backups
        ]
        text = (
            f"{one_line(error.message, _CELLS)}\n\n{plural(len(backups), 'backup')} can be read. One that you choose is"
            " checked and takes the memory's place; what is there now is set aside as it is."
        )
        chosen = await self._shell.ask_person(
            PickDialog("! The memory cannot be opened", choices, yes="restore", text=text)
        )
        if chosen is None:
            return False
        done = await asyncio.to_thread(rescue.restore, backups[chosen][0].path)
        aside = f" What was there is in {done.aside[0].name}." if done.aside else ""
        self._shell.app.post_message(Notified(f"{done.operation.label}.{aside}"))
        return True

    @staticmethod
    def _way_back(place: Path) -> tuple[Rescue, list[tuple[Backup, BackupContents]]] | None:
        """The readable backups of a file that cannot be used; None where there are none, or the file is sound."""
        from memtui.engine.memory import Memory

        rescue = Memory.rescue(place)
        problem = rescue.problem() if rescue.has_backups else None
        if problem is None or isinstance(problem, NewerFileError):
            return None
        backups = rescue.backups()
        return (rescue, backups) if backups else None

    # -- a file that was replaced

    def report(self, error: ReplacedFileError) -> None:
        """The file was replaced, and nothing waits to be written: ask once."""
        if not self._declined and self._asked is None:
            start(self._shell.app, lambda: self._ask(error), "replaced", exclusive=False)

    async def _ask(self, error: ReplacedFileError) -> None:
        await self.offer_reopen(error)

    async def offer_reopen(self, error: ReplacedFileError) -> bool:
        """Ask whether to go on with the file that is there now; whether it is open. What waits is the caller's."""
        if self._asked is None:
            from .dialogs.confirmation import Question

            self._asked = asyncio.get_running_loop().create_future()
            text = f"{error.message} What waits to be written is kept until you answer."
            self._shell.app.push_screen(
                Question("! The file was replaced", text, yes="open what is there now"), self._answered
            )
        return await asyncio.shield(self._asked)

    def _answered(self, yes: bool | None) -> None:
        start(self._shell.app, self._reopen if yes else self._leave, "reopening", exclusive=False)

    async def _leave(self) -> None:
        self._declined = True
        self._shell.say("The file was replaced while it was open: nothing can be written.", "warning")
        self._settle(opened=False)

    async def _reopen(self) -> None:
        try:
            await self._shell.operations.go_on_with_current_file()
        except Exception:  # whatever it is: who waits to write is answered
            self._settle(opened=False)
            self._declined = True
            raise
        self._declined = False
        self._settle(opened=True)
        await self._reopened()

    def _settle(self, *, opened: bool) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_result(opened)
