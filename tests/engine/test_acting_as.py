"""One open file for several agents: each signs its own changes, sees its own scope, and closes nothing."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from memtui import InputError, Memory
from memtui.engine.records import Options, Quota
from memtui.engine.tools.registry import Toolbox

QUIET = Options(background=False, embedder="off")
AGENTS = 8


def test_each_agent_signs_what_it_writes_and_is_logged_under_its_name(place: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        memory.remember("The launch is secret", tags=["private"], project="moon")
        memory.remember("Ada likes tea", project="tea")
        one, two = memory.acting_as("agent:one"), memory.acting_as("agent:two")
        written = one.remember("Ada lives in Ghent")
        inside = Toolbox.of(two, project="tea").call("search_memory", {"query": "Ada launch secret tea"})
        assert "tea" in inside.text
        assert "launch" not in inside.text
        assert memory.actor == "person"
        assert memory.view.operations(limit=1)[0].actor == "agent:one"
        assert {recall.agent for recall in memory.view.recent_recalls()} == {"two"}
        two.close()
        assert one.get(written.id).content == "Ada lives in Ghent"
        with pytest.raises(InputError):
            memory.acting_as("somebody")


def test_agents_write_through_one_writer_at_once_and_nothing_is_lost(place: Path) -> None:
    told: list[str] = []
    with Memory.open(place, options=QUIET) as memory:
        memory.subscribe("changed", lambda changes: told.extend(changes.ids))

        def write(name: str) -> None:
            own = memory.acting_as(f"agent:{name}")
            for number in range(10):
                own.remember(f"{name} counted sheep {number}")

        threads = [Thread(target=write, args=(f"a{number}",)) for number in range(AGENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.view.count("kind:fact") == AGENTS * 10
        assert len(set(told)) == AGENTS * 10, "a subscriber hears of all agents' changes"
        assert memory.files.check(deep=True).ok


def test_a_limit_is_that_of_each_agent(place: Path) -> None:
    limited = Options(
        background=False, embedder="off", quotas=(Quota(name="writes", limit=1, unit="writes"),)
    )
    with Memory.open(place, options=limited) as memory:
        one, two = (Toolbox.of(memory.acting_as(f"agent:{name}")) for name in ("one", "two"))
        assert one.call("remember_fact", {"content": "Ada likes tea"}).ok
        assert not one.call("remember_fact", {"content": "Ada likes rum"}).ok
        assert two.call("remember_fact", {"content": "Ada likes ale"}).ok
