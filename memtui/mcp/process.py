"""Serve one client over standard input and output until it goes away or the process is told to end.

Only the protocol is written to standard output. The end is always clean: calls under way are finished, then the
file is closed. Reading standard input cannot be interrupted (it is a blocking read in a thread), so a process that
was told to end leaves without waiting for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memtui.engine.memory import Memory
from memtui.engine.store.sql import storable

# For answers that never come: a client that hangs up must not leave a process behind.
PATIENCE_SECONDS = 20.0


class Finishing:
    """Stands between a transport and a server, and knows the questions that have no answer yet."""

    def __init__(self) -> None:
        self._open: set[str | int] = set()
        self._answered = anyio.Event()

    async def pass_questions(self, source: Any, target: Any) -> None:
        """Hand messages on to the server; its input ends when everything is answered."""
        async with target:
            async for received in source:
                item = _repaired(received) if isinstance(received, Exception) else received
                self._note(item)
                await target.send(item)
            with anyio.move_on_after(PATIENCE_SECONDS):
                while self._open:
                    await self._answered.wait()
                    self._answered = anyio.Event()

    async def pass_answers(self, source: Any, target: Any) -> None:
        """Hand messages on to the client until the server has no more."""
        async with target:
            async for item in source:
                await target.send(item)
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._open.discard(item.message.id)
                    self._answered.set()

    def _note(self, item: Any) -> None:
        message = getattr(item, "message", None)  # a line that is no message arrives as an exception
        if isinstance(message, JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.discard((message.params or {}).get("requestId", ""))


def _repaired(error: Exception) -> Any:
    """The message of a line that the SDK could not read because of half a character; else the error as it is.

    Nobody would answer the line otherwise, and whoever sent it waits.
    """
    if not isinstance(error, ValidationError):
        return error
    line = error.errors()[0]["input"]
    try:
        return SessionMessage(
            jsonrpc_message_adapter.validate_python(_storable(json.loads(line)), by_name=False)
        )
    except (ValueError, TypeError, RecursionError):
        return error


def _storable(value: Any) -> Any:
    if isinstance(value, dict):
        return {storable(key): _storable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_storable(one) for one in value]
    return storable(value) if isinstance(value, str) else value


# The night shift is loaded when the client has its first answers.
JOBS_AFTER_SECONDS = 5.0
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def serve(server: Server[Any], memory: Memory, *, jobs: bool, at_end: Callable[[], None]) -> None:
    """Serve until standard input ends. ``jobs``: this process may lead the maintenance of the memory.

    ``at_end`` closes what is open, also where a signal ends the process.
    """
    # The SDK's log lines may quote arguments: what is said to an agent is in no log.
    sdk = logging.getLogger("mcp")
    sdk.addHandler(logging.NullHandler())
    sdk.propagate = False
    asyncio.run(_serve(server, memory, jobs, at_end))


async def _serve(server: Server[Any], memory: Memory, jobs: bool, at_end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def leave() -> None:
        """In the loop's thread: no new call begins, and closing waits for a write under way."""
        try:
            at_end()
        finally:
            os._exit(0)

    for name in _SIGNALS:
        with suppress(NotImplementedError, AttributeError):  # Windows
            loop.add_signal_handler(getattr(signal, name), leave)
    night = asyncio.create_task(_start_jobs(memory)) if jobs else None
    finishing = Finishing()
    async with stdio_server() as (reading, writing):
        to_server, from_client = anyio.create_memory_object_stream[Any](0)
        to_client, from_server = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as group:
            group.start_soon(finishing.pass_questions, reading, to_server)
            group.start_soon(finishing.pass_answers, from_server, writing)
            async with to_client:
                await server.run(from_client, to_client, server.create_initialization_options())
    if night is not None:
        night.cancel()


async def _start_jobs(memory: Memory) -> None:
    await asyncio.sleep(JOBS_AFTER_SECONDS)
    await anyio.to_thread.run_sync(lambda: memory.jobs.start())
