"""What is written down again is one fact: case, spaces and the stop at the end do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options


@pytest.mark.parametrize("again", ["I like tea", "i like tea.", " I  like\ttea!", "I LIKE TEA …"])
def test_the_same_text_is_the_same_fact(tmp_path: Path, again: str) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        first = memory.remember("I like tea.")
        assert memory.remember(again).id == first.id
        assert memory.get(first.id).content == "I like tea."


@pytest.mark.parametrize("other", ["I like tea?", "I like teas", "I like green tea."])
def test_another_text_is_another_fact(tmp_path: Path, other: str) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        assert memory.remember("I like tea.").id != memory.remember(other).id


def test_a_topic_that_is_said_later_is_set_where_there_is_none(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        first = memory.remember("I like tea on 3 december")
        assert memory.remember("i like tea on 3 december.", topic="preference").topic == "preference"
        assert memory.get(first.id).happens_at == first.happens_at
        assert memory.remember("I like tea on 3 december", topic="health").topic == "preference"


def test_an_agent_gives_what_the_person_vouches_for_no_topic(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    options = Options(background=False)
    with (
        Memory.open(path, options=options) as memory,
        Memory.open(path, actor="agent:codex", options=options) as agent,
    ):
        agent.remember("The user is allergic to nuts")
        noted = agent.remember("The user is allergic to nuts", topic="health")
        assert (noted.topic, noted.decay_rate) == ("health", 0.0)
        memory.remember("A pot of tea at four")
        assert agent.remember("A pot of tea at four", topic="home").topic != "home"
        assert memory.remember("The user is allergic to nuts", topic="home").topic == "home"


def test_the_day_is_worked_out_before_the_file_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        monkeypatch.setattr("memtui.engine.memories.operations.day_of_fact", None)
        assert memory.remember("Dinner with Ada on 5 december").happens_at is not None
