"""Restore a backup, or single memories of it. A list shows what would come back, change and go.

Undoing a restore restores the backup that was made before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from memtui.present.backup import SAME, erased_return_note, restore_parts
from memtui.present.format import format_count, local_time
from memtui.present.past import time_ago
from memtui.present.text import Role, one_line, visible_text
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.row_table import RowTable

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Operation
    from memtui.engine.records.backups import Backup, RestoreChange, RestorePreview
    from memtui.ui.progress import Work
    from memtui.ui.shell import Shell

    T = TypeVar("T")


_OUTCOMES: tuple[tuple[str, Role], ...] = (
    ("comes back", "success"),
    ("as it was", "warning"),
    ("lost", "error"),
)


class RestoreChoice(NamedTuple):
    """``ids`` None: restore everything. Otherwise restore these memories; empty: all missing ones."""

    ids: tuple[str, ...] | None


class _RestoreRow(NamedTuple):
    key: int
    outcome: int
    change: RestoreChange


class RestoreDialog(Dialog[RestoreChoice]):
    """Returns what to do. Nothing is done without ``y`` or ``t``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "all", show=False),
        Binding("t", "take", show=False),
        Binding("m", "restore_missing", show=False),
    ]
    wide = True
    hints = (
        ("y", "restore all of it"), ("Space", "mark"), ("t", "take this, or the marked"),
        ("m", "take all missing"),
    )  # fmt: skip

    def __init__(self, preview: RestorePreview) -> None:
        super().__init__()
        self._preview = preview
        self._rows = [
            _RestoreRow(key, outcome, change)
            for key, (outcome, change) in enumerate(
                (outcome, change) for outcome, part in enumerate(restore_parts(preview)) for change in part[2]
            )
        ]

    def title_text(self) -> str:
        return "Restore this backup?"

    def body(self) -> ComposeResult:
        yield Static(self._about_text(), classes="dialog-text")
        table: RowTable[_RestoreRow] = RowTable(
            self._restore_columns(), id="restore-rows", glyphs=self.shell.glyphs
        )
        yield table
        yield Static(classes="dialog-warning")

    def _about_text(self) -> Content:
        preview, now = self._preview, self.shell.clock()
        parts: list[Content | str | tuple[str, str]] = [
            (f"{local_time(preview.at, now)}", "bold"), (f"  {time_ago(preview.at, now)}\n", "$text-muted"),
        ]  # fmt: skip
        if preview.changes_nothing:
            parts.append(SAME)
        else:
            counts = [
                (f"{format_count(number)} {title}", f"${role}")
                for title, role, _, number in restore_parts(preview)
                if number
            ]
            others = [one for one in preview.counts if one.back or one.changed or one.lost]
            parts += [part for index, one in enumerate(counts) for part in ((", ", "") if index else "", one)]
            parts.append(
                (
                    f"\n{', '.join(_change_counts(one.what, one.back, one.changed, one.lost) for one in others)}",
                    "$text-muted",
                )
            )
        if erased := erased_return_note(preview):
            parts.append((f"\n{self.shell.glyphs.conflict} {erased}.", "bold $warning"))
        parts.append("\nThe present memory is backed up first, so that you can go back.")
        return assemble(*parts)

    def _restore_columns(self) -> list[Column[_RestoreRow]]:
        glyphs = self.shell.glyphs

        def outcome_cell(row: _RestoreRow, width: int) -> Iterable[StyledText]:
            name, role = _OUTCOMES[row.outcome]
            yield StyledText(visible_text(name), role)

        def text_cell(row: _RestoreRow, width: int) -> Iterable[StyledText]:
            change = row.change
            glyph = f"{glyphs.kinds[change.kind]} "
            was, now = change.then, change.now
            if was is not None and now is not None and was != now:
                half = max((width - 7) // 2, 8)
                yield StyledText(visible_text(glyph), "accent")
                yield StyledText(one_line(was, half))
                yield StyledText(visible_text("  now "), "dim")
                yield StyledText(one_line(now, half), "dim")
                return
            yield StyledText(visible_text(glyph), "accent")
            yield StyledText(one_line(was or now or "", max(width - 2, 8)))

        return [Column("outcome", "", outcome_cell, width=10), Column("text", "", text_cell, least=20)]

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_header(False)
        table.show_source(
            ListSource(self._rows, lambda row: row.key), self.shell.operations.readers, top=True
        )
        table.focus()

    def action_all(self) -> None:
        self.dismiss(RestoreChoice(None))

    def action_take(self) -> None:
        table: RowTable[_RestoreRow] = self.query_one(RowTable)
        keys: set[int | None] = {*table.marks} or {table.selected_key}
        chosen = [row.change for row in self._rows if row.key in keys and row.change.then is not None]
        if chosen:
            self.dismiss(RestoreChoice(tuple(one.id for one in chosen)))
        else:
            warning = (
                "! This is not in the backup: there is nothing to take."
                if self._rows
                else "! Nothing differs."
            )
            self.query_one(".dialog-warning", Static).update(assemble((warning, "$warning")))

    def action_restore_missing(self) -> None:
        self.dismiss(RestoreChoice(()))


def _change_counts(what: str, back: int, changed: int, lost: int) -> str:
    parts = [
        f"{format_count(number)} {word}"
        for number, word in ((back, "back"), (changed, "changed"), (lost, "lost"))
        if number
    ]
    return f"{what}: {' '.join(parts)}"


class RunsWork(Protocol):
    """Runs long work in its own thread."""

    async def __call__(self, call: Callable[[Memory, Work], T], name: str) -> T: ...


async def go_back(shell: Shell, operation: Operation) -> str:
    """Go back to the state before a restore, after a preview. Returns a message, or empty."""
    work, op_id = shell.operations.work, operation.op_id
    backup = await shell.operations.ask(lambda memory: memory.backups.before(op_id))
    if backup is None:
        return "The backup from before this restore no longer exists."
    preview = await work(lambda memory, _: memory.backups.preview(backup.path), "comparing")
    return await restore_backup(shell, backup, preview, work)


async def restore_backup(shell: Shell, backup: Backup, preview: RestorePreview, work: RunsWork) -> str:
    """Ask what to restore from a backup, and do it. Returns a message, or empty."""

    chosen = await shell.show_dialog(RestoreDialog(preview))
    if chosen is None:
        return "Nothing was restored."
    if chosen.ids is None:
        await work(lambda memory, _: memory.backups.restore(backup.path), "restore")
        return ""
    ids = chosen.ids or None
    operation = await work(lambda memory, _: memory.backups.restore_memories(backup.path, ids), "taking")
    return "The memory has all of it already." if operation is None else ""
