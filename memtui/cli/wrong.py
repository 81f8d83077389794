"""``memtui wrong``: what agents were told last, by session, to correct or forget what was wrong."""

from __future__ import annotations

import time

import click

from memtui.engine.errors import UsageError
from memtui.present.format import local_time
from memtui.present.operation import actor_name, quoted_query

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .memory_lines import memory_line, print_what_changed, shown_glyphs
from .output import err, out, paint, print_json, print_note, row
from .root import Command, json_option, pass_invocation


@click.command("wrong", cls=Command)
@click.option("--agent", metavar="NAME", help="Only what this agent was told.")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 200),
    default=5,
    show_default=True,
    help="At most this many sessions.",
)
@json_option
@pass_invocation
def wrong_command(invocation: Invocation, agent: str | None, limit: int, json: bool) -> int:
    """List what agents were told last, by agent and session. Exit code 1 if there is nothing.

    \b
    memtui wrong
    memtui correct ID "What is right"     or: memtui forget ID
    memtui withhold ID --agent NAME       not for this agent any more
    memtui correct ID --dry-run           what depends on it, first
    """
    if agent is not None and not agent.strip():
        raise UsageError("The name of the agent is empty.", "memtui wrong lists them.")
    with invocation.open_readonly() as memory:
        served_lists = memory.view.last_served(200)
        named = agent.removeprefix("agent:") if agent else None
        served_lists = [one for one in served_lists if named in (None, one.agent)][:limit]
        ids = [served.id for one in served_lists for served in one.memories]
        cautions, replaced = memory.view.cautions(ids), memory.view.replacements(ids)
    if json:
        print_json({"recalls": served_lists, "cautions": cautions, "replacements": replaced})
        return OK if served_lists else NEGATIVE
    signs = shown_glyphs(invocation)
    for one in served_lists:
        out(
            row(
                local_time(one.at, time.time()),
                paint(actor_name(one.agent), "bold"),
                paint(one.session_id or "", "dim"),
            )
        )
        memories = {memory.id: memory for memory in one.memories}
        for answer in one.answers:
            out(paint(f"  {quoted_query(answer)}", "cyan"))
            for id in answer.memory_ids:
                out(memory_line(memories[id], signs, "   "))
                print_what_changed(memories[id], cautions.get(id, ()), replaced.get(id, ()))
    if served_lists:
        print_note(
            'To put it right: memtui correct ID "TEXT", or memtui forget ID (--dry-run: what depends on it).'
        )
        print_note("To keep it from one agent: memtui withhold ID --agent NAME.")
    else:
        err("No agent was told anything that you still keep.")
    return OK if served_lists else NEGATIVE
