"""The OpenAI Agents SDK, the real one, against an endpoint on loopback: told, recorded, tools called."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import msgspec
import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, RunResult, SQLiteSession
from memtui import Memory
from memtui.agents_sdk import AgentMemory
from memtui.engine.errors import InputError
from memtui.engine.records import Options, Quota
from memtui.engine.tools.registry import TOOLS
from openai import AsyncOpenAI

ROOT = Path(__file__).parents[2]
QUIET = Options(background=False, embedder="off")
UNTRACED = RunConfig(tracing_disabled=True)
_numbers = count(1)


@pytest.fixture
def person(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=QUIET) as memory:
        memory.remember("Ada is vegetarian since March")
        memory.remember("The safe opens with the blue key", tags=["private"])
        yield memory


@pytest.fixture
def memory(person: Memory, place: Path) -> Iterator[Memory]:
    with Memory.open(place, actor="agent:coach", options=QUIET) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _harness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "harness"))


def says(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{next(_numbers)}", "type": "function", "function": function}],
    }


def client_of(endpoint: Any) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=endpoint.url, api_key="none", max_retries=0)


class Model:
    """A model behind an endpoint that answers with these messages in turn; ``bodies`` is what it was sent."""

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self.messages = iter(messages)
        self.bodies: list[dict[str, Any]] = []

    async def run(self, agent: Agent[Any], *prompts: str, session: Any = None) -> list[RunResult]:
        from endpoint import Endpoint, Exchange, completion

        async def behave(exchange: Exchange) -> None:
            self.bodies.append(exchange.body)
            message = next(self.messages)
            reason = "tool_calls" if "tool_calls" in message else "stop"
            await exchange.reply(completion("", message=message, finish_reason=reason))

        results = []
        async with Endpoint(behave) as endpoint, client_of(endpoint) as client:
            agent.model = OpenAIChatCompletionsModel("tiny", client)
            for prompt in prompts:
                results.append(await Runner.run(agent, prompt, session=session, run_config=UNTRACED))
        return results

    def system(self, number: int) -> str:
        first = self.bodies[number]["messages"][0]
        return str(first["content"]) if first["role"] == "system" else ""


def turns(memory: Memory, session: str = "monday") -> list[tuple[str | None, str]]:
    return [(turn.source_role, turn.content) for turn in memory.view.transcript(session)]


async def test_an_agent_is_told_calls_tools_and_is_recorded(memory: Memory, person: Memory) -> None:
    known = AgentMemory(memory)
    coach = Agent(name="Coach", instructions=known.instructions("You coach."), tools=list(known.tools()))
    model = Model([calls("remember_fact", content="Ada runs on Sundays", confidence=None), says("Noted.")])
    (result,) = await model.run(coach, "Ada is vegetarian, right? She runs.", session=known.session("monday"))

    assert result.final_output == "Noted."
    assert model.system(0) == "You coach.\n\n## Relevant memory\n- Ada is vegetarian since March"
    assert model.system(1) == model.system(0)
    answer = json.loads(model.bodies[1]["messages"][-1]["content"])
    assert answer["status"] == "done"
    fact = person.get(answer["memory"]["id"])
    assert (fact.content, fact.trust) == ("Ada runs on Sundays", "agent")
    assert turns(person) == [("user", "Ada is vegetarian, right? She runs."), ("assistant", "Noted.")]
    assert len(person.view.recent_recalls()) == 1  # one run is told once, however many steps it takes
    assert {operation.actor for operation in person.view.operations(limit=3)} == {"agent:coach"}
    assert person.view.session("monday").source == "agents-sdk"
    assert {turn.trust for turn in person.view.page("role:user")} == {"user"}


async def test_the_tools_are_those_of_the_registry_with_plain_schemas(memory: Memory) -> None:
    known = AgentMemory(memory)
    model = Model([says("Hello.")])
    await model.run(Agent(name="Coach", tools=list(known.tools())), "Hello")
    sent = {tool["function"]["name"]: tool["function"] for tool in model.bodies[0]["tools"]}
    every = {tool.name for tool in TOOLS if tool.group != "consolidator"}
    # The session records what is said: an agent that did so too would have it twice.
    assert set(sent) == every - {"record_turn"}
    assert {tool.name for tool in AgentMemory(memory).tools(without=())} == every
    for function in sent.values():
        assert not function.get("strict")
        assert all(isinstance(node["type"], str) for node in function["parameters"]["properties"].values())


async def test_a_bad_call_comes_back_to_the_model_as_an_error(memory: Memory, person: Memory) -> None:
    known = AgentMemory(memory)
    before = person.view.count_operations()
    model = Model(
        [
            calls("correct_fact", memory_id="fact_nope", new_content="x"),
            calls("search_memory", query=7),
            says("Well."),
        ]
    )
    await model.run(Agent(name="Coach", tools=list(known.tools())), "Hello")
    codes = [json.loads(body["messages"][-1]["content"])["error"]["code"] for body in model.bodies[1:]]
    assert codes == ["not_found", "bad_arguments"]
    assert person.view.count_operations() == before


async def test_what_is_filtered_out_is_not_told(memory: Memory) -> None:
    known = AgentMemory(memory, filter="-tag:private", readonly=True)
    assert {tool.name for tool in known.tools()} == {
        tool.name for tool in TOOLS if not tool.writes and tool.group != "consolidator"
    }
    model = Model([calls("search_memory", query="blue key"), says("No.")])
    agent = Agent(name="Coach", instructions=known.instructions(), tools=list(known.tools()))
    await model.run(agent, "Which key opens the safe?")
    assert "blue key" not in json.dumps(model.bodies[1]["messages"][-1])
    assert "safe opens" not in json.dumps(model.bodies)


async def test_what_its_filter_leaves_out_is_not_recorded(
    memory: Memory, person: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    session = AgentMemory(memory, filter="project:work").session("monday")
    await session.add_items([{"role": "user", "content": "Ada takes lithium"}])
    assert person.view.count_sessions() == 0
    assert "does not match the filter" in caplog.text
    for confined in (AgentMemory(memory, project="work"), AgentMemory(memory, filter="-tag:private")):
        await confined.session("monday").add_items([{"role": "user", "content": "Ada runs"}])
    assert turns(person, "monday (agents-sdk)") + turns(person) == [("user", "Ada runs")] * 2


async def test_what_it_is_told_counts_as_a_call_and_at_the_limit_it_runs_without(
    place: Path, person: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    limit = msgspec.structs.replace(QUIET, quotas=(Quota(name="calls", limit=2, unit="calls"),))
    with Memory.open(place, actor="agent:coach", options=limit) as memory:
        model = Model([says(f"Answer {number}") for number in range(3)])
        agent = Agent(name="Coach", instructions=AgentMemory(memory).instructions())
        await model.run(agent, *["Is Ada vegetarian?"] * 3)
    assert ["since March" in model.system(number) for number in range(3)] == [True, True, False]
    assert "an agent got no memories: Your limit of 2 calls an hour is reached." in caplog.messages


async def test_the_conversation_is_kept_as_before_and_goes_on(
    memory: Memory, person: Memory, tmp_path: Path
) -> None:
    known = AgentMemory(memory)
    inner = SQLiteSession("monday", tmp_path / "chat.db")
    session = known.session("monday", inner)
    model = Model([says("One."), says("Two.")])
    await model.run(Agent(name="Coach"), "First?", "Second?", session=session)
    assert [message["content"] for message in model.bodies[1]["messages"]] == ["First?", "One.", "Second?"]
    expected = [("user", "First?"), ("assistant", "One."), ("user", "Second?"), ("assistant", "Two.")]
    assert turns(person) == expected
    assert await inner.get_items() == await session.get_items()
    taken = await session.pop_item()
    assert taken is not None
    await session.add_items([taken])
    assert turns(person) == expected
    await session.clear_session()
    assert await session.get_items() == []
    assert turns(person) == expected
    inner.close()


async def test_base_instructions_may_be_a_function_and_the_session_may_be_in_the_context(
    memory: Memory, person: Memory
) -> None:
    person.record_turn("monday", "user", "Ada is vegetarian since March")

    async def base(context: Any, agent: Agent[Any]) -> str:
        return f"You are {agent.name}."

    known = AgentMemory(memory)
    agent = Agent(name="Coach", instructions=known.instructions(base, session_id=lambda context: "monday"))
    model = Model([says("Yes.")])
    await model.run(agent, "zebra crossings")
    assert model.system(0) == "You are Coach."


async def test_a_memory_that_fails_does_not_stop_the_agent(place: Path, person: Memory) -> None:
    memory = Memory.open(place, actor="agent:coach", options=QUIET)
    known = AgentMemory(memory)
    session = known.session("monday")
    agent = Agent(name="Coach", instructions=known.instructions("You coach."))
    memory.close()
    model = Model([says("Yes.")])
    (result,) = await model.run(agent, "Is Ada vegetarian?", session=session)
    assert result.final_output == "Yes."
    assert model.system(0) == "You coach."
    assert person.view.count_sessions() == 0


def test_the_memory_must_be_open_for_an_agent(person: Memory) -> None:
    with pytest.raises(InputError, match="not for an agent"):
        AgentMemory(person)


def test_without_the_package_it_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['agents'] = None; import memtui.agents_sdk"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "DegradedError: The package openai-agents is not installed." in done.stderr


async def test_several_runs_at_once_are_told_and_recorded_apart(memory: Memory, person: Memory) -> None:
    known = AgentMemory(memory)
    agent = Agent(name="Coach", instructions=known.instructions())
    model = Model([says("Yes.")] * 6)
    from endpoint import Endpoint, Exchange, completion

    async def behave(exchange: Exchange) -> None:
        model.bodies.append(exchange.body)
        await exchange.reply(completion("Yes."))

    async with (
        Endpoint(behave) as endpoint,
        AsyncOpenAI(base_url=endpoint.url, api_key="none", max_retries=0) as client,
    ):
        agent.model = OpenAIChatCompletionsModel("tiny", client)
        run = RunConfig(tracing_disabled=True)
        await asyncio.gather(
            *(
                Runner.run(
                    agent, f"Is Ada vegetarian, {number}?", session=known.session(f"s{number}"), run_config=run
                )
                for number in range(6)
            )
        )  # fmt: skip
    for number in range(6):
        assert turns(person, f"s{number}") == [
            ("user", f"Is Ada vegetarian, {number}?"), ("assistant", "Yes."),
        ]  # fmt: skip
    assert all("vegetarian since March" in body["messages"][0]["content"] for body in model.bodies)


async def test_turns_that_the_file_did_not_take_are_recorded_with_the_next_ones(
    memory: Memory, person: Memory
) -> None:
    session = AgentMemory(memory).session("monday")
    path = memory.path
    assert path is not None
    aside = path.with_name("aside.db")
    path.rename(aside)
    await session.add_items([{"role": "user", "content": "Ada left"}])
    assert not path.exists(), "no new memory is begun"
    aside.rename(path)
    await session.add_items([{"role": "assistant", "content": "Noted"}])
    assert turns(person) == [("user", "Ada left"), ("assistant", "Noted")]


@pytest.mark.parametrize("fault", ["file", "program"])
async def test_turns_that_fail_together_are_all_recorded_later(
    fault: str, memory: Memory, person: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = AgentMemory(memory).session("monday")
    path, current, together = memory.path, memory.on_current_file, Barrier(2)
    assert path is not None
    aside = path.with_name("aside.db")

    def failing(record: Callable[[], Any]) -> Any:
        with suppress(BrokenBarrierError):  # two at once, unless one waits for the other
            together.wait(1)
        if fault == "program":
            raise RuntimeError("broken")
        return current(record)

    path.rename(aside)
    monkeypatch.setattr(memory, "on_current_file", failing)
    said = ["Ada left", "Ada runs"]
    await asyncio.gather(
        *(session.add_items([{"role": "user", "content": words}]) for words in said), return_exceptions=True
    )
    monkeypatch.undo()
    aside.rename(path)
    await session.add_items([{"role": "assistant", "content": "Noted"}])
    *first, last = [words for _, words in turns(person)]
    assert (sorted(first), last) == (said, "Noted")


async def test_a_session_keeps_what_it_had_between_two_runs_and_is_of_one_scope(memory: Memory) -> None:
    model = Model([says("Hello."), says("As I said."), says("Who are you?")])
    coach = Agent(name="Coach", model="m")
    await model.run(coach, "I run.", session=AgentMemory(memory).session("monday"))
    await model.run(coach, "What do I do?", session=AgentMemory(memory).session("monday"))
    said = [message["content"] for message in model.bodies[1]["messages"]]
    assert said == ["I run.", "Hello.", "What do I do?"]
    await model.run(coach, "Hm?", session=AgentMemory(memory, project="work").session("monday"))
    assert len(model.bodies[2]["messages"]) == 1


async def test_a_session_that_was_cleared_begins_anew(memory: Memory) -> None:
    session = AgentMemory(memory).session("monday")
    await session.add_items([{"role": "user", "content": "I run."}])
    await session.clear_session()
    assert await AgentMemory(memory).session("monday").get_items() == []


async def test_a_session_of_that_name_that_the_person_began_is_another_one(
    person: Memory, memory: Memory
) -> None:
    person.record_turn("monday", "user", "I am allergic to penicillin.")
    session = AgentMemory(memory).session("monday")
    await session.add_items([{"role": "user", "content": "I run."}])
    assert person.view.session("monday").turns == 1
    assert person.view.session("monday (agents-sdk)").turns == 1


async def test_in_a_pause_the_conversation_goes_on_and_is_not_recorded(
    memory: Memory, person: Memory, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    person.recording.pause()
    known = AgentMemory(memory)
    coach = Agent(name="Coach", instructions=known.instructions(), tools=list(known.tools()))
    session = known.session("monday")
    model = Model(
        [calls("remember_fact", content="Ada flies to Zanzibar"), says("A fine place."), says("Welcome.")]
    )
    await model.run(coach, "Ada is vegetarian and flies to Zanzibar", session=session)
    assert "- Ada is vegetarian since March" in model.system(0)
    assert "Recording is paused" in model.bodies[1]["messages"][-1]["content"]
    person.recording.resume()
    await model.run(coach, "Back from there", session=session)
    assert turns(person) == [("user", "Back from there"), ("assistant", "Welcome.")]
    assert "Recording is paused" in caplog.text and "Zanzibar" not in caplog.text
    assert b"Zanzibar" not in b"".join(path.read_bytes() for path in place.parent.iterdir() if path.is_file())
