"""An OpenAI-compatible endpoint on loopback that answers, and misbehaves, as it is told: raw sockets, no framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

Behaviour = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, head: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.head = head
        self.body = body
        self.writer = writer

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self, body: bytes | str, *, status: str = "200 OK", kind: str = "application/json", headers: str = "",
        length: int | None = None,
    ) -> None:  # fmt: skip
        data = body.encode() if isinstance(body, str) else body
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data) if length is None else length}\r\n"
        await self.send(f"{head}{headers}Connection: close\r\n\r\n".encode() + data)


def completion(content: Any, **choice: Any) -> str:
    """The body of a whole, well-formed answer with this content."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    return json.dumps(
        {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "tiny",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}} | choice
            ],
            "usage": {"prompt_tokens": 90, "completion_tokens": 910, "total_tokens": 1000},
        }
    )  # fmt: skip


class Endpoint:
    """``async with Endpoint(behaviour) as endpoint``: serves on ``endpoint.url`` and counts ``requests``."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.requests: list[Exchange] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                int(line.split(":")[1])
                for line in head.splitlines()
                if line.lower().startswith("content-length")
            )
            exchange = Exchange(head, json.loads(await reader.readexactly(length)), writer)
            self.requests.append(exchange)
            await self.behave(exchange)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the caller hung up, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
