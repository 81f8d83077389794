"""A real MCP client (the SDK's) on a real server process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2]


def environment(home: Path) -> dict[str, str]:
    """Nothing of whoever runs the tests; bytecode is cached, as everywhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTUI_", "XDG_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "HOME": str(home)}


@asynccontextmanager
async def connected(place: Path, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of ``memtui mcp --db place options``; what the server says on stderr is an error."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memtui", "mcp", "--db", str(place), *options],
        env=environment(place.parent),
    )
    complaints = place.with_name(f"stderr-{os.urandom(4).hex()}")
    with complaints.open("w") as stream:
        async with Client(stdio_client(parameters, stream), mode=mode, read_timeout_seconds=60) as client:
            yield client
    assert complaints.read_text() == ""
    complaints.unlink()


def text(result: CallToolResult) -> Any:
    """The JSON that a call came to."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return json.loads(block.text)


async def ask(client: Client, name: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return text(result)


async def refused(client: Client, name: str, /, **arguments: Any) -> dict[str, str]:
    """The error of a call that must come to nothing."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    error = text(result)["error"]
    assert set(error) == {"code", "message", "hint"}
    found: dict[str, str] = error
    return found


async def resource(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text
