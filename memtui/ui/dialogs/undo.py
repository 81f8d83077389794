"""Undo a chosen operation, or all changes of an agent. Asks before, and shows the rows that were left alone.

A row is left alone when it was changed since. The dialog shows both versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from memtui.present.changes import LEFT_OUT, column_label, column_value
from memtui.present.format import local_time, plural
from memtui.present.operation import actor_name, is_restore, undo_reach
from memtui.ui.presenters.diff import ADDED, GAP, REMOVED, diff_ranges, side_by_side
from memtui.ui.safe import assemble, content, content_with_marks, line
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import AgentChanges, Conflict, Operation
    from memtui.ui.shell import Shell


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
        view.show_text(Content("\n").join(self._conflict_lines(view.text_width)), subject="conflicts")

    def _conflict_lines(self, width: int) -> Iterable[Content]:
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
            yield from self._describe_conflict(conflict, width)
        if len(conflicts) > _SHOWN:
            yield assemble("")
            yield assemble((f"and {plural(len(conflicts) - _SHOWN, 'more row')}", "$text-muted"))

    def _describe_conflict(self, conflict: Conflict, width: int) -> Iterable[Content]:
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
            yield from self._describe_versions(column, current.get(column), wanted[column], width)

    def _describe_versions(
        self, column: str, current: object, wanted: object, width: int
    ) -> Iterable[Content]:
        clock = self.shell.clock()
        current_text, wanted_text = (column_value(column, value, clock) for value in (current, wanted))
        come, gone = diff_ranges(current_text, wanted_text)
        now, then = (
            content_with_marks(current_text, come, ADDED),
            content_with_marks(wanted_text, gone, REMOVED),
        )
        label = column_label(column)
        if width >= BESIDE:
            yield from self._side_by_side(label, now, then, (width - GAP) // 2)
        else:
            yield assemble((f"  {label}", "$text-muted"))
            yield from _labelled_text("    now     ", now, width)
            yield from _labelled_text("    wanted  ", then, width)

    @staticmethod
    def _side_by_side(label: str, current: Content, wanted: Content, width: int) -> Iterable[Content]:
        current_lines = [assemble((f"{label}, now", "$text-muted")), *current.wrap(width)]
        wanted_lines = [assemble((f"{label}, wanted", "$text-muted")), *wanted.wrap(width)]
        return side_by_side(current_lines, wanted_lines, width)


def _labelled_text(label: str, text: Content, width: int) -> Iterable[Content]:
    for index, part in enumerate(text.wrap(max(width - len(label), 8))):
        yield assemble((label if index == 0 else " " * len(label), "$text-muted"), part)


# An undo of more rows than this asks first.
ASK_ABOVE = 20


async def undo_operation(shell: Shell, operation: Operation) -> None:
    """Undo an operation. Asks first if it has many rows or was made by somebody else."""
    from memtui.engine.errors import InputError
    from memtui.engine.store.undo import NothingUndoneError

    from .restore import go_back

    if is_restore(operation):
        if message := await go_back(shell, operation):
            shell.show_message(message)
        return
    if not await _ask_if_sure(shell, operation):
        shell.show_message("Nothing was undone.")
        return
    op_id = operation.op_id
    try:
        done = await shell.operations.change(lambda memory: memory.undo(op_id), "undoing")
    except InputError as error:
        shell.show_message(error.message, "warning")
        if isinstance(error, NothingUndoneError) and error.conflicts:
            shell.app.push_screen(ConflictsDialog(error.operation, error.conflicts))
        return
    if done is not None and done.conflicts:
        shell.app.push_screen(ConflictsDialog(done.operation, done.conflicts, done.restored))


class AgentUndoDialog(Dialog[bool]):
    """All changes of an agent since a time, to be undone. Returns whether its turns are undone too; None to leave it.

    ``found`` without the turns that it recorded, ``with_turns`` with them and what was drawn from them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "confirm", show=False),
        Binding("n", "leave", show=False),
        Binding("t", "turns", show=False),
    ]
    wide = True

    def __init__(self, without_turns: AgentChanges, with_turns: AgentChanges) -> None:
        super().__init__()
        self._found = without_turns
        self._with_turns = with_turns
        self._turns = not without_turns.operations

    @property
    def _chosen(self) -> AgentChanges:
        return self._with_turns if self._turns else self._found

    def title_text(self) -> str:
        return f"Undo {plural(len(self._chosen.operations), 'change')} of {self._found.agent}?"

    def body(self) -> ComposeResult:
        yield TextView(id="agent-undo-text")

    def on_mount(self) -> None:
        self.query_one(TextView).focus()

    def hint_line(self) -> Content:
        hints = [("Enter", f"undo {plural(len(self._chosen.operations), 'change')}")]
        if self._found.turns_left and self._found.operations:
            hints.append(("t", "leave its turns" if self._turns else "its turns too"))
        return self.fitting_hints(hints)

    @on(TextView.Rewidened)
    def _lay_out(self) -> None:
        view = self.query_one(TextView)
        view.show_text(Content("\n").join(self._lines(view.text_width)), subject=self._turns)

    def _lines(self, width: int) -> Iterable[Content]:
        chosen, turns = self._chosen, self._found.turns_left
        if turns:
            stay = "its turn" if turns == 1 else f"its {turns:,} turns"
            yield from content(
                f"With {stay} that it recorded, and what was drawn from nothing else."
                if self._turns
                else f"{plural(turns, 'turn')} that it recorded {'stays' if turns == 1 else 'stay'}, and what was drawn from "
                f"{'it' if turns == 1 else 'them'}: t takes {'it' if turns == 1 else 'them'} too.",
                "$warning",
            ).wrap(width)
        if chosen.conflicts:
            rows = plural(len(chosen.conflicts), "row")
            text = (
                f"{rows} that were changed since, or that something was drawn from since, stay as they are."
            )
            yield from content(text, "$warning").wrap(width)
        for one in chosen.undo_first:
            text = f"Undo first what was drawn from its turns and from others: {one.label} (operation {one.op_id})."
            yield from content(text, "$warning").wrap(width)
        if turns or chosen.conflicts:
            yield assemble("")
        for one in chosen.operations:
            when = f"{local_time(one.at, self.shell.clock())}  "
            yield assemble((when, "$text-muted"), line(one.label, max(width - len(when), 10)))

    def action_turns(self) -> None:
        if not (self._found.turns_left and self._found.operations):
            return
        self._turns = not self._turns
        self.query_one(".dialog").border_title = line(self.title_text(), 60)
        self.query_one(".dialog-hints", Static).update(self.hint_line())
        self._lay_out()

    def action_confirm(self) -> None:
        self.dismiss(self._turns)


