"""``memtui completion``: the script that teaches a shell our commands."""

from __future__ import annotations

import os
from pathlib import Path

import click

from memtui.engine.errors import UsageError

from . import COMPLETE_VARIABLE
from .root import Command, memtui_group

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Command)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def completion_command(shell: str | None) -> int:
    """Print the completion script of SHELL (else of $SHELL).

    \b
    bash, zsh:  eval "$(memtui completion)"       in ~/.bashrc, ~/.zshrc
    fish:       memtui completion fish | source   in ~/.config/fish/config.fish
    """
    from click.shell_completion import shell_complete

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UsageError("The shell is not known.", f"Name one of {', '.join(SHELLS)}.")
    return shell_complete(memtui_group, {}, "memtui", COMPLETE_VARIABLE, f"{name}_source")
