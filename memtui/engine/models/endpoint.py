"""Calls of OpenAI-compatible endpoints: address, key, connection, size limits, errors.

Texts go only to an address that is https or on this machine; no redirect is followed, no proxy or header of the
environment is used, and a reply cannot grow without bound. Faults are described by what they do, and without the text of
the reply: it may repeat the key or what was sent.
"""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Protocol
from urllib.parse import urlsplit

from memtui.engine.errors import DegradedError, InputError

if TYPE_CHECKING:
    import openai


import ssl
from functools import cache
from types import TracebackType

import httpx2

# The client adds others of its own, and some from the environment that may be meant for another endpoint.
_SENT = frozenset(
    {"host", "connection", "accept", "accept-encoding", "authorization", "content-type", "content-length", "user-agent"}
)  # fmt: skip


@cache
def trusted_certificates() -> ssl.SSLContext:
    """What an endpoint's certificate is checked against. Reading them takes 25 ms or more: once, and not on an event loop."""
    return httpx2.create_ssl_context(trust_env=False)


class TooLargeError(Exception):
    """A reply went on beyond the cap."""


class CappedTransport(httpx2.AsyncBaseTransport):
    """Replies end with TooLargeError at ``limit`` bytes, or at once when they are packed: a packed one can grow.

    No proxy from the environment is used, and no connection is tried twice.
    """

    def __init__(self, limit: int) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=trusted_certificates(), retries=0, trust_env=False)
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for name in [name for name in request.headers if name.lower() not in _SENT]:
            del request.headers[name]
        reply = await self._inner.handle_async_request(request)
        assert isinstance(reply.stream, httpx2.AsyncByteStream)
        if reply.headers.get("content-encoding", "identity") != "identity":
            await reply.aclose()
            raise DegradedError(
                "The endpoint sent a compressed reply, which was not asked for.", "Try another endpoint."
            )
        return httpx2.Response(
            reply.status_code,
            headers=reply.headers,
            stream=_CappedStream(reply.stream, self._limit),
            extensions=reply.extensions,
        )

    async def __aenter__(self) -> CappedTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._inner.__aexit__(exc_type, exc_value, traceback)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > self._limit:
                raise TooLargeError
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


LARGEST_REPLY = 4 << 20


class EndpointAddress(Protocol):
    """Where an endpoint is. ``section``: of the settings it comes from; hints name it."""

    section: ClassVar[str]

    @property
    def base_url(self) -> str: ...

    @property
    def key_env(self) -> str: ...
    @property
    def key_confirmed(self) -> str: ...


class EndpointError(DegradedError):
    """The endpoint does not answer, or rejects the key: every other call would fail too."""


class AddressError(InputError):
    """The settings name no endpoint that may be asked."""


UNUSABLE = (EndpointError, AddressError)
"""What is wrong with the endpoint as a whole: a run that meets it need not ask any further."""


class RefusedError(DegradedError):
    """What was asked is no good there; something else may be."""


class TooLongError(DegradedError):
    """The text was too long for the model. ``refused``: it was turned down at once; otherwise the answer was cut off."""

    def __init__(self, message: str, *, refused: bool) -> None:
        super().__init__(message, "Choose a model with a longer context.")
        self.refused = refused


def check_address(address: EndpointAddress) -> str:
    """The host. Raises AddressError for an address that is not https (or on this machine), or that carries a key."""
    try:
        url = urlsplit(address.base_url)
        host, _ = url.hostname or "", url.port
    except ValueError:
        url, host = urlsplit(""), ""
    if url.scheme not in ("http", "https") or not host:
        # It may hold a key, so it is not repeated.
        raise AddressError(
            f"{address.section}.base_url is not the address of an endpoint.",
            "For example https://api.openai.com/v1.",
        )
    if url.username or url.password or url.query or url.fragment:
        raise AddressError(
            "The address of the endpoint contains a name, a key or a query.",
            f"Put the key into the environment variable {address.key_env}.",
        )
    if url.scheme == "http" and not is_loopback(host):
        raise AddressError(
            f"{host} would be reached without encryption.", "Use https, or a server on this machine."
        )
    return host


def check_endpoint(address: EndpointAddress, environ: Mapping[str, str] | None = None) -> str:
    """The key to use. Raises AddressError for an unusable address, EndpointError without a key."""
    host = check_address(address)
    key = (os.environ if environ is None else environ).get(address.key_env, "").strip()
    if not key and not is_loopback(host):
        raise EndpointError(
            f"There is no key for {host}.", f"Set the environment variable {address.key_env}."
        )
    if not key.isascii() or any(character.isspace() for character in key):
        raise EndpointError(
            f"The key in {address.key_env} is not a usable key.",
            "It contains blanks or characters that keys do not have.",
        )
    if key and address.key_confirmed and host_of(address.base_url) != address.key_confirmed.lower():
        raise EndpointError(
            f"The key in {address.key_env} is not for {host_of(address.base_url)}.",
            f"Confirm the address in the settings, or set {address.section}.key_confirmed.",
        )
    return key or "none"


