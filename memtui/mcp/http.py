"""Serve many agents over streamable HTTP, until a signal ends the process.

Each request stands for itself: no session, no stream that stays open. So a revoked token ends with the next
request, and no session can be taken over. Every agent has an SDK server of its own, with its tools in its scope, over
one open memory: one writer, one copy of the vectors.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memtui import operating_system
from memtui.access.counts import AdmissionCounts
from memtui.engine.errors import InputError
from memtui.engine.memory import Memory
from memtui.engine.tools.agent import Agent

from .gate import MOST_BYTES, HttpCaller, Message, Receive, RequestGate, Send
from .process import silence_loggers, start_jobs

SAVE_SECONDS = 2.0
# Requests that are running when the process is asked to end.
_END_SECONDS = 10
_CONNECTIONS = 1_000
_KEEP_ALIVE_SECONDS = 30


class AgentServers:
    """The agents that have asked: for each caller a server of its own, made at its first request."""

    def __init__(self, memory: Memory, make: Callable[[Agent], Server[Any]]) -> None:
        self._memory = memory
        self._make = make
        self._lock = anyio.Lock()
        self._open: dict[HttpCaller, StreamableHTTPSessionManager] = {}
        self._group: TaskGroup | None = None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep the servers running until cancelled."""
        async with anyio.create_task_group() as group:
            self._group = group
            task_status.started()
            await anyio.sleep_forever()

    async def answer_request(self, caller: HttpCaller, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request that was let in. Raises MemtuiError for a scope that cannot be used."""
        manager = self._open.get(caller) or await self._open_memory(caller)
        await manager.handle_request(scope, receive, send)

    async def _open_memory(self, caller: HttpCaller) -> StreamableHTTPSessionManager:
        async with self._lock:
            if caller not in self._open:
                server = await anyio.to_thread.run_sync(self._make_agent_server, caller)
                manager = StreamableHTTPSessionManager(
                    server, json_response=True, stateless=True, max_request_body_size=MOST_BYTES
                )
                assert self._group is not None
                await self._group.start(_run_session_manager, manager)
                self._open[caller] = manager
            return self._open[caller]

    def _make_agent_server(self, caller: HttpCaller) -> Server[Any]:
        memory = self._memory.acting_as(f"agent:{caller.name}")
        return self._make(
            Agent(memory, filter=caller.filter, project=caller.project, readonly=caller.readonly)
        )


async def _run_session_manager(
    manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


class _Uvicorn(uvicorn.Server):
    """Signals are ours, and ``on_ready`` is called once requests are answered."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


def serve_http(
    gate: Callable[[AgentServers], RequestGate], servers: AgentServers, listening: socket.socket, counts: AdmissionCounts, *,
    jobs_of: Memory | None, certificate: tuple[Path, Path] | None, on_ready: Callable[[], None],
) -> None:  # fmt: skip
    """Serve until a signal. ``jobs_of``: the memory whose maintenance jobs this process may run.

    ``certificate``: the files of certificate and key, for TLS. Raises InputError if they cannot be used.
    """
    silence_loggers("mcp", "uvicorn", "sse_starlette", "asyncio")
    config = uvicorn.Config(
        gate(servers), log_config=None, access_log=False, server_header=False, proxy_headers=False, lifespan="off",
        ws="none", http="h11", loop="asyncio", limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_END_SECONDS,
        ssl_certfile=certificate and certificate[0], ssl_keyfile=certificate and certificate[1],
    )  # fmt: skip
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"The certificate cannot be used: {getattr(error, 'strerror', None) or error}.",
            "--cert names a PEM file with the certificate and its chain, --key one with its key, without a passphrase.",
        ) from None
    asyncio.run(_serve_until_stopped(_Uvicorn(config, on_ready), servers, listening, counts, jobs_of))


async def _serve_until_stopped(
    server: _Uvicorn,
    servers: AgentServers,
    listening: socket.socket,
    counts: AdmissionCounts,
    jobs_of: Memory | None,
) -> None:
    loop = asyncio.get_running_loop()

    def stop_on_signal(number: int) -> None:
        server.force_exit = server.should_exit  # the second signal waits for nobody
        server.should_exit = True

    operating_system.on_stop_signals(loop, stop_on_signal)
    try:
        async with anyio.create_task_group() as group:
            await group.start(servers.run)
            group.start_soon(_save_periodically, counts)
            if jobs_of is not None:
                group.start_soon(start_jobs, jobs_of)
            await server.serve(sockets=[listening])
            group.cancel_scope.cancel()
    finally:
        counts.save_counts(last=True)


async def _save_periodically(counts: AdmissionCounts) -> None:
    while True:
        await anyio.sleep(SAVE_SECONDS)
        await anyio.to_thread.run_sync(counts.save_counts)
