"""Keep the end of the input from a server until it has answered what came before.

At the end of its input the SDK drops the calls that are under way. A script that writes its questions into a pipe,
and a client that hangs up right after telling something, would lose them.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

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
