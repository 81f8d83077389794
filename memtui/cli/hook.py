"""``memtui hook``: answer an agent's hooks. The program itself is ``memtui.hook.program``, which starts without
click.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from memtui.hook.program import CLIENTS

from .root import Command, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation


@click.command("hook", cls=Command)
@click.argument("client", type=click.Choice(CLIENTS))
@click.option(
    "--agent",
    metavar="NAME",
    help="The name in History and in the log of recalls.  [default: the client]",
)
@click.option("--project", metavar="NAME", help="Give memories of this project only, and record under it.")
@click.option("--filter", metavar="EXPR", help="Give and record only what passes: '-tag:private'.")
@pass_invocation
def hook_command(
    invocation: Invocation, client: str, agent: str | None, project: str | None, filter: str | None
) -> NoReturn:
    """Answer a hook of Claude Code, Codex or Gemini CLI: give it memories that fit, and record the turn.

    The client runs it with an event on standard input. At a prompt it prints the memories that fit and records
    the prompt; after an answer it records the answer. "memtui connect claude-code --hooks" installs it.

    It takes about 0.1 s and asks no model. The exit code is always 0, so that the agent is never blocked. If it
    fails, the reason is in the log ("memtui doctor" shows where).
    """
    from memtui.hook.program import run_hook

    invocation.check_options()
    options = {
        "--db": invocation.db,
        "--config": invocation.config,
        "--agent": agent or client,
        "--project": project,
        "--filter": filter,
    }
    flags = {"--readonly": invocation.readonly, "--allow-unsafe-fs": invocation.allow_unsafe_fs}
    run_hook(
        client,
        {name: value for name, value in options.items() if value is not None}
        | {name: "" for name, on in flags.items() if on},
    )