async def undo_agent(shell: Shell, agent: str, since: int) -> None:
    """Undo all changes of an agent since a time (Unix seconds), after the person has seen them."""
    from memtui.engine.errors import InputError

    without_turns, with_turns = await shell.operations.ask(
        lambda memory: (
            memory.history.agent_changes(agent, since),
            memory.history.agent_changes(agent, since, turns=True),
        )
    )
    if not with_turns.operations:
        shell.show_message("Nothing can be undone: all of it was changed since.", "warning")
        return
    turns = await shell.show_dialog(AgentUndoDialog(without_turns, with_turns))
    if turns is None:
        shell.show_message("Nothing was undone.")
        return
    try:
        done = await shell.operations.change(
            lambda memory: memory.history.undo_agent(agent, since, turns=turns), "undoing"
        )
    except InputError as error:
        shell.show_message(error.message, "warning")
        return
    if done.conflicts:
        shell.app.push_screen(ConflictsDialog(done.by, done.conflicts, done.restored))


async def _ask_if_sure(shell: Shell, operation: Operation) -> bool:
    theirs = operation.actor != shell.operations.require_memory().actor
    if operation.rows <= ASK_ABOVE and not theirs:
        return True
    from .choice import Question

    made = f"{actor_name(operation.actor)}, {local_time(operation.at, shell.clock())}"
    reach = undo_reach(operation)
    text = f"{operation.label}\n{plural(operation.rows, 'row')}, by {made}.{reach and f' {reach}'}"
    answer = await shell.show_dialog(Question("Undo this?", text, yes=f"undo {operation.rows:,}", enter=True))
    return answer is True
