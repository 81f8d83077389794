"""Backups in Maintenance: the actions on them, and the preview of one.

The preview says what restoring would bring back, change and remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.backup import (
    NUMBERS,
    SAME,
    backup_reason,
    backups_summary,
    contents_summary,
    history_loss_note,
    restore_parts,
)
from memtui.present.format import file_size, format_count, local_time
from memtui.present.past import time_ago
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.presenters.text_layout import stack_lines
from memtui.ui.safe import assemble, content, line

from .detail import Labelled
from .jobs import Jobs
from .rows import Known, read_contents

if TYPE_CHECKING:
    from memtui.engine.records.backups import Backup, BackupContents, RestoreChange, RestorePreview
    from memtui.ui.panes.list_pane import ListPane

    from .rows import MaintenanceRow


_LISTED = 8
_WHAT, _NUMBER = 24, 8
_RULES = (
    "Made every 30 minutes if something changed, and before a migration, an import, a nightly run, another model, a"
    " repair and a restore. Each backup is checked.",
    "Kept: all of 3 hours, one an hour for 2 days, 7 daily, 4 weekly, 6 monthly, within 5 GB or a fifth of the free"
    " space. While the file fails its check, sound backups are kept.",
)


class BackupText(Labelled):
    """Backups."""

    def topic_text(self, backups: Sequence[Backup], folder: str, *, unfolded: bool) -> Content:
        """All backups, and the rules."""
        summary = backups_summary(backups, self.now)
        lines = [*content(summary, "bold").wrap(self.width), assemble("")]
        for rule in _RULES:
            lines += [*content(rule).wrap(self.width), assemble("")]
        if backups:
            lines += [*self.labelled("folder", content(folder, "$text-muted", limit=300)), assemble("")]
            lines += self.key_hint("open", "hides them again" if unfolded else "lists them here")
        return stack_lines([*lines, *self.key_hint("run", "makes one now")])

    def backup_text(
        self,
        backup: Backup,
        contents: BackupContents | None,
        preview: RestorePreview | None,
        *,
        waits: bool = False,
    ) -> Content:
        """One backup. ``waits``: it is large, and is compared only on request."""
        if contents is not None and contents.problem:
            title = assemble(
                (f"{self.glyphs.conflict} It cannot be used: ", "bold $error"), (contents.problem, "$error")
            )
            return stack_lines([*title.wrap(self.width), assemble(""), *self._backup_heading(backup, None)])
        lines = [*self._backup_heading(backup, contents), assemble("")]
        if preview is not None:
            lines += self.difference_text(preview)
            lines += [
                assemble(""),
                *self.key_hint("restore_backup", "restores it, or takes single memories out of it"),
            ]
        elif waits:
            lines += self.key_hint("dry_run", "checks it and shows what restoring it would do")
        else:
            lines.append(assemble(("comparing with the memory now…", "$text-muted")))
        return stack_lines(lines)

    def _backup_heading(self, backup: Backup, contents: BackupContents | None) -> Iterable[Content]:
        when = assemble(
            local_time(backup.at, self.now),
            (f" {self.glyphs.dot} {time_ago(backup.at, self.now)}", "$text-muted"),
        )
        yield from self.labelled("made", when)
        yield from self.labelled("why", assemble(backup_reason(backup.reason)))
        yield from self.labelled("size", assemble(file_size(backup.size)))
        if contents is not None:
            yield from self.labelled("holds", assemble(contents_summary(contents)))
            verified = assemble((f"{self.glyphs.done} ", "$success"), "when it was made")
            yield from self.labelled("verified", verified)
        yield from self.labelled("file", content(backup.path.name, "$text-muted", limit=120))

    def difference_text(self, preview: RestorePreview) -> Iterable[Content]:
        """What restoring would do."""
        if preview.changes_nothing:
            yield assemble((SAME, "bold"))
            return
        yield assemble(("restoring it would", "bold $accent"))
        shown = len(NUMBERS) if self.width >= _WHAT + _NUMBER * len(NUMBERS) else 3
        yield self._number_row("", NUMBERS[-shown:], "$text-muted")
        for one in preview.counts:
            if one.back or one.changed or one.lost:
                numbers = (one.now, one.then, one.back, one.changed, one.lost)
                yield self._number_row(
                    one.what, [format_count(number) for number in numbers[-shown:]], "$text"
                )
        for title, role, changes, number in restore_parts(preview):
            if number:
                yield assemble("")
                yield assemble((f"{format_count(number)} {title}", f"bold ${role}"))
                for change in changes[:_LISTED]:
                    yield from self.change_text(change)
                if number > _LISTED:
                    yield assemble((f"  and {format_count(number - _LISTED)} more", "$text-muted"))
        if note := history_loss_note(preview):
            yield assemble("")
            yield from content(note, "$text-muted").wrap(self.width)

    def _number_row(self, what: str, cells: Sequence[str], style: str) -> Content:
        numbers = "".join(cell.rjust(_NUMBER) for cell in cells)
        label_width = max(min(_WHAT, self.width - len(numbers)), 8)
        return assemble((what.ljust(label_width)[:label_width], style), (numbers, style))

    def change_text(self, change: RestoreChange) -> Iterable[Content]:
        """The text now and in the backup, a line each."""
        glyph = self.glyphs.kinds[change.kind]
        text_width = max(self.width - 6, 8)
        if change.now is not None and change.now == change.then:  # for example its tags or its confidence
            yield assemble((f"  ~ {glyph} ", "$warning"), line(change.now, text_width))
            return
        if change.now is not None:
            yield assemble((f"  - {glyph} ", "$removed"), line(change.now, text_width))
        if change.then is not None:
            yield assemble((f"  + {glyph} ", "$added"), line(change.then, text_width))


# A larger backup is compared only on request, not when the cursor rests on it.
LARGE_BYTES = 50_000_000


class Backups:
    """Actions on the backups of a list. ``unfolded``: each backup has a row. ``refresh`` reads the list again."""

    def __init__(
        self,
        pane: ListPane[MaintenanceRow],
        jobs: Jobs,
        text: Callable[[], BackupText],
        refresh: Callable[[], None],
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
    def selected_backup(self) -> Backup | None:
        """The backup under the cursor."""
        row = self._pane.table.selected
        return None if row is None else row.backup

    def unavailable_reason(self, action: Action) -> str:
        row = self._pane.table.selected
        if action.id == "restore_backup":
            if row is None or row.backup is None:
                return (
                    f"This works on a backup: {self._pane.shell.keymap_shown('open')} on Backups lists them."
                )
            return f"{self._jobs.running_task} is running: wait for it." if self._jobs.running_task else ""
        return ""

    async def make_backup(self) -> None:
        """Make one now."""
        made = await self._jobs.work_with_progress(lambda memory, work: memory.backups.make(), "backup")
        self._pane.show_message(f"Backed up, and verified: {made.path.name}")
        self._refresh()

    async def show_comparison(self, backup: Backup) -> None:
        """Compute what restoring it would do, and show it."""
        await self._preview_restore(backup)
        self._pane.show_selected()

    async def do_restore_backup(self) -> None:
        from memtui.ui.dialogs.restore import restore_backup

        backup = self.selected_backup
        if backup is None:
            return
        message = await restore_backup(
            self._pane.shell, backup, await self._preview_restore(backup), self._jobs.work_with_progress
        )
        if message:
            self._pane.show_message(message)
        self.compared.clear()
        self._refresh()

    async def _preview_restore(self, backup: Backup) -> RestorePreview:
        """What restoring it would do. The backup is checked first."""
        name = backup.path.name
        if name not in self.compared:
            self.compared[name] = await self._jobs.work_with_progress(
                lambda memory, work: memory.backups.preview(backup.path), "comparing"
            )
        return self.compared[name]

    # -- the list and the preview

    def toggle_backups(self) -> None:
        self.unfolded = not self.unfolded
        start_worker(self._pane, self._toggle_unfolded, "unfold")

    async def _toggle_unfolded(self) -> None:
        await self.read_backups()
        self._pane.show_rows(top=False)

    async def read_backups(self) -> None:
        """Read the contents of each backup once, and only while they are listed."""
        if self.unfolded and self._jobs.state is not None:
            backups, known = self._jobs.state.backups, self.contents
            self.contents = await self._pane.ask(lambda memory: read_contents(memory, backups, known))

    def backup_glance(self, row: MaintenanceRow) -> Content | None:
        """The first preview of a backup, or of all backups. None for another row."""
        text = self._text()
        if row.backup is not None:
            name = row.backup.path.name
            waits = row.backup.size > LARGE_BYTES
            return text.backup_text(row.backup, self.contents.get(name), self.compared.get(name), waits=waits)
        if row.topic == "backups" and self._jobs.state is not None:
            memory = self._pane.shell.operations.require_memory()
            folder = "" if memory.path is None else str(memory.path.parent / "backups")
            return text.topic_text(self._jobs.state.backups, folder, unfolded=self.unfolded)
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
        return self._text().backup_text(backup, self.contents[name], self.compared.get(name), waits=large)
