"""An HTTP transport that sends what it must and whose replies cannot grow without bound.

Import it where it is used: it loads the HTTP client.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache
from types import TracebackType

import httpx2

from memtui.engine.errors import DegradedError

# The client adds others of its own, and some from the environment that may be meant for another endpoint.
_SENT = frozenset(
    {"host", "connection", "accept", "accept-encoding", "authorization", "content-type", "content-length", "user-agent"}
)  # fmt: skip


@cache
def certificates() -> ssl.SSLContext:
    """What an endpoint's certificate is checked against. Reading them takes 25 ms or more: once, and not on an event loop."""
    return httpx2.create_ssl_context(trust_env=False)


class TooLargeError(Exception):
    """A reply went on beyond the cap."""


class CappedTransport(httpx2.AsyncBaseTransport):
    """Replies end with TooLargeError at ``limit`` bytes, or at once when they are packed: a packed one can grow.

    No proxy from the environment is used, and no connection is tried twice.
    """

    def __init__(self, limit: int) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=certificates(), retries=0, trust_env=False)
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for name in [name for name in request.headers if name.lower() not in _SENT]:
            del request.headers[name]
        reply = await self._inner.handle_async_request(request)
        assert isinstance(reply.stream, httpx2.AsyncByteStream)
        if reply.headers.get("content-encoding", "identity") != "identity":
            await reply.aclose()
            raise DegradedError(
                "The endpoint sent a packed reply though asked not to.", "Try another endpoint."
            )
        return httpx2.Response(
            reply.status_code,
            headers=reply.headers,
            stream=_Stream(reply.stream, self._limit),
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


class _Stream(httpx2.AsyncByteStream):
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
