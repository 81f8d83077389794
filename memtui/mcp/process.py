"""Serve one client over standard input and output until it goes away or the process is told to end.

Only the protocol is written to standard output. The end is always clean: calls under way are finished, then the
file is closed. Reading standard input cannot be interrupted (it is a blocking read in a thread), so a process that
was told to end leaves without waiting for it.
"""

from __future__ import annotations

import asyncio
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

from memtui.engine.memory import Memory

from .shutdown import Finishing

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
