"""``memtui hook``: what an agent calls by itself. As it is called, ``memtui.hook.program`` runs before click is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from .root import Command, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation


@click.command("hook", cls=Command)
@click.argument("client", type=click.Choice(["claude-code"]))
@click.option(
    "--agent",
    metavar="NAME",
    help="The name that History and the log of recalls show.  [default: the client]",
)
@click.option("--project", metavar="NAME", help="Give memories of this project only, and record under it.")
@click.option("--filter", metavar="EXPR", help="Give and record only what passes: '-tag:private'.")
@pass_invocation
def hook_command(
    invocation: Invocation, client: str, agent: str | None, project: str | None, filter: str | None
) -> NoReturn:
    """Give Claude Code the memories that bear on a prompt, and record the prompt and the answer.

    Claude Code runs it by itself, with an event on standard input: at a prompt it prints the memories that fit and
    records the prompt as a turn, after an answer it records the answer. memtui connect claude-code --hooks
    installs it. It takes a tenth of a second, asks no model, and always ends with exit code 0: why it did nothing
    stands in the log (memtui doctor tells where that is).
    """
    from memtui.hook.program import run

    invocation.check()
    given = {
        "--db": invocation.db,
        "--config": invocation.config,
        "--agent": agent or client,
        "--project": project,
        "--filter": filter,
    }
    flags = {"--readonly": invocation.readonly, "--allow-unsafe-fs": invocation.allow_unsafe_fs}
    run(
        {name: value for name, value in given.items() if value is not None}
        | {name: "" for name, on in flags.items() if on}
    )
