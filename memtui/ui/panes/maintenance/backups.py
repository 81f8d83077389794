"""What a person does with backups: make one, compare one with what is there now, restore it, take memories out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.ui.actions import Action
from memtui.ui.perform import start
from memtui.ui.presenters.backup_rows import Known, read_held
from memtui.ui.presenters.backup_text import BackupText
from memtui.ui.presenters.labels import Labelled

from .jobs import JobVerbs

if TYPE_CHECKING:
    from typing import TypeVar

    from memtui.engine.maintain.restore.preview import RestorePreview
    from memtui.engine.store.backup import Backup

    from .rows import Row

    Text = TypeVar("Text", bound=Labelled)

# A larger one is compared when it is asked for, and not whenever the cursor rests on it.
LARGE_BYTES = 50_000_000


class BackupVerbs(JobVerbs):
    """A list with backups in it. ``unfolded``: each of them has a row."""

    unfolded = False

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.held: Known = {}
        # What restoring each would do, as long as nothing changes.
        self.compared: dict[str, RestorePreview] = {}

    def text_of(self, kind: type[Text]) -> Text:
        raise NotImplementedError

    @property
    def backup(self) -> Backup | None:
        """The backup under the cursor."""
        row = self.table.selected
        return None if row is None else row.backup

    def why_not(self, action: Action) -> str:
        row = self.table.selected
        if action.id == "restore_backup":
            if row is None or row.backup is None:
                return f"This works on a backup: {self.shell.keymap_shown('open')} on Backups lists them."
            return f"{self.busy} is running: wait for it." if self.busy else ""
        if row is not None and not self.busy and (
            (action.id == "run" and (row.backup is not None or row.topic == "backups"))
            or (action.id == "dry_run" and row.backup is not None)
        ):  # fmt: skip
            return ""
        return super().why_not(action)

    async def do_run(self) -> None:
        row = self.table.selected
        if row is None or (row.backup is None and row.topic != "backups"):
            await super().do_run()
            return
        made = await self._work(lambda memory, work: memory.backups.make(), "backup")
        self.say(f"Backed up, and verified: {made.path.name}")
        self.refresh_state()

    async def do_dry_run(self) -> None:
        backup = self.backup
        if backup is None:
            await super().do_dry_run()
            return
        await self._compare(backup)
        self._highlighted()

    async def do_restore_backup(self) -> None:
        from memtui.ui.dialogs.restore_flow import restore

        backup = self.backup
        if backup is None:
            return
        told = await restore(self.shell, backup, await self._compare(backup), self._work)
        if told:
            self.say(told)
        self.compared.clear()
        self.refresh_state()

    async def _compare(self, backup: Backup) -> RestorePreview:
        """What restoring it would do; it is checked first."""
        name = backup.path.name
        if name not in self.compared:
            self.compared[name] = await self._work(
                lambda memory, work: memory.backups.preview(backup.path), "comparing"
            )
        return self.compared[name]

    # -- the list and the preview

    def toggle_backups(self) -> None:
        self.unfolded = not self.unfolded
        start(self, self._unfold, "unfold")

    async def _unfold(self) -> None:
        await self.read_backups()
        self.show_rows(top=False)

    async def read_backups(self) -> None:
        """What each backup holds, once each, and only while they are listed."""
        if self.unfolded and self.state is not None:
            backups, known = self.state.backups, self.held
            self.held = await self.ask(lambda memory: read_held(memory, backups, known))

    def backup_glance(self, row: Row) -> Content | None:
        """What the preview shows of a backup, or of all of them, at once; None for another row."""
        text = self.text_of(BackupText)
        if row.backup is not None:
            name = row.backup.path.name
            waits = row.backup.size > LARGE_BYTES
            return text.backup(row.backup, self.held.get(name), self.compared.get(name), waits=waits)
        if row.topic == "backups" and self.state is not None:
            memory = self.shell.operations.require()
            folder = "" if memory.path is None else str(memory.path.parent / "backups")
            return text.topic(self.state.backups, folder, unfolded=self.unfolded)
        return None

    async def backup_details(self, backup: Backup) -> Content:
        """The same with what restoring it would do, where that is quick to find out."""
        name = backup.path.name
        if name not in self.held:
            known = self.held
            self.held = known | await self.ask(lambda memory: read_held(memory, (backup,), known))
        large, broken = backup.size > LARGE_BYTES, bool(self.held[name].problem)
        if name not in self.compared and not large and not broken:
            self.compared[name] = await self.ask(lambda memory: memory.backups.preview(backup.path))
        return self.text_of(BackupText).backup(backup, self.held[name], self.compared.get(name), waits=large)
