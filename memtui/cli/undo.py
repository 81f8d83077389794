"""``memtui undo`` and ``memtui redo``: one history for everything, across programs and restarts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import InputError, UsageError
from memtui.present.format import local_time, plural
from memtui.present.operation import undo_reach

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .output import err, next_step, out, paint, print_json, print_note, row
from .root import Command, OperationNumber, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import Conflict, Undone

_DONE = {"undo": "undone", "redo": "redone"}


@click.command("undo", cls=Command)
@click.argument("op_id", type=OperationNumber(), required=False)
@click.option("--agent", metavar="NAME", help="Undo all that this agent did, with --since.")
@click.option("--since", metavar="TIME", help='After that time: 2026-03-03, "last tuesday", 2d.')
@click.option(
    "--turns",
    is_flag=True,
    help="With --agent: also the turns that it recorded, and what was drawn from them.",
)
@click.option("--dry-run", "-n", is_flag=True, help="With --agent: only show what would be undone.")
@json_option
@pass_invocation
def undo_command(
    invocation: Invocation, op_id: int | None, agent: str | None, since: str | None, turns: bool, dry_run: bool, json: bool
) -> int:  # fmt: skip
    """Undo your latest change, or the operation OP_ID of anyone. "memtui history" lists them.

    What somebody changed later is left as it is and named. The exit code is then 1, as when there is
    nothing to undo.

    \b
    memtui undo --agent claude-code --since 2d --dry-run    what it did in two days
    memtui undo --agent claude-code --since 2d              undo it; "memtui undo" brings it back
    """
    if agent is not None and since is not None and op_id is None:
        return _undo_agent(invocation, agent, since, turns, dry_run, json)
    if agent is not None or since is not None or turns or dry_run:
        raise UsageError(
            "--agent and --since go together, without a number.",
            "memtui undo --agent NAME --since 2d --dry-run",
        )
    with invocation.open_existing(must_write=True) as memory:
        latest = memory.history.next_undo()
        if op_id is None and latest is not None and (erase := memory.history.erase_before_undo()) is not None:
            raise InputError(
                f"Your latest change erased for good, which nothing brings back: {erase.label}.",
                f"memtui undo {latest.op_id} takes back the change before it: {latest.label}.",
            )
        undone = memory.undo(op_id)
    return _print_undone(undone, "undo", json)


@click.command("redo", cls=Command)
@json_option
@pass_invocation
def redo_command(invocation: Invocation, json: bool) -> int:
    """Redo what you just undid. Exit code 1 when there is nothing to redo."""
    with invocation.open_existing(must_write=True) as memory:
        undone = memory.redo()
    return _print_undone(undone, "redo", json)


def _undo_agent(
    invocation: Invocation, agent: str, since: str, turns: bool, dry_run: bool, json: bool
) -> int:
    with invocation.open_existing(must_write=not dry_run) as memory:
        changes = memory.history.agent_changes(agent, since, turns=turns)
        done = (
            None
            if dry_run or not changes.operations
            else memory.history.undo_agent(agent, since, turns=turns)
        )
    if json:
        print_json({"changes": changes, "undone": done})
    else:
        for one in changes.operations:
            state = paint("would be undone" if done is None else "undone", "yellow")
            out(row(state, paint(str(one.op_id), "dim"), local_time(one.at, time.time()), one.label))
        if not changes.operations:
            err(f"{agent} did nothing since then that can be undone")
        elif done is not None:
            out(row(paint(str(done.by.op_id), "dim"), done.by.label))
            out(row("  ", next_step(f"To undo it: memtui undo {done.by.op_id}")))
        _print_conflicts(done.conflicts if done else changes.conflicts)
        for one in (done or changes).undo_first:
            what = f"memtui undo {one.op_id} ({one.label}), then this again with --turns"
            out(row("  ", next_step(f"What was drawn from its turns and from others: {what}")))
        if changes.turns_left:
            stays = "stays; --turns takes it" if changes.turns_left == 1 else "stay; --turns takes them"
            print_note(
                f"{plural(changes.turns_left, 'turn')} that it recorded {stays} back too, and what was drawn from them"
            )
        if dry_run:
            print_note("nothing was changed")
    conflicts = done.conflicts if done else changes.conflicts
    return OK if changes.operations and not conflicts else NEGATIVE


def _print_conflicts(conflicts: Sequence[Conflict]) -> None:
    for conflict in conflicts:
        row_name = conflict.memory_id or f"{conflict.table} {conflict.key}"
        err(f"left alone: {row_name}: {conflict.reason}")


def _print_undone(undone: Undone | None, verb: str, json: bool) -> int:
    if json:
        print_json({_DONE[verb]: undone})
    elif undone is None:
        err(f"nothing to {verb}")
    else:
        out(row(paint(str(undone.by.op_id), "dim"), undone.by.label))
        if verb == "undo" and (reach := undo_reach(undone.operation)):
            print_note(reach)
    if undone is not None and not json:
        _print_conflicts(undone.conflicts)
    return OK if undone is not None and not undone.conflicts else NEGATIVE
