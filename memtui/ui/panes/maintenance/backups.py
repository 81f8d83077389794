"""Actions on backups: make one, compare one with the memory, restore it, or restore single memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.action_dispatch import start
from memtui.ui.actions import Action

from .backup_rows import Known, read_contents
from .backup_text import BackupText
from .jobs import Jobs

if TYPE_CHECKING:
    from memtui.engine.records.backups import Backup, RestorePreview
    from memtui.ui.panes.list_pane import ListPane

    from .rows import Row

# A larger backup is compared only on request, not when the cursor rests on it.
LARGE_BYTES = 50_000_000


class Backups:
    """Actions on the backups of a list. ``unfolded``: each backup has a row. ``refresh`` reads the list again."""

    def __init__(
        self, pane: ListPane[Row], jobs: Jobs, text: Callable[[], BackupText], refresh: Callable[[], None]
    ) -> None:
        self._pane = pane
        self._jobs = jobs
        self._text = text
        self._refresh = refresh
        self.unfolded = False
        self.contents: Known = {}
        # What restoring each would do, until something changes.
        self.compared: dict[str, RestorePreview] = {}

    @property
    def backup(self) -> Backup | None:
        """The backup under the cursor."""
        row = self._pane.table.selected
        return None if row is None else row.backup

    def why_not(self, action: Action) -> str:
        row = self._pane.table.selected
        if action.id == "restore_backup":
            if row is None or row.backup is None:
                return (
                    f"This works on a backup: {self._pane.shell.keymap_shown('open')} on Backups lists them."
                )
            return f"{self._jobs.busy} is running: wait for it." if self._jobs.busy else ""
        return ""

    async def make(self) -> None:
        """Make one now."""
        made = await self._jobs.work(lambda memory, work: memory.backups.make(), "backup")
        self._pane.say(f"Backed up, and verified: {made.path.name}")
        self._refresh()

    async def compare(self, backup: Backup) -> None:
        """Compute what restoring it would do, and show it."""
        await self._compare(backup)
        self._pane.show_selected()

    async def do_restore_backup(self) -> None:
        from memtui.ui.dialogs.restore import restore

        backup = self.backup
        if backup is None:
            return
        message = await restore(self._pane.shell, backup, await self._compare(backup), self._jobs.work)
        if message:
            self._pane.say(message)
        self.compared.clear()
        self._refresh()

    async def _compare(self, backup: Backup) -> RestorePreview:
        """What restoring it would do. The backup is checked first."""
        name = backup.path.name
        if name not in self.compared:
            self.compared[name] = await self._jobs.work(
                lambda memory, work: memory.backups.preview(backup.path), "comparing"
            )
        return self.compared[name]

    # -- the list and the preview

    def toggle_backups(self) -> None:
        self.unfolded = not self.unfolded
        start(self._pane, self._unfold, "unfold")

    async def _unfold(self) -> None:
        await self.read_backups()
        self._pane.show_rows(top=False)

    async def read_backups(self) -> None:
        """Read the contents of each backup once, and only while they are listed."""
        if self.unfolded and self._jobs.state is not None:
            backups, known = self._jobs.state.backups, self.contents
            self.contents = await self._pane.ask(lambda memory: read_contents(memory, backups, known))

    def backup_glance(self, row: Row) -> Content | None:
        """The first preview of a backup, or of all backups. None for another row."""
        text = self._text()
        if row.backup is not None:
            name = row.backup.path.name
            waits = row.backup.size > LARGE_BYTES
            return text.backup(row.backup, self.contents.get(name), self.compared.get(name), waits=waits)
        if row.topic == "backups" and self._jobs.state is not None:
            memory = self._pane.shell.operations.require()
            folder = "" if memory.path is None else str(memory.path.parent / "backups")
            return text.topic(self._jobs.state.backups, folder, unfolded=self.unfolded)
        return None

    async def backup_details(self, backup: Backup) -> Content:
        """The full preview, with what restoring it would do if that is quick to compute."""
        name = backup.path.name
        if name not in self.contents:
            known = self.contents
            self.contents = known | await self._pane.ask(
                lambda memory: read_contents(memory, (backup,), known)
            )
        large, broken = backup.size > LARGE_BYTES, bool(self.contents[name].problem)
        if name not in self.compared and not large and not broken:
            self.compared[name] = await self._pane.ask(lambda memory: memory.backups.preview(backup.path))
        return self._text().backup(backup, self.contents[name], self.compared.get(name), waits=large)
