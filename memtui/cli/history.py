"""``memtui history``: what was changed, by whom, and when."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import InputError, UsageError
from memtui.present.format import count
from memtui.present.operation import changed, undo_notes, who

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import age, change_rows, glyphs
from .output import drawn, emit, err, note, out, paint, row, table
from .root import Command, OperationNumber, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import Operation

_ACTORS = ("person", "scheduler", "import", "external")


@click.command("history", cls=Command)
@click.argument("op_id", type=OperationNumber(), required=False)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--actor", metavar="WHO", help="Only changes by WHO: person, agent:<name>, scheduler, import, external."
)
@click.option("--as-of", metavar="WHEN", help="The memory as it was then: a date, yesterday, last month, 2d.")
@click.option("--diff", nargs=2, metavar="FROM TO", help="What changed between two times.")
@click.option("--recalls", is_flag=True, help="What agents were told, instead of changes.")
@click.option(
    "--filter", "-f", "words", default="", metavar="F",
    help="With --as-of: words, kind:fact, is:trash; with --recalls: words of agent, question or session.",
)  # fmt: skip
@json_option
@pass_invocation
def history_command(
    invocation: Invocation, op_id: int | None, limit: int, actor: str | None, as_of: str | None, diff: tuple[str, str] | None,
    recalls: bool, words: str, json: bool,
) -> int:  # fmt: skip
    """List the operations, newest first. With OP_ID show what it changed, row by row.

    \b
    memtui history --as-of 2026-03-03              what was remembered then
    memtui history --diff "last monday" now        added, corrected, forgotten since
    memtui history --recalls --as-of 15:02         what agents were told, up to then
    """
    if sum(one is not None for one in (op_id, as_of, diff)) > 1:
        raise UsageError("OP_ID, --as-of and --diff exclude each other.", "Choose one.")
    if recalls and (op_id is not None or diff is not None):
        raise UsageError("--recalls goes without OP_ID and --diff.", "For example --recalls --as-of 15:02")
    if words and as_of is None and not recalls:
        raise UsageError(
            "--filter goes with --as-of or --recalls.", "For example --as-of yesterday --filter kind:fact"
        )
    if recalls:
        from .history_recalls import print_recalls

        with invocation.reading() as memory:
            return print_recalls(
                memory, words, actor=actor, until=as_of, limit=limit, signs=glyphs(invocation), json=json
            )
    if as_of is not None or diff is not None:
        from .history_past import print_as_of, print_diff

        with invocation.reading() as memory:
            if diff is not None:
                return print_diff(memory, *diff, limit=limit, signs=glyphs(invocation), json=json)
            return print_as_of(memory, as_of or "", words, limit=limit, signs=glyphs(invocation), json=json)
    if actor is not None and actor not in _ACTORS and not actor.startswith("agent:"):
        raise InputError(f"{actor!r} is not an actor.", f"Use agent:<name>, {', '.join(_ACTORS)}.")
    return _list(invocation, limit, actor, json) if op_id is None else _show(invocation, op_id, limit, json)


def _list(invocation: Invocation, limit: int, actor: str | None, json: bool) -> int:
    with invocation.reading() as memory:
        operations = memory.view.operations(limit=limit, actor=actor)
    if json:
        emit({"operations": operations})
    else:
        _print_operations(operations)
    return OK if operations else NEGATIVE


def _show(invocation: Invocation, op_id: int, limit: int, json: bool) -> int:
    with invocation.reading() as memory:
        operation, changes = memory.view.operation(op_id), memory.view.changes_of(op_id, limit=limit)
        titles = memory.view.titles(changes)
        before = memory.backups.before(op_id)
        undone_by, undoes = (
            None if other is None else memory.view.operation(other)
            for other in (operation.undone_by, operation.undoes)
        )
    if json:
        emit({"operation": operation, "changes": changes})
    else:
        _print_operations([operation])
        for label, line in undo_notes(operation, undone_by, undoes, time.time()):
            out(row("   ", paint(label, "dim"), drawn(line)))
        rows = [cells for pair in zip(changes, titles, strict=True) for cells in change_rows(*pair)]
        for cells_line in table(rows) if rows else ():
            out(row("   ", cells_line))
        if before is not None:
            note(f"To bring back what was there before it: memtui restore {before.path.name}")
        if operation.rows > len(changes):
            err(f"and {count(operation.rows - len(changes))} more rows: --limit shows them")
    return OK


def _print_operations(operations: list[Operation]) -> None:
    rows = []
    for operation in operations:
        state = f"undone by {operation.undone_by}" if operation.state == "undone" else operation.state
        label = paint(operation.label, *(("dim",) if operation.state == "undone" else ()))
        rows.append(
            (str(operation.op_id), age(operation.at), who(operation.actor), changed(operation), state, label)
        )
    for line in table(rows, right=(0, 1, 3)):
        out(line)
    if not operations:
        err("no operations")
