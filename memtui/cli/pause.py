"""``memtui pause``: stop recording conversations for a while."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError

from .errors import OK
from .invocation import Invocation
from .output import next_step, out, print_json, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import NeverKind


@click.command("pause", cls=Command)
@click.argument("when", nargs=-1, metavar="[TIME]")
@click.option("--off", is_flag=True, help="Record again.")
@click.option("--client", metavar="NAME", help="Never record this client: claude-code, codex.")
@click.option("--project", metavar="NAME", help="Never record this project.")
@click.option("--folder", metavar="PATH", help="Never record in this folder and its subfolders.")
@click.option("--subject", metavar="WORDS", help="Never record a sentence with these words: 'bank account'.")
@click.option("--show", is_flag=True, help="Only show whether memtui records.")
@json_option
@pass_invocation
def pause_command(
    invocation: Invocation, when: tuple[str, ...], off: bool, client: str | None, project: str | None, folder: str | None,
    subject: str | None, show: bool, json: bool,
) -> int:  # fmt: skip
    """Stop recording: for a while, until a time, or until you end it.

    \b
    memtui pause                 until memtui pause --off
    memtui pause 1h              also 90m, 2 days
    memtui pause until 18:00     also tomorrow, monday, 2026-03-03
    memtui pause --project boat  never record this project (--off: again)
    memtui pause --subject 'bank account'
                                 never record what has these words in a sentence

    It holds for every program that uses this memory: hooks, watched sessions, MCP, the Agents SDK, Python.
    What they send is counted and not kept. Later imports leave it out too. Agents can still read. What you
    write yourself (memtui remember, the app) is kept.
    """
    path = None if folder is None else str(Path(folder).expanduser().absolute())
    named: list[tuple[NeverKind, str]] = [
        (kind, name) for kind, name in _excluded_kind(client, project, path, subject) if name is not None
    ]
    if off + show + bool(when) > 1 or (named and (show or when)):
        raise UsageError("A time, --off and --show exclude each other.", "memtui pause 1h")
    if show:
        with invocation.open_readonly() as memory:
            state = memory.recording.state()
    else:
        with invocation.open_existing(must_write=True) as memory:
            before = memory.recording.state()
            if named:
                for kind, name in named:
                    change = memory.recording.no_longer_never if off else memory.recording.never
                    state = change(kind, name)
            else:
                state = memory.recording.resume() if off else memory.recording.pause(" ".join(when) or None)
    if json:
        print_json({"recording": state})
    else:
        from memtui.present.status import never_recorded_lines, pause_ended_line, paused_line

        out(pause_ended_line(before) if off and not named else paused_line(state, time.time()))
        for line in never_recorded_lines(state):
            out(line)
        if subject is not None and not off:
            out(row("  ", next_step(f"What is there already stays: memtui list {shlex.quote(subject)}")))
    return OK


def _excluded_kind(
    client: str | None, project: str | None, folder: str | None, subject: str | None
) -> tuple[tuple[NeverKind, str | None], ...]:
    return ("client", client), ("project", project), ("folder", folder), ("subject", subject)
