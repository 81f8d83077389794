"""``memtui pause``: nothing that is said is recorded for a while."""

from __future__ import annotations

import time

import click

from memtui.engine.errors import UsageError

from .door import Door
from .errors import OK
from .output import emit, out
from .root import Command, json_option, pass_door


@click.command("pause", cls=Command)
@click.argument("when", nargs=-1, metavar="[TIME]")
@click.option("--off", is_flag=True, help="Record again.")
@click.option("--show", is_flag=True, help="Only tell whether it is recorded.")
@json_option
@pass_door
def pause_command(door: Door, when: tuple[str, ...], off: bool, show: bool, json: bool) -> int:
    """Record nothing that is said, for a span of time, until a time, or until you end it.

    \b
    memtui pause                 until memtui pause --off
    memtui pause 1h              also 90m, 2 days
    memtui pause until 18:00     also tomorrow, monday, 2026-03-03

    It holds for every program that uses this memory: hooks, followed sessions, MCP, the Agents SDK, Python. They are
    told so, and what they bring is counted and not kept; importing their sessions later leaves it out too. Agents go on
    reading. What you write down yourself (memtui remember, the app) is kept.
    """
    if off + show + bool(when) > 1:
        raise UsageError("A time, --off and --show exclude each other.", "memtui pause 1h")
    if show:
        with door.reading() as memory:
            found = memory.recording.state()
    else:
        with door.existing(must_write=True) as memory:
            before = memory.recording.state()
            found = memory.recording.resume() if off else memory.recording.pause(" ".join(when) or None)
    if json:
        emit({"recording": found})
    else:
        from memtui.present.recording import ended_line, paused_line

        out(ended_line(before) if off else paused_line(found, time.time()))
    return OK
