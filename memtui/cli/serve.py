"""``memtui serve``: the app in a browser, for reading only.

textual-serve answers every request. Here each address begins with a token, which is new at each start and known only
to the person who started it. A page of another site, open in the same browser, could still ask through the loopback
address: so requests from another origin, or that reached us under a foreign name, are refused as well.
"""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from memtui.engine.errors import DegradedError, StoreError
from memtui.engine.installation import command_for_extra

from .output import out, print_note
from .root import Command, pass_invocation

if TYPE_CHECKING:
    from .invocation import Invocation

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANYWHERE = ("0.0.0.0", "::", "")


@click.command("serve", cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@pass_invocation
def serve_command(invocation: Invocation, host: str, port: int) -> None:
    """Show the app in a browser, where nothing can be changed.

    The printed address has a new token at each start. Anyone with the whole address can read
    everything; requests without it get no answer. The app there writes no settings, exports nothing, starts no editor and
    asks no endpoint.
    """
    command = reading_command(invocation)
    token = secrets.token_urlsafe(24)
    server = _server(command, host, port, token)
    if host not in LOOPBACK:
        print_note(
            f"other machines can reach {host}:{port}. What is shown travels without encryption: whoever can read along "
            "in that network sees the memory, and the token"
        )
    name = f"[{host}]" if ":" in host else host
    out(f"http://{name}:{port}/{token}/")
    print_note("open this address in a browser, and give it to nobody else; Ctrl+C ends the server")
    sys.stdout.flush()
    server.serve()


def _server(command: str, host: str, port: int, token: str) -> Any:
    """The server, with the check of token and origin. Raises DegradedError without the package."""
    try:
        import aiohttp_jinja2  # type: ignore[import-not-found, unused-ignore]
        from aiohttp import web  # type: ignore[import-not-found, unused-ignore]
        from textual_serve.server import Server, to_int  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        hint = command_for_extra("serve")
        raise DegradedError("The package textual-serve is not installed.", hint) from None

    @web.middleware  # type: ignore[untyped-decorator, unused-ignore]
    async def guard(request: Any, handler: Any) -> Any:
        if not may_ask(request.path, request.headers, host, port, token):
            raise web.HTTPForbidden(text="The address lacks the token that memtui serve printed.")
        return await handler(request)

    async def protect(request: Any, response: Any) -> None:
        for name, value in protection(request.host).items():
            response.headers[name] = value

    class Guarded(Server):  # type: ignore[misc, unused-ignore]
        async def _make_app(self) -> Any:
            app = web.Application(middlewares=[guard])
            app.on_response_prepare.append(protect)
            app.add_subapp(f"/{token}", await super()._make_app())
            return app

        async def handle_index(self, request: Any) -> Any:
            """The page of textual-serve, whose addresses are those under which it was asked for."""
            context = {
                "font_size": to_int(request.query.get("fontsize", "16"), 16),
                "app_websocket_url": f"ws://{request.host}/{token}/ws",
                "config": {"static": {"url": f"/{token}/static/"}},
                "application": {"name": self.title},
            }
            return aiohttp_jinja2.render_template("app_index.html", request, context)

        async def on_startup(self, app: Any) -> None:
            """Textual-serve's own repeats the command line."""

        def initialize_logging(self) -> None:
            """Textual-serve's own shows the local variables of every frame."""

    return Guarded(command, host=host, port=port, title="memtui")


def protection(host: str) -> Mapping[str, str]:
    """What a browser is told: no frame, no other site, no referrer, no copy kept."""
    return {
        "Content-Security-Policy": (
            "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none'; "
            "form-action 'none'"
        ),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def may_ask(path: str, headers: Mapping[str, str], bound: str, port: int, token: str) -> bool:
    """Whether a request has the token and comes from a page of ours on ``bound``:``port``.

    A browser tells the origin of every WebSocket; a page that is opened by its address has none.
    """
    first, _, rest = path.removeprefix("/").partition("/")
    if not compare_digest(first.encode(), token.encode()):
        return False
    origin = headers.get("Origin", "")
    return bool(origin or rest != "ws") and is_ours(headers.get("Host", ""), origin, bound, port)


def is_ours(host: str, origin: str, bound: str, port: int) -> bool:
    """Whether ``Host`` is a name of ours, and ``Origin``, if there is one, the very same place."""
    try:
        host_url, origin_url = urlsplit(f"//{host}"), urlsplit(origin)
        ports = {host_url.port or 80, port} | ({origin_url.port or 80} if origin else set())
    except ValueError:
        return False
    if len(ports) > 1 or (
        origin and (origin_url.scheme != "http" or origin_url.hostname != host_url.hostname)
    ):
        return False
    if bound in LOOPBACK:
        return host_url.hostname in LOOPBACK
    return bool(host_url.hostname) and (bound in ANYWHERE or host_url.hostname == bound.lower())


def reading_command(invocation: Invocation) -> str:
    """The shell line that every browser tab starts. Raises StoreError when there is no memory to show."""
    from memtui import paths

    invocation.check()
    line = [sys.executable, "-P", "-m", "memtui", "--readonly"]
    if invocation.demo:
        line.append("--demo")
    else:
        path = invocation.path()
        if paths.is_missing(path):
            raise StoreError(f"There is no memory at {path}.", "Open it once with memtui to create it.")
        line += ["--db", str(path.absolute())]
    if invocation.allow_unsafe_fs:
        line.append("--allow-unsafe-fs")
    if invocation.config:
        line += ["--config", invocation.config]
    return shlex.join(line)
