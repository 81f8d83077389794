"""``memtui status``: what waits for a decision, and what agents were given today. ``--line`` is made without click."""

from __future__ import annotations

import time

import click

from memtui.present.status import agent_lines, pause_text, status_line

from .invocation import Invocation
from .output import out, paint, print_json, row
from .root import Command, json_option, pass_invocation


@click.command("status", cls=Command)
@click.option(
    "--line", "short", is_flag=True, help="On one line, for a shell's prompt or an agent's status line."
)
@json_option
@pass_invocation
def status_command(invocation: Invocation, short: bool, json: bool) -> None:
    """Show how many cards wait in Review, and what agents were told since midnight.

    --line counts contradictions, what two devices decided differently, quarantined texts,
    change requests of agents, and what was drawn from corrected memories.
    Without --line duplicates, names, fading and new facts are counted too, which takes longer.

    \b
    memtui status --line          3 to review, 31 memories told today
    memtui status --line --json   the same for a script
    """
    with invocation.open_readonly() as memory:
        status = memory.view.status()
        every = 0 if json or short else len(memory.review.inbox(all=True).items)
    if json:
        print_json(status)
    elif short:
        out(status_line(status, time.time()))
    else:
        more = max(every - status.review, 0)
        out(
            row(
                "review",
                f"{status.review:,} to decide" + (f", and {more:,} that Review found" if more else ""),
            )
        )
        for index, one in enumerate(agent_lines(status) if status.served else ["nothing today"]):
            out(row("      " if index else "told  ", one))
        if status.pause:
            out(row("      ", paint(pause_text(status, time.time()), "yellow")))
