"""``memtui sessions``: the conversations, and the transcript of one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from memtui.engine.errors import NotFoundError
from memtui.present.format import format_count, local_time, plural
from memtui.present.session import (
    consolidation_failure,
    consolidation_status,
    session_facts,
    session_state,
    speaker_name,
    turn_note,
)

from .errors import NEGATIVE, OK
from .memory_lines import (
    memory_line,
    memory_sign,
    print_cautions,
    print_what_changed,
    shown_glyphs,
    time_ago,
)
from .output import cut_to_terminal, err, out, paint, paint_role, print_json, printed_cells, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, MemoryRecord, Replacement
    from memtui.engine.records.lists import SessionRow
    from memtui.present.glyphs import Glyphs

    from .invocation import Invocation

_LISTED = 20
_TURNS_AT_ONCE = 500


@click.command("sessions", cls=Command)
@click.argument("text", nargs=-1, metavar="[TEXT|ID]")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), help="At most this many.  [default: 20; all turns of one]"
)
@json_option
@pass_invocation
def sessions_command(invocation: Invocation, text: tuple[str, ...], limit: int | None, json: bool) -> int:
    """List the sessions, latest first. With an ID print the transcript.

    With TEXT list only sessions whose title, id, source or project contains it. Exit code 1 when there is none.
    """
    words = " ".join(text)
    with invocation.open_readonly() as memory:
        named = _find_session(memory, words)
        model = memory.options.llm.model if memory.options.llm.configured else ""
        if named is None:
            sessions = memory.view.session_list
            rows = sessions.page(words, order="time", limit=limit or _LISTED)
            more = sessions.count(words) - len(rows)
        else:
            turns = _list_turns(memory, named.session.session_id, limit)
            ids = [one.id for one in turns]
            drawn_facts = memory.view.drawn(ids)
            facts = [fact.id for those in drawn_facts.values() for fact in those]
            cautions, replaced = memory.view.cautions(ids), memory.view.replacements(facts)
    if named is not None:
        if json:
            print_json(
                {
                    "session": named.session,
                    "state": named.state,
                    "turns": turns,
                    "cautions": cautions,
                    "facts": drawn_facts,
                    "replacements": replaced,
                }
            )
        else:
            _print_transcript(named, turns, cautions, drawn_facts, replaced, shown_glyphs(invocation), model)
        return OK
    if json:
        print_json({"sessions": [asdict(one.session) | {"state": one.state} for one in rows]})
    else:
        _print_sessions(rows, more, model, words)
    return OK if rows else NEGATIVE


def _find_session(memory: Memory, session_id: str) -> SessionRow | None:
    try:
        return memory.view.session_row(session_id) if session_id else None
    except NotFoundError:
        return None


def _list_turns(memory: Memory, session_id: str, limit: int | None) -> list[MemoryRecord]:
    turns: list[MemoryRecord] = []
    while limit is None or len(turns) < limit:
        page_size = _TURNS_AT_ONCE if limit is None else min(limit - len(turns), _TURNS_AT_ONCE)
        some = memory.view.transcript(session_id, offset=len(turns), limit=page_size)
        turns += some
        if len(some) < page_size:
            break
    return turns


def _print_sessions(session_rows: list[SessionRow], more: int, model: str, words: str) -> None:
    rows = [
        (time_ago(one.session.last_seen_at), plural(one.session.turns, "turn"), paint_role(*session_state(one, model)),
         paint(one.session.session_id, "dim"), one.session.project or "")
        for one in session_rows
    ]  # fmt: skip
    for one, line in zip(session_rows, table(rows, right=(0, 1)) if rows else [], strict=True):
        name = one.session.title or one.session.opening
        out(row(line, cut_to_terminal(name, printed_cells(line) + 2)) if name else line)
        _print_failure(one)
    if any(one.state == "failed" for one in session_rows):
        err('"memtui consolidate --rules" reads by rules now what a model left waiting')
    if model and any(one.session.by_rules for one in session_rows):
        err(f'"memtui consolidate --again --session ID" lets {model} read what rules have read')
    if not session_rows and words:
        err(f"error: There is no session {words!r}, and none has that in its title, source or project.")
        err("hint: memtui sessions lists them all.")
    elif not session_rows:
        err("no sessions")
    elif more > 0:
        err(f"and {format_count(more)} more: --limit shows them")


def _print_failure(one: SessionRow) -> None:
    if error := consolidation_failure(one):
        out(row("    ", paint(cut_to_terminal(error, 6), "red")))


def _print_transcript(
    named: SessionRow, turns: list[MemoryRecord], cautions: Mapping[str, Sequence[Caution]],
    drawn_facts: Mapping[str, Sequence[MemoryRecord]], replaced: Mapping[str, Sequence[Replacement]], signs: Glyphs,
    model: str,
) -> None:  # fmt: skip
    session = named.session
    out(
        row(
            paint(session.name, "bold"),
            paint(session.session_id, "dim"),
            paint_role(*session_state(named, model)),
        )
    )
    out(paint(", ".join(session_facts(session, time.time())), "dim"))
    out(paint_role(*consolidation_status(named, time.time())))
    _print_failure(named)
    for turn in turns:
        out()
        when = local_time(turn.event_time, time.time())
        note = paint_role(*turn_note(turn, session.consolidated_through))
        special = (note,) if note else ()
        out(
            row(
                paint(turn.id, "dim"),
                memory_sign(turn, signs),
                paint(speaker_name(turn), "bold"),
                when,
                *special,
            )
        )
        print_cautions(cautions.get(turn.id, ()))
        out(turn.content)
        for fact in drawn_facts.get(turn.id, ()):
            out(memory_line(fact, signs, " "))
            print_what_changed(fact, (), replaced.get(fact.id, ()), undecided_only=True)
    if len(turns) < session.turns:
        err(f"and {format_count(session.turns - len(turns))} more turns: --limit shows them")
