"""What every request over HTTP passes before anything is answered: Host, Origin, token, rate, size.

The checks are those of ``access.admission``. A request is read only after its token was found right.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

import anyio.to_thread

from memtui.access.admission import Admission, Refused
from memtui.access.tokens import Token
from memtui.log import error_outline

from .surrogates import without_surrogates

PATH = "/mcp"
MOST_BYTES = 5_000_000
"""Of one request; the arguments of a call have 4 MB."""
BODY_SECONDS = 30.0
_HALF_CHARACTER = (b"\\ud", b"\\uD")
_log = logging.getLogger("memtui.access")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class HttpCaller(NamedTuple):
    """Who asks, as the token has it: the agent's name and scope. ``token_id`` is "" where none is needed."""

    token_id: str
    name: str
    project: str | None = None
    filter: str | None = None
    readonly: bool = False

    @classmethod
    def of_token(cls, token: Token) -> HttpCaller:
        return cls(token.id, token.name, token.project, token.filter, token.readonly)


Answer = Callable[[HttpCaller, Message, Receive, Send], Awaitable[None]]


class RequestGate:
    """An ASGI application that passes what may come in to ``answer``, with who asks.

    ``anonymous``: who asks without a token; None: nobody may.
    """

    def __init__(self, answer: Answer, admission: Admission, *, anonymous: HttpCaller | None = None) -> None:
        self._answer = answer
        self._admission = admission
        self._anonymous = anonymous

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers, address = _parse_headers(scope), ""
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            address = self._admission.caller_address(headers, _peer_address(scope))
            self._admission.check_headers(headers)
            _check_path(scope)
            caller = self._identify_caller(headers, address)
            body = await _read_body(headers, receive)
            if caller.token_id:
                self._admission.counts.count_admission(caller.token_id, address)
            await self._answer(caller, scope, _replay_body(body, receive), send_and_note)
        except Refused as refused:
            if refused.reason is not None:
                self._admission.counts.count_refusal(refused.reason, address)
            await _send_refusal(send, refused)
        except Exception as error:  # one request must not end the server; the log has it
            _log.error("a request failed: %s", error_outline(error))
            if not begun:
                await _send_refusal(send, Refused(500, "The memory could not answer. Its log says why."))

    def _identify_caller(self, headers: dict[str, list[str]], address: str) -> HttpCaller:
        """Who asks. Raises Refused without a right token, and for one that asks too often."""
        given = headers.get("authorization", [])
        if not given and self._anonymous is not None:
            return self._anonymous
        scheme, _, text = (given[0] if len(given) == 1 else "").partition(" ")
        return HttpCaller.of_token(
            self._admission.admit(text.strip() if scheme.lower() == "bearer" else "", address)
        )


def _peer_address(scope: Message) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "?"


def _parse_headers(scope: Message) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _check_path(scope: Message) -> None:
    """Clients look for other addresses and methods to see what a server has: that is no attack, and not counted."""
    if scope["path"].rstrip("/") != PATH:
        raise Refused(404, "There is nothing here.")
    if scope["method"] != "POST":
        raise Refused(405, "This server answers each request by itself: only POST.")


async def _read_body(headers: dict[str, list[str]], receive: Receive) -> bytes:
    """The whole body. Raises Refused if it is too large, or takes too long."""
    declared = headers.get("content-length", ["0"])[0]
    if not declared.isascii() or not declared.isdigit() or int(declared[:20]) > MOST_BYTES:
        raise _too_large_refusal()
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "The request was not complete.", "bad request")
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    raise _too_large_refusal()
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refused(408, "The request took too long.", "bad request") from None
    if any(half in body for half in _HALF_CHARACTER):
        return await anyio.to_thread.run_sync(_repair_json, bytes(body))
    return bytes(body)


def _too_large_refusal() -> Refused:
    return Refused(413, f"A request has at most {MOST_BYTES:,} bytes.", "too large")


def _repair_json(body: bytes) -> bytes:
    """JSON with stand-ins for half characters; what is no JSON is left to the SDK, which says so."""
    try:
        return json.dumps(without_surrogates(json.loads(body))).encode()
    except (ValueError, RecursionError):
        return body


def _replay_body(body: bytes, receive: Receive) -> Receive:
    waiting: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        return waiting.popleft() if waiting else await receive()

    return receive_again


async def _send_refusal(send: Send, refused: Refused) -> None:
    """An error of JSON-RPC, which clients show."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": refused.message}}
    body = json.dumps(error).encode()
    more = {401: (b"www-authenticate", b"Bearer"), 405: (b"allow", b"POST")}.get(refused.status)
    if refused.wait:
        more = (b"retry-after", str(refused.wait).encode())
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *([more] if more else []),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
