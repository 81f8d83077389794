"""``memtui serve``: the app in a browser, for reading only."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import DegradedError, StoreError

from .output import note
from .root import Command, pass_door

if TYPE_CHECKING:
    from .door import Door

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@click.command("serve", cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@pass_door
def serve_command(door: Door, host: str, port: int) -> None:
    """Show the app in a browser, where nothing can be changed.

    There is no password: whoever reaches the address can read everything.
    """
    command = reading_command(door)
    try:
        from textual_serve.server import Server  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        hint = f"{sys.executable} -m pip install textual-serve"
        raise DegradedError("The package textual-serve is not installed.", hint) from None
    if host not in LOOPBACK:
        note(f"there is no password: everybody who reaches {host}:{port} can read this memory")
    Server(command, host=host, port=port, title="memtui").serve()


def reading_command(door: Door) -> str:
    """The shell line that every browser tab starts. Raises StoreError when there is no memory to show."""
    from memtui import paths

    door.check()
    line = [sys.executable, "-m", "memtui", "--readonly"]
    if door.demo:
        line.append("--demo")
    else:
        path = door.path()
        if paths.is_missing(path):
            raise StoreError(f"There is no memory at {path}.", "Open it once with memtui to create it.")
        line += ["--db", str(path.absolute())]
    if door.allow_unsafe_fs:
        line.append("--allow-unsafe-fs")
    if door.config:
        line += ["--config", door.config]
    return shlex.join(line)
