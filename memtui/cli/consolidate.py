"""``memtui consolidate``: draw facts and observations from conversations, as one operation that can be undone."""

from __future__ import annotations

import asyncio
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from memtui.engine.errors import UsageError
from memtui.present.consolidation import (
    ACTIONS,
    cost_estimate,
    extractor_name,
    plan_line_text,
    session_outcome,
)
from memtui.present.format import format_count, plural
from memtui.present.memory import without_secrets

from .errors import CANCELLED, DEGRADED, OK
from .output import (
    cut_to_terminal,
    err,
    next_step,
    out,
    paint,
    paint_role,
    print_json,
    print_note,
    printed_cells,
    row,
)
from .progress import ProgressMeter, cancelled_by_signal
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.consolidation.plan import Consolidation, Plan, SessionOutcome
    from memtui.engine.memory import Memory

    from .invocation import Invocation

_WITHOUT = {"failed": "it stays pending", "nothing": "it has no new turns"}


@click.command("consolidate", cls=Command, option_of_words="--session")
@click.option(
    "--session", "sessions", metavar="ID", multiple=True, help="Only this session; may be repeated."
)
@click.option("--all", "every", is_flag=True, help="Also sessions that are still going on, or failed before.")
@click.option("--rules", is_flag=True, help="Use the rules, even if a language model is configured.")
@click.option("--again", is_flag=True, help="Read again what was read before, and write the difference.")
@click.option("--skip", is_flag=True, help="Mark the named sessions as done, without facts.")
@click.option("--preview", is_flag=True, help="Only show what would be written, with its sources.")
@json_option
@pass_invocation
def consolidate_command(
    invocation: Invocation, sessions: tuple[str, ...], every: bool, rules: bool, again: bool, skip: bool,
    preview: bool, json: bool,
) -> int:  # fmt: skip
    """Draw facts and observations from pending conversations.

    Without an option it reads all conversations that are over. With a language model, it shows the cost first.
    Ctrl+C stops and keeps what was written. "memtui undo" takes it back. Exit code 5 when a session failed: it stays
    pending, with the error. --rules also reads sessions that wait for a model, which can read them again later.

    --again reads with today's settings. What you corrected, confirmed, tagged or kept stays. What you forgot
    does not come back. Facts that are no longer drawn go to the Trash. --preview shows all this first; with --all
    also the lines that stay.
    """
    if sessions and every and not again:
        raise UsageError("--session and --all exclude each other.", "Leave one out.")
    if again and every and not preview:
        raise UsageError(
            "With --again, --all needs --preview: --again reads all sessions anyway.", "Leave one out."
        )
    if skip:
        if not sessions or preview or rules or again:
            raise UsageError(
                "--skip needs --session and no other option.", "memtui sessions lists the sessions."
            )
        return _skip_sessions(invocation, sessions, json)
    with invocation.open_existing(must_write=not preview) as memory:
        chosen = list(sessions) or (None if again else _sessions_to_read(memory, every=every, rules=rules))
        if not rules:
            _print_cost(memory, chosen, again=again)
        meter = ProgressMeter()

        def show_progress(done: int, total: int, session_id: str) -> None:
            meter.show(
                f"{done / total if total else 1:4.0%}  {format_count(done)} of {format_count(total)}  {session_id}"
            )

        with cancelled_by_signal() as cancelled:
            consolidation = asyncio.run(
                memory.sessions.consolidate(
                    chosen,
                    preview=preview,
                    rules=rules,
                    again=again,
                    progress=show_progress,
                    cancelled=cancelled,
                )
            )
            stopped = cancelled()
        meter.clear()
        if json:
            print_json(consolidation)
        else:
            _print_consolidation(memory, consolidation, preview, again, every)
            if not sessions and not every and not again:
                _print_left_out(memory, consolidation)
            if consolidation.rules_could and not again:
                named = "".join(f" --session {quote(one)}" for one in sessions)
                print_note(
                    f'"memtui consolidate --rules{named}" reads by rules now what the model left waiting'
                )
    return CANCELLED if stopped else DEGRADED if consolidation.failed else OK


def _sessions_to_read(memory: Memory, *, every: bool, rules: bool) -> list[str] | None:
    """The sessions to read; None for those that are due. With --rules also those that failed with a model."""
    if every:
        return [one.session_id for one in memory.sessions.pending()]
    if not rules:
        return None
    due = {one.session_id for one in memory.sessions.pending(due=True)}
    return [one.session_id for one in memory.sessions.pending() if one.last_error or one.session_id in due]


def _skip_sessions(invocation: Invocation, sessions: tuple[str, ...], json: bool) -> int:
    with invocation.open_existing(must_write=True) as memory:
        for session in sessions:
            memory.sessions.skip(session)
        rows = [memory.view.session_row(session) for session in sessions]
    if json:
        print_json({"sessions": [{"session_id": one.session.session_id, "state": one.state} for one in rows]})
    else:
        for one in rows:
            out(row(one.state, paint(one.session.session_id, "dim"), one.session.name))
    return OK


