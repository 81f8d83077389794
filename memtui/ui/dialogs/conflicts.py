"""After an undo: the rows that were changed since, and were therefore left alone, with both versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from memtui.present.changes import LEFT_OUT, label_of, value_of
from memtui.present.format import plural
from memtui.ui.presenters.diff import ADDED, REMOVED, differences
from memtui.ui.presenters.side_by_side import GAP, side_by_side
from memtui.ui.safe import assemble, content, line, marked
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Conflict, Operation

_SHOWN = 50
# From this width on the two versions are side by side.
BESIDE = 76


class ConflictsDialog(Dialog[None]):
    """Shows each row as it is now and as the undo would make it, side by side if there is room."""

    wide = True

    def __init__(self, operation: Operation, conflicts: Sequence[Conflict], restored: int = 0) -> None:
        super().__init__()
        self._operation = operation
        self._conflicts = conflicts
        self._restored = restored

    def title_text(self) -> str:
        return f"{plural(len(self._conflicts), 'row')} left alone"

    def body(self) -> ComposeResult:
        yield TextView(id="conflicts-text")

    def on_mount(self) -> None:
        self.query_one(TextView).focus()

    @on(TextView.Rewidened)
    def _lay_out(self) -> None:
        view = self.query_one(TextView)
        view.show(Content("\n").join(self._lines(view.text_width)), of="conflicts")

    def _lines(self, width: int) -> Iterable[Content]:
        conflicts, restored = self._conflicts, plural(self._restored, "row was", "rows were")
        yield from content(self._operation.label, "bold").wrap(width)
        yield assemble("")
        if self._restored:
            outcome = f"{restored} restored. These were changed since, and stay as they are now."
        else:
            outcome = "Nothing was undone: everything was changed since, and stays as it is. Undo the later changes first."
        yield from content(outcome, "$text-muted").wrap(width)
        for conflict in conflicts[:_SHOWN]:
            yield assemble("")
            yield from self._conflict(conflict, width)
        if len(conflicts) > _SHOWN:
            yield assemble("")
            yield assemble((f"and {plural(len(conflicts) - _SHOWN, 'more row')}", "$text-muted"))

    def _conflict(self, conflict: Conflict, width: int) -> Iterable[Content]:
        wanted, current = conflict.wanted, conflict.current
        # ``wanted`` has only the columns that the undo would restore, ``current`` the whole row.
        differing = [
            column
            for column, value in (wanted or {}).items()
            if current is not None and column not in LEFT_OUT and value != current.get(column)
        ]
        text = (current or wanted or {}).get("content")
        if text is not None and "content" not in differing:
            yield line(str(text), width)
        name = conflict.memory_id or f"{conflict.table} {conflict.key}"
        yield from assemble((name, "$text-muted"), f"  {conflict.reason}").wrap(width)
        if wanted is None or current is None:
            reason = "the undo would remove it" if wanted is None else "it no longer exists"
            yield assemble((reason, "$text-muted"))
            return
        for column in differing:
            yield from self._versions(column, current.get(column), wanted[column], width)

    def _versions(self, column: str, current: object, wanted: object, width: int) -> Iterable[Content]:
        clock = self.shell.clock()
        here, there = (value_of(column, value, clock) for value in (current, wanted))
        come, gone = differences(here, there)
        now, then = marked(here, come, ADDED), marked(there, gone, REMOVED)
        label = label_of(column)
        if width >= BESIDE:
            yield from self._beside(label, now, then, (width - GAP) // 2)
        else:
            yield assemble((f"  {label}", "$text-muted"))
            yield from _labelled("    now     ", now, width)
            yield from _labelled("    wanted  ", then, width)

    @staticmethod
    def _beside(label: str, here: Content, there: Content, width: int) -> Iterable[Content]:
        left = [assemble((f"{label}, now", "$text-muted")), *here.wrap(width)]
        right = [assemble((f"{label}, wanted", "$text-muted")), *there.wrap(width)]
        return side_by_side(left, right, width)


def _labelled(label: str, text: Content, width: int) -> Iterable[Content]:
    for index, part in enumerate(text.wrap(max(width - len(label), 8))):
        yield assemble((label if index == 0 else " " * len(label), "$text-muted"), part)
