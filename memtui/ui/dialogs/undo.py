"""Undo a chosen operation, or all changes of an agent. Asks before, and reports what was left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.present.format import local_time, plural
from memtui.present.operation import is_restore, who

if TYPE_CHECKING:
    from memtui.engine.records import Operation
    from memtui.ui.shell import Shell

# An undo of more rows than this asks first.
ASK_ABOVE = 20
_LISTED = 8


async def undo_operation(shell: Shell, operation: Operation) -> None:
    """Undo an operation. Asks first if it has many rows or was made by somebody else."""
    from memtui.engine.errors import InputError
    from memtui.engine.store.undo import NothingUndoneError

    from .conflicts import ConflictsDialog
    from .restore_flow import go_back

    if is_restore(operation):
        if message := await go_back(shell, operation):
            shell.say(message)
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


async def undo_agent(shell: Shell, agent: str, since: int) -> None:
    """Undo all changes of an agent since a time (Unix seconds), after the person has seen them."""
    from memtui.engine.errors import InputError

    from .confirmation import Question

    found = await shell.operations.ask(lambda memory: memory.history.agent_changes(agent, since))
    if not found.operations:
        shell.say("Nothing can be undone: all of it was changed since.", "warning")
        return
    lines = [f"{local_time(one.at, shell.clock())}  {one.label}" for one in found.operations[:_LISTED]]
    if len(found.operations) > _LISTED:
        lines.append(f"and {len(found.operations) - _LISTED:,} before")
    if found.turns_left:
        lines.append(f"{plural(found.turns_left, 'turn')} that it recorded stay.")
    if found.conflicts:
        lines.append(f"{plural(len(found.conflicts), 'row')} that were changed since stay as they are.")
    changes = plural(len(found.operations), "change")
    title = f"Undo {changes} of {agent}?"
    if (
        await shell.ask_person(Question(title, "\n".join(lines), yes=f"undo {changes}", enter=True))
        is not True
    ):
        shell.say("Nothing was undone.")
        return
    try:
        done = await shell.operations.change(
            lambda memory: memory.history.undo_agent(agent, since), "undoing"
        )
    except InputError as error:
        shell.say(error.message, "warning")
        return
    if done.conflicts:
        from .conflicts import ConflictsDialog

        shell.app.push_screen(ConflictsDialog(done.by, done.conflicts, done.restored))


async def _sure(shell: Shell, operation: Operation) -> bool:
    theirs = operation.actor != shell.operations.require().actor
    if operation.rows <= ASK_ABOVE and not theirs:
        return True
    from .confirmation import Question

    made = f"{who(operation.actor)}, {local_time(operation.at, shell.clock())}"
    text = f"{operation.label}\n{plural(operation.rows, 'row')}, by {made}."
    answer = await shell.ask_person(Question("Undo this?", text, yes=f"undo {operation.rows:,}", enter=True))
    return answer is True
