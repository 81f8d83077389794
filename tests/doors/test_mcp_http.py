"""``memtui mcp --http`` as agents and attackers reach it: real clients on a real server on loopback."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from http_kit import Running, call
from mcp_kit import ask, environment, refused
from memtui import Memory
from memtui.access.counts import AdmissionCounts
from memtui.access.tokens import TokenFile
from memtui.cli import run
from memtui.engine.records import Options

from certificate import make_certificate

QUIET = Options(background=False, embedder="off")
CLIENTS = 50
EACH = 3
SECRET = "Ghent"


class Served(NamedTuple):
    """A server that runs, and the tokens that open it."""

    server: Running
    tokens: TokenFile
    whole: str
    boat: str
    reader: str

    @property
    def place(self) -> Path:
        return self.server.place

    def counted(self) -> dict[str, int]:
        """How often each reason was refused, as the file has it."""
        found = AdmissionCounts(self.place.parent / ".local/state/memtui/access.json").read_counts()
        return {one.reason: one.count for one in found.refused}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    place = home / "memory.db"
    with Memory.open(place, options=QUIET) as memory:
        memory.remember(f"Ada lives in {SECRET}")
        memory.remember("Ada sails the boat Molly", project="boat")
        memory.remember("Ada moors the boat by night", project="boat", tags=["private"])
    tokens = TokenFile(home / ".config/memtui/tokens.json")
    server = Running(place, "--no-jobs")
    made = (
        tokens.add_token("laptop", place),
        tokens.add_token("deckhand", place, project="boat", filter="-tag:private"),
        tokens.add_token("reader", place, readonly=True),
    )
    yield Served(server, tokens, *(one.text for one in made))
    assert server.end() == 0


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not check():
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_right_token_is_answered_and_its_agent_signs(served: Served, mode: str) -> None:
    async with served.server.client(served.whole, mode) as client:
        assert "remember_fact" in {tool.name for tool in (await client.list_tools()).tools}
        found = await ask(client, "search_memory", query=f"{mode}: where does Ada live?")
        assert SECRET in json.dumps(found)
        written = await ask(client, "remember_fact", content=f"Ada drinks {mode} tea")
    with Memory.open(served.place, options=QUIET) as memory:
        assert memory.get(written["memory"]["id"]).content == f"Ada drinks {mode} tea"
        assert memory.view.operations(limit=1)[0].actor == "agent:laptop"
        recall = memory.view.recent_recalls(limit=1)[0]
        assert (recall.agent, recall.query) == ("laptop", f"{mode}: where does Ada live?")


async def test_each_token_sees_its_own_scope_and_no_more(served: Served) -> None:
    async with served.server.client(served.boat) as boat, served.server.client(served.whole) as whole:
        ours = json.dumps(await ask(boat, "search_memory", query="Ada boat Ghent night", limit=50))
        assert "Molly" in ours
        assert SECRET not in ours
        assert "night" not in ours
        everything = json.dumps(await ask(whole, "search_memory", query="Ada boat Ghent night", limit=50))
        assert all(word in everything for word in ("Molly", SECRET, "night"))
        # What a client says about itself changes nothing.
        assert "bad_arguments" in (await refused(boat, "search_memory", query="Ada", project="home"))["code"]
    with Memory.open(served.place, options=QUIET) as memory:
        assert "deckhand" in {one.agent for one in memory.view.recent_recalls(limit=5)}


async def test_a_reading_token_is_offered_no_tool_that_writes(served: Served) -> None:
    async with served.server.client(served.reader) as client:
        assert "remember_fact" not in {tool.name for tool in (await client.list_tools()).tools}
        assert (await refused(client, "remember_fact", content="Ada likes rum"))["code"] == "unknown_tool"
    with Memory.open(served.place, options=QUIET) as memory:
        assert not memory.view.count("rum")


async def test_whoever_has_no_right_to_ask_is_refused_counted_and_told_nothing(
    served: Served, tmp_path: Path
) -> None:
    server, here = served.server, served.place
    over = served.tokens.add_token("over", here, expires_at=int(time.time()) + 1)
    gone = served.tokens.add_token("gone", here)
    elsewhere = served.tokens.add_token("elsewhere", tmp_path / "other.db")
    browser = served.tokens.add_token("browser", here, kind="browser")
    question = call("search_memory", query="Where does Ada live?")
    assert SECRET in server.post(token=gone.text, body=question).body
    served.tokens.revoke("gone", here)
    await until(lambda: time.time() > (over.token.expires_at or 0))
    tried = [
        (401, "no token", server.post(body=question)),
        (401, "no token", server.post(body=question, Authorization=f"Basic {served.whole}")),
        (401, "unknown token", server.post(token=served.whole[:-1] + "_", body=question)),
        (401, "revoked token", server.post(token=gone.text, body=question)),
        (401, "expired token", server.post(token=over.text, body=question)),
        (401, "token for something else", server.post(token=elsewhere.text, body=question)),
        (401, "token for something else", server.post(token=browser.text, body=question)),
        (403, "foreign origin", server.post(token=served.whole, body=question, Origin="http://evil.example")),
        (403, "foreign origin", server.post(token=served.whole, body=question, Origin="null")),
        (403, "foreign origin", server.post(token=served.whole, body=question, Origin="http://localhost:3000")),
        (421, "foreign host", server.post(token=served.whole, body=question, Host="rebound.example")),
        (413, "too large", server.post(token=served.whole, body=b"{", length=6_000_000)),
    ]  # fmt: skip
    assert [(status, reason) for status, reason, answer in tried if answer.status != status] == []
    assert len({answer.body for status, _, answer in tried if status == 401}) == 1, "all faults look the same"
    assert not [answer for _, _, answer in tried if SECRET in answer.body or "Ada" in answer.body]
    # Not refused, but nothing is there: what clients look for.
    assert server.post(path="/.well-known/oauth-protected-resource", method="GET").status == 404
    assert server.post(token=served.whole, method="GET").status == 405
    assert server.post(token=served.whole, body=b"{").status == 400
    assert server.post(token=served.whole, body=question, Origin=f"http://{server.host}").status == 200
    wanted: dict[str, int] = {}
    for _, reason, _ in tried:
        wanted[reason] = wanted.get(reason, 0) + 1
    await until(lambda: all(served.counted().get(reason, 0) >= count for reason, count in wanted.items()))
    # Too many wrong ones wait; a right one is let in all the same.
    statuses = [server.post(token="memtui_wrong", body=question).status for _ in range(25)]
    assert (statuses[0], statuses[-1]) == (401, 429)
    assert SECRET in server.post(token=served.whole, body=question).body
    await until(lambda: served.counted().get("too many failures", 0) >= 1)
    doctor = subprocess.run(
        [sys.executable, "-m", "memtui", "doctor", "--db", str(here)],
        env=environment(here.parent), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "revoked token" in doctor.stdout
    assert "127.0.0.1" in doctor.stdout
    told = server.complaints() + (here.parent / ".local/state/memtui/log/memtui.log").read_text()
    assert "refused requests" in told
    for secret in (served.whole, gone.text, SECRET, "evil.example"):
        assert secret not in told


async def test_a_revoked_token_ends_a_client_that_is_connected(served: Served) -> None:
    made = served.tokens.add_token("short", served.place)
    async with served.server.client(made.text) as client:
        await ask(client, "memory_stats")
        served.tokens.revoke("short", served.place)
        with pytest.raises(Exception, match=r"token of this memory is needed|Too many failed"):
            await client.call_tool("memory_stats", {})


async def test_half_a_character_is_answered(served: Served) -> None:
    answer = served.server.post(token=served.whole, body=call("remember_fact", content="Ada \ud800 naps"))
    assert answer.status == 200
    assert '"isError":false' in answer.body


@pytest.mark.contention
async def test_many_clients_at_once_lose_nothing(served: Served, sized: Callable[[int], int]) -> None:
    clients = max(10, sized(CLIENTS))
    told: list[tuple[str, str]] = []

    async def work(number: int) -> None:
        async with served.server.client(served.whole if number % 2 else served.boat) as client:
            for turn in range(EACH):
                said = f"Ada counted sheep {turn} as client {number}"
                written = await ask(client, "remember_fact", content=said)
                told.append((written["memory"]["id"], said))
                assert said in json.dumps(await ask(client, "search_memory", query=said, limit=50))

    await asyncio.gather(*map(work, range(clients)))
    assert len({id for id, _ in told}) == clients * EACH
    with Memory.open(served.place, options=QUIET) as memory:
        for id, said in told:
            assert memory.get(id).content == said
        assert {one.actor for one in memory.view.operations(limit=clients * EACH)} == {
            "agent:laptop",
            "agent:deckhand",
        }
        report = memory.files.check(deep=True)
        assert report.ok, report.findings


def test_a_signal_ends_it_and_what_was_acknowledged_is_there(place: Path) -> None:
    """Without tokens, as ``--no-token`` has it: the agent is that of the options. Over TLS."""
    server = Running(
        place, "--no-jobs", "--no-token", "--agent", "solo", "--project", "boat",
        certificate=make_certificate(place.parent),
    )  # fmt: skip
    assert server.url.startswith("https://127.0.0.1:")
    acknowledged: list[str] = []

    def write(who: int) -> None:
        for number in range(1_000):
            try:
                answer = server.post(body=call("remember_fact", content=f"wave {number} of {who} was high"))
            except OSError:  # the server has ended
                return
            if answer.status == 200:
                written = json.loads(answer.body)["result"]["structuredContent"]
                acknowledged.append(written["memory"]["id"])

    writers = [Thread(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    while len(acknowledged) < 5:
        time.sleep(0.01)
    assert server.post(token="memtui_wrong", body=call("memory_stats")).status == 401
    code = server.end()
    for writer in writers:
        writer.join()
    assert code == 0
    assert "Traceback" not in server.complaints()
    assert "without a token" in server.complaints()
    with Memory.open(place, options=QUIET) as memory:
        found = [memory.get(id) for id in acknowledged]
        assert {one.project for one in found} == {"boat"}
        assert {one.actor for one in memory.view.operations()} == {"agent:solo"}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--host", "0.0.0.0"], 2, "--behind-proxy"),
        (["--host", "192.168.1.5", "--cert", "x.pem"], 2, "belong together"),
        (["--host", "0.0.0.0", "--behind-proxy", "--no-token"], 2, "this machine only"),
        (["--behind-proxy", "--no-token"], 2, "this machine only"),
        (["--project", "boat"], 2, "memtui tokens add"),
        (["--demo"], 2, "--no-token"),
        (["--port", "TAKEN"], 3, "--port"),
        (["--cert", "no.pem", "--key", "no.pem"], 3, "certificate"),
    ],
)
def test_what_cannot_be_served_is_refused_before_it_begins(
    options: list[str], code: int, words: str, place: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("HOME", str(place.parent))
    monkeypatch.chdir(place.parent)
    Path("no.pem").write_text("no certificate")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        try:
            found = run(
                ["mcp", "--http", "--db", str(place), *(port if one == "TAKEN" else one for one in options)]
            )
        finally:
            gc.enable()
    assert (found, words in capsys.readouterr().err) == (code, True)