def host_of(base_url: str) -> str:
    """The host of an address, with its port where it has one; "" for what is no address."""
    try:
        return urlsplit(base_url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def preload_module(module: str) -> None:
    """Import what a call needs. Half a second the first time: neither a deadline's business nor an event loop's."""
    import_module(module)

    trusted_certificates()


@asynccontextmanager
async def client_for(
    address: EndpointAddress, key: str, timeout: float, largest: int = LARGEST_REPLY
) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client for a call. ``timeout``: seconds for each step; the whole needs a deadline of its own."""
    import httpx2
    import openai

    async with httpx2.AsyncClient(
        transport=CappedTransport(largest), follow_redirects=False, trust_env=False, timeout=timeout,
        headers={"Accept-Encoding": "identity"},
    ) as http:  # fmt: skip
        yield openai.AsyncOpenAI(
            api_key=key, base_url=address.base_url, max_retries=0, timeout=timeout, http_client=http,
            default_headers={"Authorization": f"Bearer {key}"},
        )  # fmt: skip


TOO_LONG = ("context", "too long", "too many tokens")
"""Words of a refusal that is about the length of the text."""
# The key, the address or the credit, not what was asked.
_FOR_ANY_CALL = frozenset({401, 402, 403, 404, 429})
_REFUSED_KEY = {401: "Check the key in {key_env}.", 403: "Check the key in {key_env} and what it may do."}


def explain_error(
    error: BaseException, address: EndpointAddress, refused: str, largest: int = LARGEST_REPLY
) -> DegradedError:
    """What went wrong, without the text of the reply. ``refused``: what to do when the request is no good there."""

    host, section = urlsplit(address.base_url).hostname or address.base_url, address.section
    chain = _causes_of(error)
    for one in chain:
        if isinstance(one, DegradedError):
            return one
        if isinstance(one, TooLargeError):
            return DegradedError(f"{host} sent more than {largest >> 20} MB.", f"Check {section}.base_url.")
    status = http_status(error)
    if status is not None:
        if status == 413 or (status in (400, 422) and refusal_mentions(error, *TOO_LONG)):
            return TooLongError(f"{host} says that the text is too long ({status}).", refused=True)
        kind_of = RefusedError if status in (400, 422) else DegradedError
        if 300 <= status < 400 or status in _FOR_ANY_CALL:
            kind_of = EndpointError
        fault = kind_of(*_message_and_hint(status, host, address, refused))
        fault.wait = _retry_after(error)
        return fault
    kind, hint = type(chain[-1]).__name__, f"Is it running? Check {section}.base_url."
    if any(type(one).__name__ in ("ConnectError", "ConnectTimeout") for one in chain):
        return EndpointError(f"{host} cannot be reached ({kind}).", hint)
    if any("Connect" in type(one).__name__ or isinstance(one, OSError) for one in chain):
        return DegradedError(f"{host} closed the connection ({kind}).", hint)
    return DegradedError(f"{host} gave no usable reply ({kind}).", "Try again, or choose another model.")


def _message_and_hint(status: int, host: str, address: EndpointAddress, refused: str) -> tuple[str, str]:
    section = address.section
    if 300 <= status < 400:
        return f"{host} points to another address ({status}).", f"Set {section}.base_url to the right one."
    if status in (401, 403):
        return f"{host} refused the key ({status}).", _REFUSED_KEY[status].format(key_env=address.key_env)
    if status == 404:
        hint = f"Check {section}.base_url (it usually ends in /v1) and {section}.model."
        return f"{host} does not know the model or the address (404).", hint
    if status == 429:
        hint = "Wait; the next try comes by itself."
        return f"{host} has too many requests, or the credit is used up (429).", hint
    if status in (400, 422):
        return f"{host} refused the request ({status}).", refused
    return f"{host} {'is out of order' if status >= 500 else 'refused'} ({status}).", "Try again later."


def _retry_after(error: BaseException) -> int:
    """The seconds that the header Retry-After asks for, as a number or a date; 0 where it does not."""
    responses = (getattr(one, "response", None) for one in _causes_of(error))
    headers_of_responses = (getattr(response, "headers", None) for response in responses)
    headers: Mapping[str, str] = next((one for one in headers_of_responses if one is not None), {})
    value = str(headers.get("retry-after", "")).strip()
    if value.isascii() and value.isdigit():
        return int(value[:6])
    from email.utils import parsedate_to_datetime

    try:
        return max(0, round(parsedate_to_datetime(value).timestamp() - time.time()))
    except (TypeError, ValueError):
        return 0


def http_status(error: BaseException) -> int | None:
    """The HTTP status that an error came of, if it came of one."""
    statuses = (getattr(one, "status_code", None) for one in _causes_of(error))
    return next((one for one in statuses if isinstance(one, int)), None)


def refusal_mentions(error: BaseException, *signs: str) -> bool:
    """Whether an endpoint's refusal has one of these words: each says it in its own way."""
    words = (getattr(one, name, None) for one in _causes_of(error) for name in ("code", "type", "message"))
    folded_words = [word.casefold() for word in words if isinstance(word, str)]
    return any(sign in word for word in folded_words for sign in signs)


def _causes_of(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and len(chain) < 10:
        chain.append(at)
        at = at.__cause__ or at.__context__
    return chain
