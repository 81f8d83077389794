"""Several servers and the app on one file at once, and text that tries to be more than text."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp_kit import ROOT, ask, connected, resource, text
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.tools.registry import TOOLS

from mcp import Client

SERVERS = 4
SECONDS = 30
ENOUGH = 11  # a slow machine takes longer than that
QUIET = Options(background=False, embedder="off")


async def _write(client: Client, who: str, until: float, output: list[tuple[str, str]]) -> None:
    """Facts, turns and notes until the time is up; ``told`` takes the id and the text of each answer."""
    for number in count():
        if time.monotonic() > until and len(output) >= ENOUGH:
            return
        said = f"{who} counted sheep number {number} on farm {who}{number}"
        if number % 3 == 0:
            answer = await ask(client, "remember_fact", content=said)
        else:
            answer = await ask(client, "record_turn", session_id=f"talk-{who}", role="user", content=said)
        output.append((answer["memory"]["id"], said))
        if number % 5 == 0:
            await ask(client, "scratchpad_write", key=f"{who}/{number}", value=said)
            await ask(client, "search_memory", query=f"sheep {number}")


def _live(memory: Memory, until: float, output: list[tuple[str, str]], errors: list[BaseException]) -> None:
    """What the app's engine does meanwhile: write, undo, look."""
    try:
        for number in count():
            if time.monotonic() > until and len(output) >= ENOUGH:
                return
            said = f"the person counted stars number {number}"
            output.append((memory.remember(said).id, said))
            if number % 7 == 0:
                memory.remember(f"a mistake {number}")
                assert memory.undo().restored == 1
            memory.view.page("kind:fact", limit=50)
            time.sleep(0.002)
    except BaseException as error:
        errors.append(error)


@pytest.mark.contention
async def test_four_servers_and_the_app_write_at_once_and_nothing_is_lost(
    place: Path, sized: Callable[[int], int]
) -> None:
    output: list[list[tuple[str, str]]] = [[] for _ in range(SERVERS + 1)]
    errors: list[BaseException] = []
    with Memory.open(place) as memory:

        async def agent(number: int, ready: asyncio.Barrier) -> None:
            async with connected(place, "--agent", f"a{number}") as client:
                await ready.wait()
                await _write(client, f"a{number}", time.monotonic() + sized(SECONDS), output[number])

        ready = asyncio.Barrier(SERVERS + 1)
        agents = [asyncio.create_task(agent(number, ready)) for number in range(SERVERS)]
        await ready.wait()
        until = time.monotonic() + sized(SECONDS)
        person = Thread(target=_live, args=(memory, until, output[SERVERS], errors))
        person.start()
        await asyncio.gather(*agents)
        await asyncio.to_thread(person.join)
    assert errors == []
    with Memory.open(place, options=QUIET) as memory:
        for id, said in (pair for each in output for pair in each):
            assert memory.get(id).content == said
        report = memory.files.check(deep=True)
        assert report.ok, report.findings


@pytest.mark.hostile
async def test_hostile_words_reach_every_tool_and_only_come_back_as_json(
    place: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "harness"))
    from payloads import HOSTILE

    async with connected(place, "--tools", "consolidator") as client:
        for words in HOSTILE if full else HOSTILE[::3]:
            for tool in TOOLS:
                result = await client.call_tool(tool.name, _filled(tool.arguments, words))
                answer = text(result)
                assert isinstance(answer, dict)
                if result.is_error:
                    assert answer["error"]["code"] != "failed", (tool.name, answer)
        for memory in (await ask(client, "search_memory", query="the", limit=50))["memories"]:
            assert json.loads(await resource(client, f"memory://{memory['id']}"))["id"] == memory["id"]
    with Memory.open(place, options=QUIET) as opened:
        report = opened.files.check(deep=True)
        assert report.ok, report.findings


def _filled(arguments: type[Any], words: str) -> dict[str, Any]:
    """Every argument that takes text gets these words; JSON cannot carry half a character."""
    said = words.encode("utf-8", "replace").decode()
    lists = {"findings", "insights", "lessons"}
    facts = [{"content": said, "source_ids": [said]}]
    values: dict[str, Any] = dict.fromkeys(arguments.__struct_fields__, said)
    values |= {name: [said] for name in lists & values.keys()}
    values |= {"role": "user"} if "role" in values else {}
    values |= {"facts": facts} if "facts" in values else {}
    for name in ("limit", "offset", "confidence", "min_score", "kind", "category", "after", "before"):
        values.pop(name, None)
    return values
