"""Serve one client over standard input and output, until it disconnects or a signal ends the process.

Only the protocol is written to standard output. At the end, running calls are finished first, then the file is
closed. Reading standard input blocks in a thread and cannot be interrupted, so the process does not wait for it after
a signal.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
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

from memtui import operating_system
from memtui.engine.memory import Memory

from .surrogates import without_surrogates

# The longest wait for an answer, so that no process remains after its client has gone.
PATIENCE_SECONDS = 20.0


class AnswerTracker:
    """Between transport and server: counts the questions without an answer, so that all are answered at the end."""

    def __init__(self) -> None:
        self._open: set[str | int] = set()
        self._answered = anyio.Event()

    async def pass_questions(self, source: Any, target: Any) -> None:
        """Pass messages to the server. Its input ends when every question is answered."""
        async with target:
            async for received in source:
                item = _repaired_message(received) if isinstance(received, Exception) else received
                self._note_question(item)
                await target.send(item)
            with anyio.move_on_after(PATIENCE_SECONDS):
                while self._open:
                    await self._answered.wait()
                    self._answered = anyio.Event()

    async def pass_answers(self, source: Any, target: Any) -> None:
        """Pass messages to the client until the server has no more."""
        async with target:
            async for item in source:
                await target.send(item)
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._open.discard(item.message.id)
                    self._answered.set()

    def _note_question(self, item: Any) -> None:
        message = getattr(item, "message", None)  # a line that is no message arrives as an exception
        if isinstance(message, JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.discard((message.params or {}).get("requestId", ""))


def _repaired_message(error: Exception) -> Any:
    """The message of a line that the SDK could not read because of half a character; otherwise the error.

    Without this the line gets no answer, and the client waits.
    """
    if not isinstance(error, ValidationError):
        return error
    line = error.errors()[0]["input"]
    try:
        return SessionMessage(
            jsonrpc_message_adapter.validate_python(without_surrogates(json.loads(line)), by_name=False)
        )
    except (ValueError, TypeError, RecursionError):
        return error


JOBS_AFTER_SECONDS = 5.0


def serve_stdio(server: Server[Any], memory: Memory, *, jobs: bool, at_end: Callable[[], None]) -> None:
    """Serve until standard input ends. ``jobs``: this process may run the maintenance jobs.

    ``at_end`` closes the memory, also after a signal.
    """
    silence_loggers("mcp")
    asyncio.run(_serve_until_end(server, memory, jobs, at_end))


def silence_loggers(*loggers: str) -> None:
    """Drop the log lines of packages. They may quote arguments or headers, and no log may hold them."""
    for name in loggers:
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


async def _serve_until_end(
    server: Server[Any], memory: Memory, jobs: bool, at_end: Callable[[], None]
) -> None:
    loop = asyncio.get_running_loop()

    def stop_on_signal(number: int) -> None:
        """Runs in the loop's thread: no new call begins, and closing waits for a running write."""
        try:
            at_end()
        finally:
            os._exit(0)

    operating_system.on_stop_signals(loop, stop_on_signal)
    night = asyncio.create_task(start_jobs(memory)) if jobs else None
    finishing = AnswerTracker()
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


async def start_jobs(memory: Memory) -> None:
    """Start the maintenance jobs, once the client has its first answers."""
    await asyncio.sleep(JOBS_AFTER_SECONDS)
    await anyio.to_thread.run_sync(lambda: memory.jobs.start())
