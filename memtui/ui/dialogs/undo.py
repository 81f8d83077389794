"""Taking back one chosen operation, whoever made it: the question before, and what was left alone after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.present.format import local_time, plural
from memtui.present.operation import is_restore, who

if TYPE_CHECKING:
    from memtui.engine.records import Operation
    from memtui.ui.shell import Shell

# Undoing more rows than that asks first.
ASK_ABOVE = 20


async def undo_operation(shell: Shell, operation: Operation) -> None:
    """Undo it, after a question where it has many rows or is somebody else's."""
    from memtui.engine.errors import InputError
    from memtui.engine.store.undo import NothingUndoneError

    from .conflicts import ConflictsDialog
    from .restore_flow import go_back

    if is_restore(operation):
        if told := await go_back(shell, operation):
            shell.say(told)
        return
    if not await _sure(shell, operation):
        shell.say("Nothing was undone.")
        return
    op_id = operation.op_id
    try:
        done = await shell.operations.change(lambda memory: memory.undo(op_id), "undoing")
    except InputError as error:
        shell.say(error.message, "warning")
        if isinstance(error, NothingUndoneError) and error.conflicts:
            shell.app.push_screen(ConflictsDialog(error.operation, error.conflicts))
        return
    if done is not None and done.conflicts:
        shell.app.push_screen(ConflictsDialog(done.operation, done.conflicts, done.restored))


async def _sure(shell: Shell, operation: Operation) -> bool:
    theirs = operation.actor != shell.operations.require().actor
    if operation.rows <= ASK_ABOVE and not theirs:
        return True
    from .question import Question

    made = f"{who(operation.actor)}, {local_time(operation.at, shell.clock())}"
    told = f"{operation.label}\n{plural(operation.rows, 'row')}, by {made}."
    answer = await shell.ask_person(Question("Undo this?", told, yes=f"undo {operation.rows:,}", enter=True))
    return answer is True
