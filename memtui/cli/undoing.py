"""``memtui undo`` and ``memtui redo``: one history for everything, across programs and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .door import Door
from .errors import NEGATIVE, OK
from .output import emit, err, out, paint, row
from .root import Command, OperationNumber, json_option, pass_door

if TYPE_CHECKING:
    from memtui.engine.records import Undone


@click.command("undo", cls=Command)
@click.argument("op_id", type=OperationNumber(), required=False)
@json_option
@pass_door
def undo_command(door: Door, op_id: int | None, json: bool) -> int:
    """Take back your latest change, or the operation OP_ID of anyone ("memtui history" lists them).

    What somebody changed since is left alone and told; the exit code is then 1, as when there is
    nothing to undo.
    """
    with door.existing(must_write=True) as memory:
        undone = memory.undo(op_id)
    return _tell(undone, "undo", json)


@click.command("redo", cls=Command)
@json_option
@pass_door
def redo_command(door: Door, json: bool) -> int:
    """Do again what your latest undo took back. Exit code 1 when there is nothing to redo."""
    with door.existing(must_write=True) as memory:
        undone = memory.redo()
    return _tell(undone, "redo", json)


def _tell(undone: Undone | None, verb: str, json: bool) -> int:
    if json:
        emit({"undone": undone})
    elif undone is None:
        err(f"nothing to {verb}")
    else:
        out(row(paint(str(undone.by.op_id), "dim"), undone.by.label))
    if undone is not None and not json:
        for conflict in undone.conflicts:
            place = conflict.memory_id or f"{conflict.table} {conflict.key}"
            err(f"left alone: {place}: {conflict.reason}")
    return OK if undone is not None and not undone.conflicts else NEGATIVE
