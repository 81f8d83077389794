"""What every request over HTTP passes before anything is answered: Host, Origin, token, rate, size.

A refusal says the same whatever the reason about the token, and tells nothing of the memory. Each is counted.
A request is read only after its token was found right. Whoever asks with a wrong token too often waits; a right one is let in
all the same, so that nobody can lock an agent out. Guessing is hopeless without that limit.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

import anyio.to_thread

from memtui.access.counts import Counts, Reason
from memtui.access.headers import Listening, is_named, is_same_place
from memtui.access.limits import Limit
from memtui.access.tokens import Token, TokenFile, place_of
from memtui.engine.errors import MemtuiError
from memtui.log import outline

from .surrogates import without_surrogates

PATH = "/mcp"
MOST_BYTES = 5_000_000
"""Of one request; the arguments of a call have 4 MB."""
MOST_FAILURES = 20
"""Wrong tokens a minute from one address, before it is told to wait."""
BODY_SECONDS = 30.0
_HALF_CHARACTER = (b"\\ud", b"\\uD")
_log = logging.getLogger("memtui.access")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Caller(NamedTuple):
    """Who asks, as the token has it: the agent's name and scope. ``token_id`` is "" where none is needed."""

    token_id: str
    name: str
    project: str | None = None
    filter: str | None = None
    readonly: bool = False

    @classmethod
    def of(cls, token: Token) -> Caller:
        return cls(token.id, token.name, token.project, token.filter, token.readonly)


class Refused(Exception):  # noqa: N818 - it is an answer
    """A request that is not answered. ``reason`` is counted, if there is one; ``message`` is sent."""

    def __init__(self, status: int, message: str, reason: Reason | None = None, *, wait: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason: Reason | None = reason
        self.headers: list[tuple[bytes, bytes]] = []
        if status == 401:
            self.headers = [(b"www-authenticate", b"Bearer")]
        elif status == 405:
            self.headers = [(b"allow", b"POST")]
        elif wait:
            self.headers = [(b"retry-after", str(wait).encode())]


Answer = Callable[[Caller, Message, Receive, Send], Awaitable[None]]


class Gate:
    """An ASGI application that passes what may come in to ``answer``, with who asks.

    ``memory``: the path of the memory that a token must be for. ``anonymous``: who asks without a token; None: nobody
    may. ``behind_proxy``: the proxy in front says who asks, and whether its own connection is encrypted.
    ``per_minute``: requests for each token; 0: no limit.
    """

    def __init__(
        self, answer: Answer, *, listening: Listening, tokens: TokenFile, memory: Path, counts: Counts,
        anonymous: Caller | None = None, behind_proxy: bool = False, per_minute: int = 0,
    ) -> None:  # fmt: skip
        self._answer = answer
        self._listening = listening
        self._tokens = tokens
        self._place = place_of(memory)
        self._counts = counts
        self._anonymous = anonymous
        self._behind_proxy = behind_proxy
        self._requests = Limit(per_minute)
        self._failures = Limit(MOST_FAILURES)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers, address = _headers(scope), ""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            address = self._address(scope, headers)
            self._check_headers(headers)
            _check_path(scope)
            caller = await self._caller(headers, address)
            body = await _body(headers, receive)
            self._counts.let_in(caller.token_id, address)
            await self._answer(caller, scope, _replayed(body, receive), sending)
        except Refused as refused:
            if refused.reason is not None:
                self._counts.refuse(refused.reason, address)
            await _refuse(send, refused)
        except Exception as error:  # one request must not end the server; the log has it
            _log.error("a request failed: %s", outline(error))
            if not begun:
                await _refuse(send, Refused(500, "The memory could not answer. Its log says why."))

    def _address(self, scope: Message, headers: dict[str, list[str]]) -> str:
        """Who asks; behind a proxy as that has it. Only counts and the limit for failures go by it."""
        if self._behind_proxy and (forwarded := headers.get("x-forwarded-for")):
            return forwarded[-1].rpartition(",")[2].strip()[:64]
        client = scope.get("client")
        return str(client[0]) if client else "?"

    def _check_headers(self, headers: dict[str, list[str]]) -> None:
        """Raise Refused for a request that was meant for another server, or sent by a page of another site."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not is_named(hosts[0], self._listening):
            raise Refused(421, "This server does not go by that name.", "foreign host")
        if origins and not (len(origins) == 1 and is_same_place(origins[0], hosts[0])):
            raise Refused(403, "Pages of other sites may not ask.", "foreign origin")
        if self._behind_proxy and headers.get("x-forwarded-proto", ["https"])[-1].strip().lower() == "http":
            raise Refused(403, "Only encrypted connections are answered.", "not encrypted")

    async def _caller(self, headers: dict[str, list[str]], address: str) -> Caller:
        """Who asks. Raises Refused without a right token, and for one that asks too often."""
        given = headers.get("authorization", [])
        if not given and self._anonymous is not None:
            return self._anonymous
        scheme, _, text = (given[0] if len(given) == 1 else "").partition(" ")
        try:
            found = self._tokens.check(text.strip() if scheme.lower() == "bearer" else "", self._place)
        except MemtuiError:
            raise Refused(503, "Nobody is let in now.", "tokens cannot be read") from None
        if not isinstance(found, Token):
            wait = self._failures.wait(address)
            if wait:
                raise Refused(429, "Too many failed attempts.", "too many failures", wait=wait)
            raise Refused(401, "A token of this memory is needed.", found)
        wait = self._requests.wait(found.id)
        if wait:
            raise Refused(429, "Too many requests in this minute.", "too many requests", wait=wait)
        return Caller.of(found)


def _headers(scope: Message) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _check_path(scope: Message) -> None:
    """Clients look for other addresses and methods to see what a server has: that is no attack, and not counted."""
    if scope["path"].rstrip("/") != PATH:
        raise Refused(404, "There is nothing here.")
    if scope["method"] != "POST":
        raise Refused(405, "This server answers each request by itself: only POST.")


async def _body(headers: dict[str, list[str]], receive: Receive) -> bytes:
    """The whole body. Raises Refused if it is too large, or takes too long."""
    declared = headers.get("content-length", ["0"])[0]
    if not declared.isascii() or not declared.isdigit() or int(declared[:20]) > MOST_BYTES:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "The request was not complete.", "bad request")
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    raise _too_large()
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refused(408, "The request took too long.", "bad request") from None
    if any(half in body for half in _HALF_CHARACTER):
        return await anyio.to_thread.run_sync(_repaired, bytes(body))
    return bytes(body)


def _too_large() -> Refused:
    return Refused(413, f"A request has at most {MOST_BYTES:,} bytes.", "too large")


def _repaired(body: bytes) -> bytes:
    """JSON with stand-ins for half characters; what is no JSON is left to the SDK, which says so."""
    try:
        return json.dumps(without_surrogates(json.loads(body))).encode()
    except (ValueError, RecursionError):
        return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Message:
        return waiting.popleft() if waiting else await receive()

    return replay


async def _refuse(send: Send, refused: Refused) -> None:
    """An error of JSON-RPC, which clients show."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": refused.message}}
    body = json.dumps(error).encode()
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *refused.headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
