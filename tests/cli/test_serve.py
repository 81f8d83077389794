"""memtui serve, as a browser and as an attacker reach it: nobody without the token and the right origin gets an answer."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyte
import pytest
from cli_kit import Program
from memtui.engine.memory import Memory
from memtui.engine.records import Options

from endpoint import Endpoint

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")
SECONDS = 60.0
CONFIG = """\
[llm]
base_url = "{url}"
model = "tiny"
key_env = "SERVED_SECRET"
[embedder]
kind = "endpoint"
base_url = "{url}"
model = "tiny"
key_env = "SERVED_SECRET"
"""


class Served(NamedTuple):
    """A server that runs: its address with the token, and without it."""

    url: str
    root: str
    result: str

    @property
    def ws(self) -> str:
        return self.url.replace("http", "ws", 1) + "ws"

    @property
    def name(self) -> str:
        return self.root.removeprefix("http://")


@pytest.fixture
def evil() -> Iterator[Endpoint]:
    """An endpoint on loopback of somebody who would like a key."""

    async def answer(exchange: object) -> None:
        await exchange.reply("{}")  # type: ignore[attr-defined]

    with Endpoint(answer).in_thread() as endpoint:
        yield endpoint


@pytest.fixture
def served(home: Path, program: Program, evil: Endpoint) -> Served:
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        memory.remember("Ada lives in Ghent")
    config = home / "config.toml"
    config.write_text(CONFIG.format(url=evil.url))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = program(
        "serve", "--config", config, "--port", str(port),
        env={"SERVED_SECRET": "sk-served-1234567890", "PYTHONUNBUFFERED": "1"}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdout is not None
    url = running.stdout.readline().decode().strip()
    return Served(url, f"http://127.0.0.1:{port}", url)


async def status(url: str, **headers: str) -> tuple[int, dict[str, str]]:
    """The answer to a request; the server is waited for."""
    async with aiohttp.ClientSession() as session:
        for _ in range(600):
            try:
                async with session.get(url, headers=headers) as response:
                    return response.status, dict(response.headers)
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.1)
    raise AssertionError("the server never answered")


async def refused(url: str, **headers: str) -> bool:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.ws_connect(url, headers=headers):
                return False
        except aiohttp.WSServerHandshakeError as error:
            return bool(error.status == 403)


async def test_only_a_page_with_the_token_is_answered(served: Served) -> None:
    token = served.url.removeprefix(served.root).strip("/")
    assert re.fullmatch(r"[\w-]{32}", token)
    assert (await status(served.url))[0] == 200
    for path in ("/", "/ws", "/static/js/textual.js", "/download/x", f"/{token[:-1]}/", f"/x{token}/ws"):
        assert (await status(served.root + path))[0] == 403, path
    assert (await status(served.url, Host="rebound.example"))[0] == 403
    assert (await status(served.url, Origin="http://evil.example"))[0] == 403
    assert await refused(served.ws), "a WebSocket without an origin"
    assert await refused(served.ws, Origin="http://evil.example")
    assert await refused(served.ws, Origin="null")
    assert await refused(served.ws, Origin=served.root, Host="rebound.example")
    assert await refused(f"ws://{served.name}/ws", Origin=served.root)


async def test_no_page_frames_it_and_no_other_site_learns_of_it(served: Served) -> None:
    for path in (served.url, served.root + "/"):
        _, headers = await status(path)
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in headers
        assert "googleapis" not in headers["Content-Security-Policy"]


async def test_whoever_has_the_token_writes_nothing_and_sends_no_key(
    served: Served, evil: Endpoint, home: Path
) -> None:
    await status(served.url)
    before = (home / "config.toml").read_bytes()
    export = home / "memory.jsonl"
    export.write_text("mine")
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{served.ws}?width=120&height=40", headers={"Origin": served.root}) as ws,
    ):
        shown = Shown(ws)
        await shown.until("Ghent")
        await ws.send_json(["stdin", ","])
        await shown.until("settings are not changed")
        for _ in range(24):
            await ws.send_json(["stdin", "\r"])
            await ws.send_json(["stdin", "t"])
            await ws.send_json(["stdin", "\x1b[B"])
        await shown.until("asks no endpoint")
        assert shown.has("Settings")
        await ws.send_json(["stdin", "\x1b"])
        await shown.gone("Settings")  # what is typed right behind an escape belongs to it
        await ws.send_json(["stdin", "I"])
        await shown.until("nothing is exported")
        await ws.send_json(["stdin", "3"])
        await shown.until("question")
        await ws.send_json(["stdin", "/Where does Ada live?\r"])
        await shown.until("Ghent")
    assert (home / "config.toml").read_bytes() == before
    assert export.read_text() == "mine"
    assert evil.requests == []
    assert not (home / ".local").exists()


class Shown:
    """What the terminal in the browser was sent, without colours."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self._ws = ws
        self._text = ""
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)

    async def until(self, pattern: str) -> None:
        """Read until words are shown that were not before."""
        async with asyncio.timeout(SECONDS):
            while not re.search(pattern, self._text):
                await self._read()
        self._text = ""

    def has(self, words: str) -> bool:
        return any(words in line for line in self._screen.display)

    async def gone(self, words: str) -> None:
        """Read until words stand nowhere on the screen."""
        async with asyncio.timeout(SECONDS):
            while self.has(words):
                await self._read()
        self._text = ""

    async def _read(self) -> None:
        message = await self._ws.receive()
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), message
        data = message.data if isinstance(message.data, bytes) else message.data.encode()
        self._stream.feed(data)
        self._text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode("utf-8", "replace"))
