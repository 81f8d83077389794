"""``memtui serve``: the app in a browser, for reading only.

textual-serve answers every request. Here each address begins with a secret, which is new at each start and known only
to the person who started it. A page of another site, open in the same browser, could still ask through the loopback
address: so requests from another origin, or that reached us under a foreign name, are refused as well.

Beyond this machine an address alone is not enough, because it is kept in histories and logs. There a page asks for a
token (``memtui tokens add NAME --browser``) and gives the browser a cookie, which ends with the token.
"""

from __future__ import annotations

import asyncio
import secrets
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtui.engine.errors import DegradedError, InputError, MemtuiError, StoreError, UsageError
from memtui.engine.installation import command_for_extra

from .listening import ListenAddress, checked_address, listening_options
from .output import out, print_note
from .root import Command, pass_invocation

if TYPE_CHECKING:
    from memtui.access.admission import Admission
    from memtui.access.tokens import Token

    from .invocation import Invocation

PORT = 8000
COOKIE = "memtui"
SAVE_SECONDS = 2.0
_LONGEST_TOKEN = 200
_LOGIN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>memtui</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:16px monospace;margin:20vh auto;max-width:30em;padding:1em}}input,button{{font:inherit;padding:.3em}}</style>
<form method="post" action="/"><p><label for="token">Token for this memory</label></p>
<p><input id="token" name="token" type="password" autocomplete="current-password" autofocus required>
<button>Open</button></p><p role="alert">{said}</p></form></html>
"""


@click.command("serve", cls=Command)
@listening_options(PORT)
@pass_invocation
def serve_command(
    invocation: Invocation, host: str, port: int, cert: Path | None, key: Path | None, behind_proxy: bool,
    allow_host: tuple[str, ...],
) -> None:  # fmt: skip
    """Show the app in a browser, where nothing can be changed.

    The printed address has a new secret at each start. Anyone with the whole address can read
    everything; requests without it get no answer. The app there writes no settings, exports nothing, starts no editor and
    asks no endpoint.

    Beyond this machine it needs TLS (--cert and --key, or --behind-proxy), and asks for a token:
    memtui tokens add NAME --browser.
    """
    address = checked_address(host, port, cert, key, behind_proxy, allow_host)
    command = browser_tab_command(invocation)
    from memtui.access.admission import Admission
    from memtui.access.counts import AdmissionCounts
    from memtui.access.ports import listening_socket
    from memtui.access.tokens import TokenFile

    counts = AdmissionCounts(kept=not invocation.leaves_no_trace)
    admission = Admission(
        address.listening,
        TokenFile(),
        invocation.memory_path(),
        counts,
        kind="browser",
        behind_proxy=behind_proxy,
    )
    admitter = RequestAdmitter(admission, address)
    if invocation.demo and admitter.asks_for_token:
        raise UsageError("The demo is shown on this machine only.", "Leave out --host and --behind-proxy.")
    server = _make_server(command, admitter)
    with listening_socket(host, address.port) as listening:
        url = address.url(listening.getsockname()[1])
        out(f"{url}/" if admitter.asks_for_token else f"{url}/{admitter.secret}/")
        if admitter.asks_for_token:
            print_note("it asks for a token. To make one: memtui tokens add NAME --browser")
        else:
            print_note("open this address in a browser, and give it to nobody else")
        print_note("Ctrl+C ends the server")
        sys.stdout.flush()
        server.listening = listening
        server.serve()


class RequestAdmitter:
    """Who may see the app. ``secret`` begins every address; beyond this machine a cookie is needed as well."""

    def __init__(self, admission: Admission, address: ListenAddress) -> None:
        self.admission = admission
        self.listen_address = address
        self.secret = secrets.token_urlsafe(24)
        self.asks_for_token = not address.listening.on_loopback or address.behind_proxy
        self.encrypted = address.certificate is not None or address.behind_proxy
        self._let_in: dict[str, Token] = {}

    def caller_address(self, request: Any) -> str:
        return self.admission.caller_address(_request_headers(request), request.remote or "?")

    def check_request(self, request: Any) -> None:
        """Raises Refused for a request that does not come from a page of ours, or that may not see the app.

        A browser tells the origin of every WebSocket; a page that is opened by its address has none.
        """
        from memtui.access.admission import Refused

        headers = _request_headers(request)
        self.admission.check_headers(headers)
        first, _, rest = request.path.removeprefix("/").partition("/")
        if self.asks_for_token and not first:
            return  # the page that asks for the token
        if not compare_digest(first.encode(), self.secret.encode()):
            raise Refused(403, "The address lacks the secret that memtui serve printed.", "no token")
        if rest == "ws" and not headers.get("origin"):
            raise Refused(403, "Pages of other sites may not ask.", "foreign origin")
        if self.asks_for_token and not self.has_valid_cookie(request):
            raise Refused(401, "Open the first page, and give a token.", "no token")

    def admit_token(self, given: str, address: str) -> str:
        """The cookie for whoever gave a right token. Raises Refused."""
        token = self.admission.admit(given[:_LONGEST_TOKEN], address)
        self.admission.counts.count_admission(token.id, address)
        cookie = secrets.token_urlsafe(32)
        self._let_in[cookie] = token
        return cookie

    def has_valid_cookie(self, request: Any) -> bool:
        """Whether the cookie of a request is one of ours, and its token was not revoked."""
        if not self.asks_for_token:
            return True
        token = self._let_in.get(request.cookies.get(COOKIE, ""))
        try:
            return token is not None and self.admission.tokens.still_opens(token)
        except MemtuiError:
            return False


def _request_headers(request: Any) -> dict[str, list[str]]:
    return {name.lower(): request.headers.getall(name) for name in request.headers}


def _tls_context(address: ListenAddress) -> Any:
    """What TLS needs; None for plain HTTP. Raises InputError for files that cannot be used."""
    if address.certificate is None:
        return None
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(*address.certificate)
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"The certificate cannot be used: {error.strerror or error}.",
            "--cert names a PEM file with the certificate and its chain, --key one with its key.",
        ) from None
    return context


def _make_server(command: str, keeper: RequestAdmitter) -> Any:
    """The server, with its checks before it. Raises DegradedError without the package."""
    try:
        import aiohttp_jinja2  # type: ignore[import-not-found, unused-ignore]
        from aiohttp import web  # type: ignore[import-not-found, unused-ignore]
        from textual_serve.server import Server, to_int  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        hint = command_for_extra("serve")
        raise DegradedError("The package textual-serve is not installed.", hint) from None

    from memtui.access.admission import Refused

    context = _tls_context(keeper.listen_address)

    @web.middleware  # type: ignore[untyped-decorator, unused-ignore]
    async def guard_request(request: Any, handler: Any) -> Any:
        try:
            keeper.check_request(request)
            return await handler(request)
        except Refused as refused:
            if refused.reason is not None:
                keeper.admission.counts.count_refusal(refused.reason, keeper.caller_address(request))
            more = {"Retry-After": str(refused.wait)} if refused.wait else {}
            if request.path == "/" and keeper.asks_for_token:
                return login_page(refused.message, status=refused.status, headers=more)
            return web.Response(text=refused.message, status=refused.status, headers=more)

    async def add_security_headers(request: Any, response: Any) -> None:
        for name, value in security_headers(request.host, encrypted=keeper.encrypted).items():
            response.headers[name] = value

    def login_page(said: str, **options: Any) -> Any:
        return web.Response(text=_LOGIN.format(said=said), content_type="text/html", **options)

    async def show_login_page(request: Any) -> Any:
        return login_page("")

    async def log_in(request: Any) -> Any:
        """A browser tells the origin of every form that it sends: without one it is no page of ours."""
        if not request.headers.get("Origin"):
            raise Refused(403, "Pages of other sites may not ask.", "foreign origin")
        given = (await request.post()).get("token", "")
        cookie = keeper.admit_token(given if isinstance(given, str) else "", keeper.caller_address(request))
        answer = web.Response(status=303, headers={"Location": f"/{keeper.secret}/"})
        answer.set_cookie(COOKIE, cookie, httponly=True, secure=True, samesite="Strict", path="/")
        return answer

    async def save_counts_regularly(app: Any) -> Any:
        """Counts go to their file now and then, and at the end."""
        counts = keeper.admission.counts

        async def now_and_then() -> None:
            while True:
                await asyncio.sleep(SAVE_SECONDS)
                await asyncio.to_thread(counts.save_counts)

        saving = asyncio.create_task(now_and_then())
        yield
        saving.cancel()
        counts.save_counts(last=True)

    class Guarded(Server):  # type: ignore[misc, unused-ignore]
        listening: Any = None

        async def _make_app(self) -> Any:
            app = web.Application(middlewares=[guard_request], client_max_size=16_384)
            app.on_response_prepare.append(add_security_headers)
            app.cleanup_ctx.append(save_counts_regularly)
            if keeper.asks_for_token:
                app.add_routes([web.get("/", show_login_page), web.post("/", log_in)])
            app.add_subapp(f"/{keeper.secret}", await super()._make_app())
            return app

        def serve(self, debug: bool = False) -> None:
            """Textual-serve's own knows no certificate."""
            web.run_app(
                self._make_app(), sock=self.listening, ssl_context=context, print=None, access_log=None
            )

        async def handle_index(self, request: Any) -> Any:
            """The page of textual-serve, whose addresses are those under which it was asked for."""
            context = {
                "font_size": to_int(request.query.get("fontsize", "16"), 16),
                "app_websocket_url": f"{_websocket_url(keeper.encrypted)}://{request.host}/{keeper.secret}/ws",
                "config": {"static": {"url": f"/{keeper.secret}/static/"}},
                "application": {"name": self.title},
            }
            return aiohttp_jinja2.render_template("app_index.html", request, context)

        async def handle_websocket(self, request: Any) -> Any:
            """An app that is open ends with the token that opened it."""
            shown = asyncio.create_task(super().handle_websocket(request))
            try:
                while not (await asyncio.wait([shown], timeout=1.0))[0]:
                    if not keeper.has_valid_cookie(request):
                        break
            finally:
                if not shown.done():
                    shown.cancel()
                    with suppress(asyncio.CancelledError):
                        await shown
            return shown.result()

        async def on_startup(self, app: Any) -> None:
            """Textual-serve's own repeats the command line."""

    return Guarded(
        command, host=keeper.listen_address.listening.host, port=keeper.listen_address.port, title="memtui"
    )


def _websocket_url(encrypted: bool) -> str:
    return "wss" if encrypted else "ws"


def security_headers(host: str, *, encrypted: bool) -> Mapping[str, str]:
    """What a browser is told: no frame, no other site, no referrer, no copy kept."""
    return {
        "Content-Security-Policy": (
            "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data:; connect-src 'self' {_websocket_url(encrypted)}://{host}; frame-ancestors 'none'; "
            "base-uri 'none'; form-action 'self'"
        ),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def browser_tab_command(invocation: Invocation) -> str:
    """The shell line that every browser tab starts. Raises StoreError when there is no memory to show."""
    from memtui import paths

    invocation.check_options()
    line = [sys.executable, "-P", "-m", "memtui", "--readonly"]
    if invocation.demo:
        line.append("--demo")
    else:
        path = invocation.memory_path()
        if paths.is_surely_missing(path):
            raise StoreError(f"There is no memory at {path}.", "Open it once with memtui to create it.")
        line += ["--db", str(path.absolute())]
    if invocation.allow_unsafe_fs:
        line.append("--allow-unsafe-fs")
    if invocation.config:
        line += ["--config", invocation.config]
    return shlex.join(line)