def _print_cost(memory: Memory, sessions: list[str] | None, *, again: bool) -> None:
    if not memory.options.llm.configured:
        return
    cost = memory.sessions.estimate(sessions, again=again)
    if not cost.turns:
        return
    print_note(cost_estimate(cost, memory.options.llm))


def _print_consolidation(
    memory: Memory, consolidation: Consolidation, preview: bool, again: bool, every: bool
) -> None:
    for outcome in consolidation.outcomes:
        if outcome.state == "stopped" and outcome.error:
            continue
        _print_session(outcome)
        if preview and outcome.plan is not None:
            _print_plan(memory, outcome.plan, every=every)
    for why, sessions in consolidation.left_waiting.items():
        err(f"{plural(sessions, 'session')} left waiting: {why}")
    if not consolidation.outcomes:
        waits = "no session is due" if memory.sessions.pending() else "no session waits"
        out("No session was read before." if again else waits)
        return
    would = "would become" if preview else "became"
    turns = plural(sum(plan.turns for plan in consolidation.plans), "turn")
    facts, notes = (
        plural(consolidation.total("added"), "fact"),
        plural(consolidation.total("observations"), "observation"),
    )
    spent = f", {format_count(consolidation.tokens)} tokens" if consolidation.tokens else ""
    summary = f"{turns} {would} {facts} and {notes}"
    if again:
        summary = (
            f"{turns} read again: {format_count(consolidation.total('added') + consolidation.total('observations'))} new, "
            f"{format_count(consolidation.total('reworded'))} reworded, {format_count(consolidation.total('retired'))} removed, "
            f"{format_count(consolidation.total('unchanged'))} unchanged"
        )
    out(row(paint(summary, "bold"), f"({extractor_name(consolidation.extractor)}{spent})", gap=" "))
    # A card may be about several facts; the same number as memtui status says.
    if consolidation.operation is not None and (waiting := len(memory.review.inbox(all=True).items)):
        print_note(f'{plural(waiting, "card waits", "cards wait")} in Review: "memtui review" lists them')
    if consolidation.operation is not None:
        out(row(" ", next_step(f"To undo it: memtui undo {consolidation.operation.op_id}")))


def _print_left_out(memory: Memory, consolidation: Consolidation) -> None:
    """Say which sessions wait and are not due. Otherwise it would look as if there were none."""
    read = {outcome.session_id for outcome in consolidation.outcomes if outcome.state != "failed"}
    waiting = [one for one in memory.sessions.pending() if one.session_id not in read]
    if failed := sum(one.last_error is not None for one in waiting):
        print_note(f"{plural(failed, 'session')} failed: memtui sessions shows why, --all tries again")
    if going_on := len(waiting) - failed:
        print_note(f"{plural(going_on, 'session')} may still go on: --all reads them now")


def _print_session(outcome: SessionOutcome) -> None:
    counted = (
        ("fact", outcome.added), ("observation", outcome.observations), ("known", outcome.reinforced),
        ("superseded", outcome.superseded), ("conflict", outcome.conflicts), ("quarantined", outcome.quarantined),
        ("reworded", outcome.reworded), ("removed", outcome.retired), ("unchanged", outcome.unchanged),
    )  # fmt: skip
    summary = outcome.plan is not None and outcome.plan.count("summary")
    counts_text = ", ".join(f"{number} {what}" for what, number in counted if number)
    counts_text = counts_text or ("only a summary" if summary else _WITHOUT.get(outcome.state, "nothing"))
    title = outcome.plan.session.title if outcome.plan is not None else None
    out(
        row(paint_role(*session_outcome(outcome)), paint(outcome.session_id, "dim"), title or "", counts_text)
    )
    for text in outcome.plan.notes if outcome.plan is not None else ():
        print_note(f"  {text}")
    if outcome.error:
        err(f"  {outcome.error}")


def _print_plan(memory: Memory, plan: Plan, *, every: bool = True) -> None:
    turns_by_id: dict[str, Any] = {}
    changed = [line for line in plan.lines if line.action != "unchanged"]
    for line in plan.lines if every else changed:
        word, role, _ = ACTIONS[line.action]
        if not line.accepted:
            word, role = "left out", "dim"
        line_start = row("   ", paint_role(word.ljust(13), role))
        out(row(line_start, cut_to_terminal(plan_line_text(line), printed_cells(line_start) + 2)))
        if line.known is not None:
            _print_below(f"{line.known} ({line.reason})" if line.reason else line.known)
            for one in line.also:
                _print_below(f"also: {one.known}")
            for one in line.meant:
                _print_below(f"or: {one.known}")
        elif line.reason and (line.action in ("quarantine", "unchanged") or not line.accepted):
            _print_below(line.reason)
        for source in line.sources[:3] if line.action != "unchanged" else ():
            turns_by_id.setdefault(source, memory.get(source))
            _print_below(f"from {source}: {without_secrets(turns_by_id[source])}")


def _print_below(text: str) -> None:
    out(row(" " * 18, paint(cut_to_terminal(text, 20), "dim")))
