"""An OpenAI-compatible endpoint on loopback that answers, and misbehaves, as it is told: raw sockets, no framework."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
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
    def texts(self) -> list[str]:
        """What is to be embedded."""
        texts: list[str] = self.body["input"]
        return texts

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


def numbers_of(text: str, dims: int) -> list[float]:
    """A vector for a text: how often each of its words' places occurs. Texts that share words are near each other."""
    row = [0.0] * dims
    for word in text.casefold().split():
        row[sum(map(ord, word.strip(".,?!"))) % dims] += 1.0
    return row


def embeddings(texts: list[str], dims: int, **changed: Any) -> str:
    """The body of a whole, well-formed answer of /v1/embeddings."""
    data = [
        {"object": "embedding", "index": place, "embedding": numbers_of(text, dims)}
        for place, text in enumerate(texts)
    ]
    whole = {
        "object": "list",
        "model": "tiny",
        "data": data,
        "usage": {"prompt_tokens": 9, "total_tokens": 9},
    }
    return json.dumps(whole | changed)


async def embed(exchange: Exchange) -> None:
    """What a good endpoint does."""
    await exchange.reply(embeddings(exchange.body["input"], exchange.body.get("dimensions", 1536)))


class Endpoint:
    """``async with Endpoint(behaviour) as endpoint``: serves on ``endpoint.url`` and counts ``requests``.

    ``with Endpoint(behaviour).in_thread() as endpoint`` serves from a thread, for callers that wait for the answer.
    """

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.requests: list[Exchange] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.__aexit__(None, None, None), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

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
