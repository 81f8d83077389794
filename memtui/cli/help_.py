"""``memtui help``: the same as --help."""

from __future__ import annotations

import click

from .errors import OK
from .output import out
from .root import COMMANDS, Command


@click.command("help", cls=Command)
@click.argument("command", required=False, type=click.Choice(tuple(COMMANDS)), metavar="[COMMAND]")
@click.pass_context
def help_command(context: click.Context, command: str | None) -> int:
    """Show help for memtui, or for one COMMAND."""
    root = context.find_root()
    if command is None:
        out(root.get_help())
        return OK
    assert isinstance(root.command, click.Group)
    command_found = root.command.get_command(root, command)
    assert command_found is not None
    out(click.Context(command_found, info_name=command, parent=root).get_help())
    return OK
