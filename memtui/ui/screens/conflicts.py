"""After an undo: the rows that somebody changed since, with both versions. They were left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from memtui.ui.format import plural
from memtui.ui.safe import assemble
from memtui.ui.text import visible
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Conflict, Undone

_SHOWN = 50


class ConflictsDialog(Dialog[None]):
    """Side by side: what it is now, and what the undo wanted."""

    wide = True

    def __init__(self, undone: Undone) -> None:
        super().__init__()
        self._undone = undone

    def title_text(self) -> str:
        return f"{plural(len(self._undone.conflicts), 'row')} left alone"

    def body(self) -> ComposeResult:
        yield TextView(id="conflicts-text")

    def on_mount(self) -> None:
        conflicts = self._undone.conflicts
        restored = plural(self._undone.restored, "row was", "rows were")
        parts: list[str | tuple[str, str]] = [
            f"{self._undone.operation.label}\n\n",
            (f"{restored} put back. These were changed since, and stay as they are now.\n", "$text-muted"),
        ]
        for conflict in conflicts[:_SHOWN]:
            parts += [
                "\n",
                (conflict.memory_id or f"{conflict.table} {conflict.key}", "bold"),
                f"  {conflict.reason}\n",
            ]
            parts += self._sides(conflict)
        if len(conflicts) > _SHOWN:
            parts += ["\n", (f"and {plural(len(conflicts) - _SHOWN, 'more row')}", "$text-muted")]
        view = self.query_one(TextView)
        view.show(assemble(*parts))
        view.focus()

    @staticmethod
    def _sides(conflict: Conflict) -> list[str | tuple[str, str]]:
        wanted, current = conflict.wanted or {}, conflict.current or {}
        parts: list[str | tuple[str, str]] = []
        for column in sorted({*wanted, *current}):
            if wanted.get(column) != current.get(column):
                parts += [
                    (f"  {column}\n", "$text-muted"),
                    ("    now     ", "$text-muted"),
                    visible(str(current.get(column, "not there")), 400),
                    ("\n    wanted  ", "$text-muted"),
                    visible(str(wanted.get(column, "not there")), 400),
                    "\n",
                ]
        return parts
