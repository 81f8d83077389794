"""Find language model servers on this machine, at their usual ports.

Only when somebody asks for it: it opens sockets, if only to this machine.
"""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from memtui.engine.records import Record

SECONDS = 0.5
_LARGEST = 1 << 20
_MOST_MODELS = 50


class ServerPort(NamedTuple):
    """The default address of each program."""

    program: str
    number: int


PORTS = (ServerPort("Ollama", 11434), ServerPort("llama.cpp", 8080), ServerPort("LM Studio", 1234))


class LocalServer(Record):
    """A server that answered. ``models``: the names that it offers, which may be none."""

    program: str
    base_url: str
    models: tuple[str, ...]


class _ListedModel(msgspec.Struct):
    id: str


class _ModelList(msgspec.Struct):
    data: list[_ListedModel] | None = None


def find_servers(ports: Sequence[ServerPort] = PORTS, *, seconds: float = SECONDS) -> list[LocalServer]:
    """The servers that speak the API of OpenAI at these ports of 127.0.0.1; each is given so many seconds. Blocks."""
    with ThreadPoolExecutor(len(ports)) as pool:
        return [one for one in pool.map(lambda port: _probe_port(port, seconds), ports) if one is not None]


def _probe_port(port: ServerPort, seconds: float) -> LocalServer | None:
    """None if nothing answers at the port, or something else does."""
    connection = http.client.HTTPConnection("127.0.0.1", port.number, timeout=seconds)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        reply = connection.getresponse()
        if reply.status != http.client.OK:
            return None
        models = msgspec.json.decode(reply.read(_LARGEST), type=_ModelList)
    except (OSError, http.client.HTTPException, msgspec.MsgspecError):
        return None
    finally:
        connection.close()
    names = tuple(model.id for model in models.data or () if model.id.strip())
    return LocalServer(
        program=port.program, base_url=f"http://127.0.0.1:{port.number}/v1", models=names[:_MOST_MODELS]
    )
