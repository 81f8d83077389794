"""``memtui sessions``: the conversations, and the transcript of one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import NotFoundError
from memtui.ui.format import count, local_time, plural

from .errors import NEGATIVE, OK
from .lines import age, glyphs, sign
from .output import brief, emit, err, out, paint, printed_cells, row, table
from .root import Command, json_option, pass_door

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord, Session
    from memtui.ui.glyphs import Glyphs

    from .door import Door

_LISTED = 20
_TURNS_AT_ONCE = 500


@click.command("sessions", cls=Command)
@click.argument("text", nargs=-1, metavar="[TEXT|ID]")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), help="At most so many.  [default: 20; all turns of one]"
)
@json_option
@pass_door
def sessions_command(door: Door, text: tuple[str, ...], limit: int | None, json: bool) -> int:
    """List the sessions, the latest first; with an ID print its transcript.

    TEXT keeps those whose title, id, source or project contain it. Exit code 1 when there is none.
    """
    wanted = " ".join(text)
    with door.reading() as memory:
        session = _session(memory, wanted)
        if session is None:
            found = memory.view.sessions(text=wanted, limit=limit or _LISTED)
            left = memory.view.count_sessions(wanted) - len(found)
        else:
            turns = _turns(memory, session.session_id, limit)
    if session is not None:
        if json:
            emit({"session": session, "turns": turns})
        else:
            _tell_transcript(session, turns, glyphs(door))
        return OK
    if json:
        emit({"sessions": found})
    else:
        _tell_sessions(found, left)
    return OK if found else NEGATIVE


def _session(memory: Memory, identity: str) -> Session | None:
    try:
        return memory.view.session(identity) if identity else None
    except NotFoundError:
        return None


def _turns(memory: Memory, identity: str, limit: int | None) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    while limit is None or len(found) < limit:
        wanted = _TURNS_AT_ONCE if limit is None else min(limit - len(found), _TURNS_AT_ONCE)
        some = memory.view.transcript(identity, offset=len(found), limit=wanted)
        found += some
        if len(some) < wanted:
            break
    return found


def _tell_sessions(found: list[Session], left: int) -> None:
    rows = [
        (age(one.last_seen_at), plural(one.turns, "turn"), paint(one.session_id, "dim"), one.project or "")
        for one in found
    ]
    for one, line in zip(found, table(rows, right=(0, 1)) if rows else [], strict=True):
        out(row(line, brief(name, printed_cells(line) + 2)) if (name := one.title or one.opening) else line)
    if not found:
        err("no sessions")
    elif left > 0:
        err(f"and {count(left)} more: --limit shows them")


def _tell_transcript(session: Session, turns: list[MemoryRecord], signs: Glyphs) -> None:
    out(row(paint(session.name, "bold"), paint(session.session_id, "dim")))
    for turn in turns:
        out()
        when = local_time(turn.event_time, time.time())
        out(row(paint(turn.id, "dim"), sign(turn, signs), paint(turn.source_role or "", "bold"), when))
        out(turn.content)
    if len(turns) < session.turns:
        err(f"and {count(session.turns - len(turns))} more turns: --limit shows them")
