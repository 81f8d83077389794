"""What an agent may write and ask in a clock hour. All processes at one file share the limits."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from door_kit import NOW
from memtui import Memory, Toolbox
from memtui.engine.errors import QuotaError
from memtui.engine.records import QUOTAS, Options, Quota
from memtui.engine.tools.agent import Agent
from memtui.mcp import resources

from clock import Clock

HOUR = 3_600


def limits(**wanted: int) -> Options:
    """Without limits but for these."""
    quotas = tuple(
        Quota(name=quota.name, limit=wanted.get(quota.name, 0), unit=quota.unit) for quota in QUOTAS
    )
    return Options(background=False, embedder="off", quotas=quotas)


class Office:
    """A file that several programs open."""

    def __init__(self, path: Path, clock: Clock, options: Options) -> None:
        self.path, self.clock, self.options = path, clock, options
        self.opened: list[Memory] = []

    def memory(self, actor: str = "agent:bot") -> Memory:
        memory = Memory.open(self.path, actor=actor, clock=self.clock, options=self.options)
        self.opened.append(memory)
        return memory

    def box(self, name: str = "bot", **narrowed: Any) -> Toolbox:
        return Toolbox.of(self.memory(f"agent:{name}"), **narrowed)


@pytest.fixture
def office(tmp_path: Path, clock: Clock) -> Iterator[Office]:
    place = Office(tmp_path / "memory.db", clock, limits(writes=3))
    yield place
    for memory in place.opened:
        memory.close()


def said(box: Toolbox, text: str = "The standup is at nine.") -> str:
    """Record a turn; the code of the error, "" if there was none."""
    answer = box.call("record_turn", {"session_id": "s", "role": "user", "content": text})
    return answer.error.code if answer.error else ""


def turns(office: Office) -> int:
    return office.memory("person").view.count("kind:episode")


def test_an_agent_at_its_limit_is_told_when_it_may_go_on(
    office: Office, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.now = NOW - NOW % HOUR + 20 * 60 + 30
    box = office.box()
    with caplog.at_level(logging.WARNING, "memtui.quotas"):
        assert [said(box) for _ in range(5)] == ["", "", "", "quota", "quota"]
    answer = box.call("record_turn", {"session_id": "s", "role": "user", "content": "One more."})
    assert json.loads(answer.text)["error"] == {
        "code": "quota",
        "message": "Your limit of 3 writes an hour is reached.",
        "hint": "Nothing was stored. Writing goes on in 40 minutes; reading works meanwhile.",
    }
    assert caplog.messages == ["agent bot has reached its limit of 3 writes an hour"]
    assert turns(office) == 3


def test_every_tool_that_writes_counts(office: Office) -> None:
    office.memory("person").remember("The standup is at nine")
    box = office.box()
    assert box.call("remember_fact", {"content": "Ada likes tea"}).ok
    assert box.call("scratchpad_write", {"key": "task", "value": "tea"}).ok
    assert box.call("remember_observations", {"findings": ["The proxy drops cookies"]}).ok
    fact = office.memory("person").view.page("kind:fact standup", limit=1)[0].id
    for name, arguments in (
        ("remember_fact", {"content": "Ada likes coffee"}),
        ("scratchpad_write", {"key": "task", "value": "coffee"}),
        ("remember_observations", {"findings": ["The cache is cold"]}),
        ("forget_fact", {"memory_id": fact}),
        ("correct_fact", {"memory_id": fact, "new_content": "The standup is at ten"}),
    ):
        error = box.call(name, arguments).error
        assert error is not None and error.code == "quota", name
    assert office.memory("person").scratchpad.get("task").value == "tea"


def test_programs_share_the_limit_and_the_next_hour_goes_on(office: Office, clock: Clock) -> None:
    one, other = office.box(), office.box()
    assert [said(one), said(other), said(one), said(other), said(one)] == ["", "", "", "quota", "quota"]
    clock.now += HOUR
    assert [said(one), said(other)] == ["", ""]


def test_another_process_shares_the_limit(office: Office) -> None:
    said(office.box())
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_quotas import Clock, NOW, Office, limits, said\n"
        "from pathlib import Path\n"
        "box = Office(Path(sys.argv[1]), Clock(NOW), limits(writes=3)).box()\n"
        "print(*(said(box) or 'ok' for _ in range(3)))"
    )
    here = Path(__file__).parent
    output = subprocess.run(
        [sys.executable, "-c", script, str(office.path), str(here), str(here.parent.parent)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert output.stdout.split() == ["ok", "ok", "quota"]
    assert said(office.box()) == "quota"


def test_other_agents_scopes_and_programs_are_not_concerned(office: Office) -> None:
    box = office.box()
    assert [said(box) for _ in range(4)][-1] == "quota"
    assert said(office.box("other")) == ""
    assert said(office.box(project="work")) == ""
    for _ in range(5):
        box.agent.memory.record_turn("s", "user", "What the person said.")
    office.memory("person").remember("The person's own word")
    assert turns(office) == 3 + 1 + 1 + 5


def test_reading_goes_on_at_the_limit_of_writes_and_a_refused_write_is_not_counted(office: Office) -> None:
    box = office.box()
    for _ in range(5):
        assert not box.call("correct_fact", {"memory_id": "fact_0", "new_content": "x"}).ok
        assert not box.call("record_turn", {"session_id": "s", "role": "user", "content": " "}).ok
    assert [said(box) for _ in range(4)] == ["", "", "", "quota"]
    assert box.call("search_memory", {"query": "standup"}).ok
    assert box.call("memory_stats").ok


def test_text_is_limited_by_its_bytes(office: Office) -> None:
    office.options = limits(bytes=100)
    box = office.box()
    assert [said(box, "é" * 40), said(box, "e" * 40), said(box, "e")] == ["", "quota", ""]
    error = box.call("record_turn", {"session_id": "s", "role": "user", "content": "e" * 200}).error
    assert error is not None
    assert error.hint == "Nothing was stored. This text alone is longer: store a shorter one."


def test_calls_are_limited_and_those_of_others_are_known_by_the_next_write(office: Office) -> None:
    office.options = limits(calls=6)
    one, other = office.box(), office.box()
    for _ in range(3):
        assert one.call("memory_stats").ok
    assert [said(one), said(other)] == ["", ""]
    assert other.call("memory_stats").ok
    error = other.call("memory_stats").error
    assert error is not None and error.code == "quota"
    assert error.message == "Your limit of 6 calls an hour is reached."
    assert Toolbox.of(other.agent.memory).call("memory_stats").error is not None


def test_zero_is_no_limit(office: Office) -> None:
    office.options = limits()
    box = office.box()
    assert {said(box) for _ in range(10)} == {""}


def test_counts_are_no_history_and_go_after_a_day(office: Office, clock: Clock) -> None:
    box = office.box()
    said(box)
    clock.now += 25 * HOUR
    said(box)
    with office.memory("person")._core.connections.read() as connection:
        assert connection.execute("SELECT hour, writes FROM agent_usage").fetchall() == [
            (int(clock.now // HOUR), 1)
        ]
        assert connection.execute("SELECT 1 FROM changes WHERE tbl = 'agent_usage'").fetchall() == []


def test_who_is_near_a_limit_is_told(office: Office) -> None:
    box = office.box()
    said(box), said(box)
    assert office.memory("person").quotas.near() == []
    said(box)
    [(usage, quota)] = office.memory("person").quotas.near()
    assert (usage.agent, usage.of(quota), quota.name) == ("bot", 3, "writes")


def test_resources_are_counted_as_calls_are(office: Office, clock: Clock) -> None:
    office.options = limits(calls=3)
    fact = office.memory("person").remember("Ada keeps bees")
    agent = Agent(office.memory())
    for _ in range(3):
        assert "bees" in resources.read_resource(agent, f"memory://{fact.id}").text
    with pytest.raises(QuotaError, match="limit of 3 calls an hour"):
        resources.read_resource(agent, f"memory://{fact.id}")
    clock.now += HOUR
    assert "bees" in resources.read_resource(agent, f"memory://{fact.id}").text
