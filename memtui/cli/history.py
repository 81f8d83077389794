"""``memtui history``: what was changed, by whom, and when."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import NotFoundError, UsageError
from memtui.engine.search.time_expressions import parse_past_time
from memtui.present.format import format_count, local_time, plural
from memtui.present.memory import version_differences, without_secrets
from memtui.present.operation import actor_name, change_count, quoted_query, tokens_saved, undo_notes
from memtui.present.past import coverage_notes, kind_counts, verb_label, verb_role

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import change_rows, memory_line, shown_glyphs, time_ago
from .output import (
    cut_to_terminal,
    err,
    out,
    paint,
    paint_line,
    paint_role,
    print_json,
    print_note,
    printed_cells,
    row,
    table,
)
from .root import Command, OperationNumber, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord, Operation, Recall
    from memtui.engine.records.history import PastChange
    from memtui.present.glyphs import Glyphs


_AT_ONCE = 500


def print_recalls(
    memory: Memory, words: str, *, actor: str | None, since: str | None, until: str | None, limit: int, signs: Glyphs,
    json: bool,
) -> int:  # fmt: skip
    """Print the recalls, latest first, each with its memories. ``since``, ``until``: leave out earlier and later ones."""
    recalls = _find_latest_recalls(memory, words, actor, since, until, limit)
    served = [(recall, _known_memories(memory, recall)) for recall in recalls]
    if json:
        print_json({"recalls": [{"recall": recall, "memories": memories} for recall, memories in served]})
        return OK if recalls else NEGATIVE
    now = time.time()
    for recall, memories in served:
        line_start = row(
            local_time(recall.at, now),
            paint(actor_name(recall.agent), "bold"),
            paint(recall.session_id or "", "dim"),
        )
        out(row(line_start, cut_to_terminal(quoted_query(recall), printed_cells(line_start) + 2)))
        for one in memories:
            out(memory_line(one, signs, "    "))
        if recall.saved:
            out(row("    ", paint(f"saved {tokens_saved(recall)}", "dim")))
        if gone := len(recall.memory_ids) - len(memories):
            out(row("    ", paint(f"and {gone} no longer there", "dim")))
    if not recalls:
        narrowed = words or actor or since or until
        err(
            "no recall passes that: --filter takes words, --since a time"
            if narrowed
            else "Agents were told nothing."
        )
    return OK if recalls else NEGATIVE


def _find_latest_recalls(
    memory: Memory, words: str, actor: str | None, since: str | None, until: str | None, limit: int
) -> list[Recall]:
    last = None if until is None else parse_past_time(until, time.time())
    first = 0 if since is None else parse_past_time(since, time.time())
    agent = actor.removeprefix("agent:") if actor else None
    recalls: list[Recall] = []
    offset = 0
    while len(recalls) < limit:
        some = memory.view.recall_list.page(words, offset=offset, limit=_AT_ONCE)
        offset += len(some)
        recalls += [
            one.recall
            for one in some
            if first <= one.recall.at
            and (last is None or one.recall.at <= last)
            and agent in (None, one.recall.agent)
        ]
        if len(some) < _AT_ONCE or some[-1].recall.at < first:
            break
    return recalls[:limit]


def _known_memories(memory: Memory, recall: Recall) -> list[MemoryRecord]:
    memories = []
    for id in recall.memory_ids:
        try:
            memories.append(memory.get(id))
        except NotFoundError:
            continue  # the memory was undone since
    return memories


_BESIDE = 24


def print_as_of(memory: Memory, when: str, words: str, *, limit: int, signs: Glyphs, json: bool) -> int:
    past = memory.history.as_of(when)
    counts, total, shown = past.counts(), past.count(words), past.page(words, limit=limit)
    if json:
        print_json(
            {"at": past.at, "coverage": past.coverage, "counts": counts, "found": total, "memories": shown}
        )
        return OK if shown else NEGATIVE
    now = time.time()
    out(row(paint("as of", "dim"), local_time(past.at, now), paint(kind_counts(counts), "dim")))
    for one in shown:
        out(memory_line(one, signs))
    if total > len(shown):
        err(f"and {format_count(total - len(shown))} more: --limit shows them")
    for line in coverage_notes(past.coverage, now):
        print_note(line)
    return OK if shown else NEGATIVE


def print_diff(memory: Memory, start: str, end: str, *, limit: int, signs: Glyphs, json: bool) -> int:
    diff = memory.history.diff(start, end, limit=limit)
    if json:
        print_json(diff)
        return OK if diff.counts or diff.turns else NEGATIVE
    now = time.time()
    out(
        row(
            paint("from", "dim"),
            local_time(diff.start, now),
            paint("to", "dim"),
            local_time(diff.end, now),
            gap=" ",
        )
    )
    totals = [f"{format_count(number)} {verb_label(verb)}" for verb, number in diff.counts.items()]
    totals += [f"{plural(number, 'turn')} {verb_label(verb)}" for verb, number in diff.turns.items()]
    out(", ".join(totals) or "nothing changed")
    for change in diff.changes:
        _print_change(change, signs)
    if diff.more:
        err(f"and {format_count(diff.more)} more: --limit shows them")
    for line in coverage_notes(diff.coverage, now):
        print_note(line)
    return OK if totals else NEGATIVE


def _print_change(change: PastChange, signs: Glyphs) -> None:
    one = change.memory
    word = paint_role(verb_label(change.verb).ljust(11), verb_role(change.verb))
    old, new = change.before, change.after
    out(memory_line(one, signs, word))
    if old is None or new is None:
        return
    if old.content != new.content:
        out(row("           - was", cut_to_terminal(without_secrets(old), _BESIDE)))
    for label, was, now, _ in version_differences(old, new):
        out(f"           - {label}: {was} -> {now}")


_ACTORS = ("person", "scheduler", "import", "external")


@click.command("history", cls=Command)
@click.argument("op_id", type=OperationNumber(), required=False)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--actor",
    metavar="WHO",
    help="Only changes by WHO: you, the name of an agent, scheduler, import, external.",
)
@click.option("--since", metavar="TIME", help='Only after that time: 2026-03-03, "last tuesday", 2d.')
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
    invocation: Invocation, op_id: int | None, limit: int, actor: str | None, since: str | None, as_of: str | None,
    diff: tuple[str, str] | None, recalls: bool, words: str, json: bool,
) -> int:  # fmt: skip
    """List the operations, newest first. With OP_ID show what it changed, row by row.

    \b
    memtui history --since 7d --actor coach        what one did in a week
    memtui history --as-of 2026-03-03              what was remembered then
    memtui history --diff "last monday" now        added, corrected, forgotten since
    memtui history --recalls --as-of 15:02         what agents were told, up to then
    """
    if sum(one is not None for one in (op_id, as_of, diff)) > 1:
        raise UsageError("OP_ID, --as-of and --diff exclude each other.", "Choose one.")
    if recalls and (op_id is not None or diff is not None):
        raise UsageError(
            "--recalls cannot be combined with OP_ID or --diff.", "For example --recalls --as-of 15:02"
        )
    if since is not None and (op_id is not None or diff is not None or (as_of is not None and not recalls)):
        raise UsageError(
            "--since narrows the list of changes, or --recalls.", f"What changed: --diff {since!r} now"
        )
    if words and as_of is None and not recalls:
        raise UsageError(
            "--filter needs --as-of or --recalls.", "For example --as-of yesterday --filter kind:fact"
        )
    if recalls:
        with invocation.open_readonly() as memory:
            return print_recalls(
                memory,
                words,
                actor=actor,
                since=since,
                until=as_of,
                limit=limit,
                signs=shown_glyphs(invocation),
                json=json,
            )
    if as_of is not None or diff is not None:
        with invocation.open_readonly() as memory:
            if diff is not None:
                return print_diff(memory, *diff, limit=limit, signs=shown_glyphs(invocation), json=json)
            return print_as_of(
                memory, as_of or "", words, limit=limit, signs=shown_glyphs(invocation), json=json
            )
    return (
        _print_operation_list(invocation, limit, actor, since, json)
        if op_id is None
        else _print_operation(invocation, op_id, limit, json)
    )


def _print_operation_list(
    invocation: Invocation, limit: int, actor: str | None, since: str | None, json: bool
) -> int:
    first = 0 if since is None else parse_past_time(since, time.time())
    if actor is not None and actor not in _ACTORS and not actor.startswith(("agent:", "device:")):
        actor = "person" if actor == "you" else f"agent:{actor}"
    with invocation.open_readonly() as memory:
        # The latest come first, so those that are too old are at the end.
        operations = [one for one in memory.view.operations(limit=limit, actor=actor) if one.at >= first]
    if json:
        print_json({"operations": operations})
    else:
        _print_operations(operations, f" of {actor_name(actor)}" if actor else "")
    return OK if operations else NEGATIVE


def _print_operation(invocation: Invocation, op_id: int, limit: int, json: bool) -> int:
    with invocation.open_readonly() as memory:
        operation, changes = memory.view.operation(op_id), memory.view.changes_of(op_id, limit=limit)
        titles = memory.view.titles(changes)
        before = memory.backups.before(op_id)
        undone_by, undoes = (
            None if other is None else memory.view.operation(other)
            for other in (operation.undone_by, operation.undoes)
        )
    if json:
        print_json({"operation": operation, "changes": changes})
    else:
        _print_operations([operation])
        for label, line in undo_notes(operation, undone_by, undoes, time.time()):
            out(row("   ", paint(label, "dim"), paint_line(line)))
        rows = [cells for pair in zip(changes, titles, strict=True) for cells in change_rows(*pair)]
        for cells_line in table(rows) if rows else ():
            out(row("   ", cells_line))
        if before is not None:
            print_note(f"To bring back what was there before it: memtui restore {before.path.name}")
        if operation.rows > len(changes):
            err(f"and {format_count(operation.rows - len(changes))} more rows: --limit shows them")
    return OK


def _print_operations(operations: list[Operation], whose: str = "") -> None:
    rows = []
    for operation in operations:
        state = f"undone by {operation.undone_by}" if operation.state == "undone" else operation.state
        label = paint(operation.label, *(("dim",) if operation.state == "undone" else ()))
        rows.append(
            (
                str(operation.op_id),
                time_ago(operation.at),
                actor_name(operation.actor),
                change_count(operation),
                state,
                label,
            )
        )
    for line in table(rows, right=(0, 1, 3)):
        out(line)
    if not operations:
        err(f"no operations{whose}")
