"""``memtui serve``: the app in a browser, for reading only.

textual-serve answers whoever asks. A page of another site, open in the same browser, could ask too and read
the memory through the loopback address: so requests are refused that come from another origin, or that
reached us under a foreign name.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
    server = _server(command, host, port)
    if host not in LOOPBACK:
        note(f"there is no password: everybody who reaches {host}:{port} can read this memory")
    server.serve()


def _server(command: str, host: str, port: int) -> Any:
    """A server that guards its door; DegradedError without the package."""
    try:
        from aiohttp import web  # type: ignore[import-not-found, unused-ignore]
        from textual_serve.server import Server  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        hint = f"{sys.executable} -m pip install textual-serve"
        raise DegradedError("The package textual-serve is not installed.", hint) from None

    async def guard(request: Any, handler: Any) -> Any:
        if not may_ask(request.headers.get("Host", ""), request.headers.get("Origin", ""), host, port):
            raise web.HTTPForbidden(text="memtui answers its own pages only.")
        return await handler(request)

    class Guarded(Server):  # type: ignore[misc, unused-ignore]
        async def _make_app(self) -> Any:
            app = await super()._make_app()
            app.middlewares.append(web.middleware(guard))
            return app

        def initialize_logging(self) -> None:
            """Textual-serve's own shows the local variables of every frame."""

    return Guarded(command, host=host, port=port, title="memtui")


def may_ask(host: str, origin: str, bound: str, port: int) -> bool:
    """Whether a request with these headers comes from a page of ours on ``bound``:``port``."""
    asked = urlsplit(f"//{host}")
    came = urlsplit(origin)
    try:
        ports = {asked.port or 80, port} | ({came.port or 80} if origin else set())
    except ValueError:
        return False
    if len(ports) > 1 or (origin and came.scheme != "http"):
        return False
    if bound in LOOPBACK:
        return asked.hostname in LOOPBACK and (not origin or came.hostname in LOOPBACK)
    return not origin or came.hostname == asked.hostname


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
