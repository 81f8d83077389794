"""A real server of ``memtui mcp --http`` on loopback, and real clients of it."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_kit import environment

from mcp import Client


class Answer(NamedTuple):
    """The status of an answer and its body."""

    status: int
    body: str


class Running:
    """A server as a process: its address once it answers."""

    def __init__(
        self, place: Path, *options: str, port: int = 0, certificate: tuple[Path, Path] | None = None
    ) -> None:
        self.place = place
        self._trusted = ssl.create_default_context(cafile=certificate[0]) if certificate else None
        if certificate:
            options = (*options, "--cert", str(certificate[0]), "--key", str(certificate[1]))
        self._errors = place.with_name("stderr").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memtui", "mcp", "--http", "--port", str(port), "--db", str(place), *options],
            env=environment(place.parent) | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE, stderr=self._errors, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.host = self.url.partition("//")[2].partition("/")[0]

    @property
    def port(self) -> int:
        return int(self.host.rpartition(":")[2])

    def complaints(self) -> str:
        return self.place.with_name("stderr").read_text()

    def end(self) -> int:
        """End it as a service manager does; its exit code."""
        self.process.terminate()
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()
        return code

    @asynccontextmanager
    async def client(self, token: str, mode: str = "auto") -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode, read_timeout_seconds=60) as client,
        ):  # fmt: skip
            yield client

    def _secured(self, plain: socket.socket) -> socket.socket:
        return self._trusted.wrap_socket(plain, server_hostname="127.0.0.1") if self._trusted else plain

    def post(
        self, *, token: str = "", path: str = "/mcp", method: str = "POST", body: bytes = b"", length: int | None = None,
        **headers: str,
    ) -> Answer:  # fmt: skip
        """One request by hand, with these headers; the whole answer, as it comes over the wire."""
        lines = {
            "Host": self.host, "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
            "Content-Length": str(len(body) if length is None else length), "Connection": "close",
            **({"Authorization": f"Bearer {token}"} if token else {}), **headers,
        }  # fmt: skip
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain,
            self._secured(plain) as link,
        ):
            link.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
            received = b""
            while piece := link.recv(65_536):
                received += piece
        if b"\r\n\r\n" not in received:
            raise ConnectionError("the server ended before it answered")
        top, _, text = received.decode().partition("\r\n\r\n")
        return Answer(int(top.split(" ", 2)[1]), text)


def call(name: str, **arguments: Any) -> bytes:
    """A call of a tool as a client of the older protocol sends it."""
    params = {"name": name, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
