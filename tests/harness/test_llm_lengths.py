"""A model with a small context: what is too long for it is read in parts, and nothing of it is lost or hidden.

Must fail on: a session that stays pending for ever because it is long.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.llm import CUT
from memtui.engine.records import LlmOptions, Options

from clock import Clock
from endpoint import Behaviour, Endpoint, Exchange, completion

pytestmark = pytest.mark.llmfaults

START = 1_760_000_000.0
REFUSALS = {
    "llama.cpp": (400, {"code": 400, "type": "exceed_context_size_error", "message": "no"}),
    "OpenAI": (400, {"code": "context_length_exceeded", "type": "invalid_request_error", "message": "no"}),
    "vLLM": (400, {"code": 400, "message": "This model's maximum context length is 8 tokens."}),
    "another": (400, {"code": None, "message": "prompt is too long: 9 tokens > 8 maximum"}),
    "a proxy": (413, {"message": "no"}),
}


def told(exchange: Exchange) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exchange.prompt.splitlines() if line.startswith("{")]


def notes(exchange: Exchange) -> dict[str, Any]:
    """One fact for each turn that says that something stands on a shelf."""
    facts = [
        {"content": found[0], "sources": [line["n"]], "confidence": 0.7, "tags": [], "corrects": False}
        for line in told(exchange)
        if (found := re.search(r"Box \d+ stands on shelf \d+", line["text"]))
    ]
    return {"nothing": not facts, "facts": facts, "observations": [], "summary": "Boxes."}


def with_context(characters: int, refusal: tuple[int, dict[str, Any]] | None) -> Behaviour:
    """Refuses longer prompts, or (None) stops in the middle of the answer."""

    async def behave(exchange: Exchange) -> None:
        if len(exchange.prompt) <= characters:
            await exchange.reply(completion(notes(exchange)))
        elif refusal is None:
            await exchange.reply(completion('{"nothing": fal', finish_reason="length"))
        else:
            await exchange.reply(json.dumps({"error": refusal[1]}), status=f"{refusal[0]} Sorry")

    return behave


def opened(place: Path, clock: Clock, url: str, **more: Any) -> Memory:
    llm = LlmOptions(base_url=url, model="tiny", key_env="MEMTUI_TEST_NO_KEY", timeout=60, **more)
    return Memory.open(place, clock=clock, options=Options(background=False, embedder="off", llm=llm))


def box(number: int) -> str:
    return f"Box {number} stands on shelf {number + 500}. " + "It rains. " * 30


@pytest.mark.parametrize("refusal", [*REFUSALS, "cut off"])
async def test_a_talk_that_is_too_long_is_read_in_parts_with_its_turns(place: Path, refusal: str) -> None:
    clock = Clock(START)
    async with Endpoint(with_context(1_500, REFUSALS.get(refusal))) as endpoint:
        with opened(place, clock, endpoint.url) as memory:
            turns = {
                f"Box {n} stands on shelf {n + 500}": memory.record_turn("s", "user", box(n)).id
                for n in range(12)
            }
            clock.now += 3_600
            (outcome,) = (await memory.consolidate()).outcomes
            assert outcome.state == "done", outcome.error
            facts = {fact.content: fact.source_ids for fact in memory.view.page("kind:fact")}
            assert facts == {text: (turn,) for text, turn in turns.items()}
            assert memory.pending_sessions() == []
            # Twelve, six, three, three, six, three, three; what was refused once is not sent again.
            assert len(endpoint.requests) == (7 if refusal == "cut off" else 6)
            assert outcome.plan is not None
            assert outcome.plan.notes == ()
            assert memory.files.check().ok


async def test_a_turn_that_is_too_long_alone_is_cut_and_that_is_said(place: Path) -> None:
    clock = Clock(START)
    async with Endpoint(with_context(1_500, REFUSALS["llama.cpp"])) as endpoint:
        with opened(place, clock, endpoint.url) as memory:
            memory.record_turn("s", "user", box(1))
            long = memory.record_turn("s", "user", "Box 2 stands on shelf 502. " + "It rains. " * 1_000)
            clock.now += 3_600
            (outcome,) = (await memory.consolidate()).outcomes
            assert outcome.state == "done", outcome.error
            assert {fact.source_ids for fact in memory.view.page("kind:fact")} >= {(long.id,)}
            assert outcome.plan is not None
            assert outcome.plan.notes == ("1 long turn read only up to 1,000 characters",)
            assert endpoint.requests[-1].prompt.count(CUT) == 1
            assert len(told(endpoint.requests[-1])[0]["text"]) == 1_000 + len(CUT)


async def test_of_any_turn_only_the_beginning_is_read_and_that_is_said(place: Path) -> None:
    clock = Clock(START)
    async with Endpoint(with_context(100_000, None)) as endpoint:
        with opened(place, clock, endpoint.url) as memory:
            memory.record_turn("s", "user", "Box 2 stands on shelf 502. " + "It rains. " * 1_000)
            clock.now += 3_600
            (outcome,) = (await memory.consolidate()).outcomes
            assert outcome.plan is not None
            assert outcome.plan.notes == ("1 long turn read only up to 4,000 characters",)


@pytest.mark.parametrize("refusal", [REFUSALS["llama.cpp"], None])
async def test_a_model_that_finds_everything_too_long_fails_after_a_few_calls(
    place: Path, refusal: tuple[int, dict[str, Any]] | None
) -> None:
    clock = Clock(START)
    async with Endpoint(with_context(10, refusal)) as endpoint:
        with opened(place, clock, endpoint.url) as memory:
            for _ in range(30):
                memory.record_turn("s", "user", "It rains. " * 500)
            clock.now += 3_600
            (outcome,) = (await memory.consolidate()).outcomes
            assert outcome.state == "failed"
            assert outcome.error
            assert len(endpoint.requests) <= 9
            (session,) = memory.pending_sessions()
            assert session.last_error == outcome.error
            assert memory.stats().by_kind == {"episode": 30}
            assert memory.files.check().ok


async def test_parts_are_not_read_beyond_the_budget(place: Path) -> None:
    clock = Clock(START)
    async with Endpoint(with_context(1_500, None)) as endpoint:
        with opened(place, clock, endpoint.url, budget_tokens=4_500) as memory:
            for number in range(12):
                memory.record_turn("s", "user", box(number))
            clock.now += 3_600
            found = await memory.consolidate()
            assert [one.state for one in found.outcomes] == ["failed"]
            assert "budget" in found.outcomes[0].error
            assert found.tokens == 1_000 * len(endpoint.requests) <= 4_500
            assert memory.stats().by_kind == {"episode": 12}
