"""``memtui show``: everything about one memory."""

from __future__ import annotations

import click

from .invocation import Invocation
from .memory_lines import glyphs
from .output import emit
from .root import Command, json_option, pass_invocation


@click.command("show", cls=Command)
@click.argument("id")
@json_option
@pass_invocation
def show_command(invocation: Invocation, id: str, json: bool) -> None:
    """Show everything about the memory ID: text, sources, what was drawn from it, and its changes."""
    from .memory_details import Portrait, portray

    with invocation.reading() as memory:
        detail = memory.view.detail(id)
    if json:
        emit(Portrait.of(detail))
    else:
        portray(detail, glyphs(invocation))
