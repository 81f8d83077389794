"""``memtui mcp``: the memory as an MCP server on standard input and output."""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from memtui import paths
from memtui.engine.errors import DegradedError, StoreError
from memtui.engine.installation import command_for_dependency

from .errors import OK
from .output import print_note
from .root import Command, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.tools.base import Group

    from .invocation import Invocation


@click.command("mcp", cls=Command)
@click.option("--agent", metavar="NAME", default="mcp", show_default=True, help="Who signs the changes.")
@click.option("--project", metavar="NAME", help="It sees and writes only this project.")
@click.option("--filter", metavar="EXPR", help="It sees only what passes: '-tag:private'.")
@click.option("--tools", "more", type=click.Choice(["consolidator"]), help="Offer these tools as well.")
@click.option(
    "--no-recording", is_flag=True, help="Without the tool record_turn, for agents whose hooks record."
)
@click.option("--no-jobs", is_flag=True, help="Run no maintenance jobs.")
@pass_invocation
def mcp_command(
    invocation: Invocation,
    agent: str,
    project: str | None,
    filter: str | None,
    more: Group | None,
    no_recording: bool,
    no_jobs: bool,
) -> int:
    """Serve the memory to an agent over the Model Context Protocol, until it disconnects.

    memtui connect writes this command into an agent's configuration. Several servers and the app can run at
    the same time.
    """
    if find_spec("mcp") is None:
        raise DegradedError("The package mcp is not installed.", command_for_dependency("mcp"))
    gc.disable()  # garbage collection would take a tenth of the start and find nothing
    from memtui.engine.tools.agent import Agent

    with ExitStack() as stack:
        memory = _opened(invocation, agent, stack)
        who = Agent(memory, filter=filter, project=project)
        # Importing the SDK takes most of a second. Wrong options are reported before.
        from memtui.mcp.process import serve
        from memtui.mcp.server import DEFAULT_GROUPS, make_server

        server = make_server(
            who,
            (*DEFAULT_GROUPS, *([more] if more else [])),
            without=("record_turn",) if no_recording else (),
        )
        jobs = not (no_jobs or who.readonly or who.scoped) and _may_lead(invocation)
        gc.freeze()
        gc.enable()
        if sys.stdin.isatty():
            print_note(
                "This command is for MCP clients, on standard input. To connect one: memtui connect. Ctrl+C ends it."
            )
        serve(server, memory, jobs=jobs, at_end=stack.close)
    return OK


def _opened(invocation: Invocation, agent: str, stack: ExitStack) -> Memory:
    """The memory for this agent; ``stack`` closes it."""
    from memtui import log
    from memtui.engine.memory import Memory

    from .invocation import demo_file

    invocation.check()
    if not invocation.leaves_no_trace:
        log.start()
    path = stack.enter_context(demo_file()) if invocation.demo else invocation.path()
    if invocation.readonly and paths.is_missing(path):
        raise StoreError(f"There is no memory at {path}.", "Open it once without --readonly to create it.")
    if paths.is_missing(path):
        Memory.rescue(path).refuse_to_begin_anew()
    options = invocation.configuration.settings.options(
        allow_unsafe_fs=invocation.allow_unsafe_fs or invocation.demo
    )
    memory = Memory.open(path, actor=f"agent:{agent}", readonly=invocation.readonly, options=options)
    return stack.enter_context(memory)


def _may_lead(invocation: Invocation) -> bool:
    """Whether the settings let a server run the jobs.

    If a model is configured and a server may not use it, the app runs the jobs. Here rules would read a conversation,
    and it would count as read.
    """
    settings = invocation.configuration.settings
    return settings.mcp.jobs and (settings.mcp.model or not (settings.llm.base_url and settings.llm.model))
