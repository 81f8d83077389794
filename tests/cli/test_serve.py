"""memtui serve, as a browser and as an attacker reach it: nobody without the token and the right origin gets an answer."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import ANY

import pyte
import pytest
from cli_kit import Cli, Program
from memtui.access.tokens import TokenFile
from memtui.engine.memory import Memory
from memtui.engine.records import Options

from certificate import make_certificate
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
    url = started(program, "--config", config, "--port", port)
    return Served(url, f"http://127.0.0.1:{port}", url)


def started(program: Program, *options: object) -> str:
    """Start a server; the address that it prints."""
    running = program(
        "serve", *map(str, options),
        env={"SERVED_SECRET": "sk-served-1234567890", "PYTHONUNBUFFERED": "1"}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdout is not None
    return running.stdout.readline().decode().strip()


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
            return error.status in (401, 403, 421)


async def test_only_a_page_with_the_token_is_answered(served: Served) -> None:
    token = served.url.removeprefix(served.root).strip("/")
    assert re.fullmatch(r"[\w-]{32}", token)
    assert (await status(served.url))[0] == 200
    for path in ("/", "/ws", "/static/js/textual.js", "/download/x", f"/{token[:-1]}/", f"/x{token}/ws"):
        assert (await status(served.root + path))[0] == 403, path
    assert (await status(served.url, Host="rebound.example"))[0] == 421
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


async def test_beyond_this_machine_a_token_opens_it_until_it_is_revoked(home: Path, program: Program) -> None:
    place = home / "memory.db"
    with Memory.open(place, options=Options(background=False)) as memory:
        memory.remember("Ada lives in Ghent")
    tokens = TokenFile()
    made, agent = tokens.add_token("tablet", place, kind="browser"), tokens.add_token("laptop", place)
    root = started(program, "--port", 0, "--behind-proxy", "--allow-host", "app.example").rstrip("/")
    ours = {"Host": "app.example", "Origin": "https://app.example"}
    assert await status(root + "/", Host="app.example") == (200, ANY)
    async with aiohttp.ClientSession() as session:

        async def log_in(token: str, **headers: str) -> aiohttp.ClientResponse:
            given = {"token": token}
            return await session.post(root, data=given, headers=ours | headers, allow_redirects=False)

        for token, headers, code in (
            ("", {}, 401), (made.text[:-1], {}, 401), (agent.text, {}, 401),
            (made.text, {"Host": "evil.example"}, 421), (made.text, {"Origin": "https://evil.example"}, 403),
            (made.text, {"X-Forwarded-Proto": "http"}, 403),
        ):  # fmt: skip
            answer = await log_in(token, **headers)
            assert (answer.status, "Set-Cookie" in answer.headers) == (code, False)
            assert "Ada" not in await answer.text()
        answer = await log_in(made.text)
        assert answer.status == 303
        inside = root + answer.headers["Location"]
        cookie = answer.headers["Set-Cookie"]
        assert all(word in cookie for word in ("HttpOnly", "Secure", "SameSite=Strict"))
        known = ours | {"Cookie": cookie.partition(";")[0]}
        assert (await status(inside, **ours))[0] == 401
        assert (await status(inside, **known))[0] == 200
        assert await refused(inside + "ws", **ours)
        async with session.ws_connect(f"{inside}ws?width=120&height=40", headers=known) as ws:
            await Shown(ws).until("Ghent")
            tokens.revoke("tablet", place)
            async with asyncio.timeout(SECONDS):
                while (await ws.receive()).type is not aiohttp.WSMsgType.CLOSE:
                    pass
        assert (await status(inside, **known))[0] == 401
        assert (await log_in(made.text)).status == 401


async def test_with_a_certificate_the_page_and_its_socket_are_encrypted(home: Path, program: Program) -> None:
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        memory.remember("Ada lives in Ghent")
    cert, key = make_certificate(home)
    url = started(program, "--port", 0, "--cert", cert, "--key", key)
    assert url.startswith("https://127.0.0.1:")
    trusted = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=cert))
    async with aiohttp.ClientSession(connector=trusted) as session:
        async with session.get(url) as page:
            [socket_url] = re.findall(r"wss?://[^\"?]*", await page.text())
        assert socket_url == url.replace("https", "wss", 1) + "ws"
        origin = "/".join(url.split("/")[:3])
        async with session.ws_connect(f"{socket_url}?width=120&height=40", origin=origin) as ws:
            await Shown(ws).until("Ghent")
        with pytest.raises(aiohttp.ClientError):
            await session.get(url.replace("https", "http", 1))


def test_plain_http_beyond_this_machine_is_refused(cli: Cli, home: Path) -> None:
    Memory.open(home / "memory.db").close()
    for words, hint in (
        (["--host", "0.0.0.0"], "--behind-proxy"),
        (["--demo", "--behind-proxy"], "this machine only"),
        (["--cert", "x.pem"], "belong together"),
    ):
        result = cli("serve", *words)
        assert (result.code, hint in result.err) == (2, True)


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
