"""The tools for observations and the scratchpad, called as an agent calls them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import LlmOptions, Options
from memtui.engine.tools.registry import Toolbox

QUIET = Options(embedder="off", background=False)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, actor="agent:scout", options=QUIET) as opened:
        yield opened


def response(box: Toolbox, name: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(box.call(name, arguments).text)
    return answer


def test_what_is_remembered_is_recalled_by_its_words(memory: Memory) -> None:
    box = Toolbox.of(memory)
    kept = response(
        box, "remember_observations", findings=["The API rate limit is 100 a minute"], lessons=["Batch the calls"],
        source="GOAL:probe",
    )["observations"]  # fmt: skip
    assert [(one["category"], one["source"], one["trust"]) for one in kept] == [
        ("finding", "GOAL:probe", "agent"), ("lesson", "GOAL:probe", "agent"),
    ]  # fmt: skip
    [found] = response(box, "recall_observations", query="rate limits")["observations"]
    assert found["id"] == kept[0]["id"] and 0 < found["score"] < 1
    assert response(box, "recall_observations", query="rate limits", category="lesson")["observations"] == []
    assert (
        response(box, "recall_observations", query="rate limits", before="2001-01-01")["observations"] == []
    )
    assert len(response(box, "recall_observations", query="rate limits", after="7d")["observations"]) == 1
    [recall, *_] = memory.view.recent_recalls()
    assert (recall.agent, recall.memory_ids) == ("scout", (kept[0]["id"],))
    assert memory.view.operations()[0].actor == "agent:scout"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("remember_observations", {}, "refused"),
        ("remember_observations", {"findings": [], "insights": None}, "refused"),
        ("remember_observations", {"findings": [" "]}, "refused"),
        ("remember_observations", {"findings": "one text"}, "bad_arguments"),
        ("remember_observations", {"facts": ["x"]}, "bad_arguments"),
        ("remember_observations", {"lessons": ["x" * 20_001]}, "bad_arguments"),
        ("recall_observations", {}, "bad_arguments"),
        ("recall_observations", {"query": "x", "limit": 51}, "bad_arguments"),
        ("recall_observations", {"query": "x", "category": "idea"}, "bad_arguments"),
        ("recall_observations", {"query": "x", "after": "some day"}, "refused"),
        ("observe_step", {"step_name": "a"}, "bad_arguments"),
        ("scratchpad_read", {"key": "missing"}, "not_found"),
        ("scratchpad_write", {"key": "two\nlines", "value": "x"}, "refused"),
        ("scratchpad_write", {"key": "x" * 201, "value": ""}, "bad_arguments"),
        ("scratchpad_write", {"key": "x", "value": "y" * 100_001}, "bad_arguments"),
        ("scratchpad_write", {"key": "x", "value": 3}, "bad_arguments"),
        ("scratchpad_write", {"key": "x", "value": "nul\0"}, "refused"),
        ("scratchpad_search", {"query": ""}, "bad_arguments"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    memory: Memory, name: str, arguments: dict[str, Any], code: str
) -> None:
    error = response(Toolbox.of(memory), name, **arguments)["error"]
    assert error["code"] == code and error["message"]
    assert memory.view.operations() == [] and memory.scratchpad.keys() == []


def test_without_one_of_the_three_the_error_names_them(memory: Memory) -> None:
    assert (
        "findings, insights, lessons"
        in response(Toolbox.of(memory), "remember_observations")["error"]["hint"]
    )


def test_a_step_is_read_for_what_it_says_matters(memory: Memory) -> None:
    output = "Ran 40 tests in 9 minutes. We decided to pin the driver to version 3.1 because of the leak."
    kept = response(Toolbox.of(memory), "observe_step", step_name="tests", step_type="AGENT", output=output)[
        "observations"
    ]
    assert [(one["content"], one["source"], one["trust"]) for one in kept] == [
        ("We decided to pin the driver to version 3.1 because of the leak.", "AGENT:tests", "model")
    ]
    for nothing in ("short", "Nothing of note happened in this step, and that is all there is to say."):
        answer = response(Toolbox.of(memory), "observe_step", step_name="tests", output=nothing)
        assert answer["observations"] == [] and answer["note"]


async def test_a_step_is_read_also_where_a_loop_is_running_and_a_model_that_fails_is_told(
    place: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    options = Options(embedder="off", background=False, llm=LlmOptions(base_url=url, model="tiny"))
    with Memory.open(place, actor="agent:scout", options=options) as memory:
        error = response(
            Toolbox.of(memory), "observe_step", step_name="a", output="A step that says enough. " * 5
        )["error"]
        assert error["code"] == "unavailable" and "cannot be reached" in error["message"]
        assert memory.view.operations() == []


def test_the_scratchpad_is_written_read_listed_and_searched(memory: Memory) -> None:
    box = Toolbox.of(memory)
    written = response(box, "scratchpad_write", key="api.Größe", value="hundert")
    assert written["key"] == "api.Größe"
    assert response(box, "scratchpad_read", key="api.Größe")["value"] == "hundert"
    response(box, "scratchpad_write", key="task", value="x" * 50_000)
    assert response(box, "scratchpad_list") == {"keys": ["api.Größe", "task"], "more": 0}
    assert response(box, "scratchpad_list", prefix="api.")["keys"] == ["api.Größe"]
    assert [one["key"] for one in response(box, "scratchpad_search", query="GRÖSSE")["entries"]] == [
        "api.Größe"
    ]
    [long] = response(box, "scratchpad_search", query="XXX")["entries"]
    assert len(long["value"]) == 2_000 and not long["whole"]
    assert len(response(box, "scratchpad_read", key="task")["value"]) == 50_000
    assert {operation.actor for operation in memory.view.operations()} == {"agent:scout"}


def test_a_confined_agent_recalls_what_is_within_its_filter_and_writes_into_it(memory: Memory) -> None:
    memory.observations.remember(["The deploy key is in the safe"])
    confined = Toolbox.of(memory, filter="tag:work", project="apollo")
    assert response(confined, "recall_observations", query="deploy key safe")["observations"] == []
    [kept] = response(confined, "remember_observations", insights=["The deploy is slow"])["observations"]
    record = memory.get(kept["id"])
    assert (record.tags, record.project) == (("work",), "apollo")
    assert [
        one["id"] for one in response(confined, "recall_observations", query="deploy")["observations"]
    ] == [record.id]


def test_a_confined_agent_does_not_learn_that_a_text_is_there_already(memory: Memory) -> None:
    [outside] = memory.observations.remember(["The deploy is slow"])
    [kept] = response(
        Toolbox.of(memory, filter="tag:work"), "remember_observations", findings=["The deploy is slow"]
    )["observations"]
    assert kept["id"] != outside.id and memory.get(kept["id"]).tags == ("work",)


def test_a_reading_agent_has_no_tool_that_writes(memory: Memory) -> None:
    box = Toolbox.of(memory, readonly=True)
    names = {tool.name for tool in box}
    assert {"recall_observations", "scratchpad_read"} <= names
    assert not names & {"remember_observations", "observe_step", "scratchpad_write"}


def test_what_would_lie_outside_of_the_filter_is_refused_whole(memory: Memory) -> None:
    confined = Toolbox.of(memory, filter="-salary")
    error = response(confined, "remember_observations", findings=["The build is slow", "The salary is high"])[
        "error"
    ]
    assert error["code"] == "refused" and memory.view.operations() == []
