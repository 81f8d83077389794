"""The context block in a conversation that goes on: what stands in it is told again only where it should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import briefing, repeats
from memtui.engine.search.briefing import ContextBlock
from memtui.engine.search.profiles import configured_profile

NOW = 1_764_590_400.0
QUIET = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=QUIET, clock=lambda: NOW) as memory:
        yield memory


def told(memory: Memory, prompt: str, there: repeats.ServedLines, **given: str) -> ContextBlock:
    with memory._core.connections.read() as connection:
        profile, _ = configured_profile(connection, "default")
        return briefing.build_block(
            connection, prompt, profile=profile, embedder="none", now=NOW, fade_threshold=0.05, served_lines=there, **given
        )  # fmt: skip


def test_a_fact_is_told_once_and_the_tokens_saved_are_counted(memory: Memory) -> None:
    memory.remember("The greenhouse project deploys to Hetzner with Ansible playbooks")
    there = repeats.ServedLines({})
    first = told(memory, "fix the Ansible role", there)
    assert "Hetzner" in first.text and first.saved == 0
    again = told(memory, "another change to the Ansible role", there)
    assert (again.text, again.memories) == ("", []) and again.saved == first.tokens
    assert [one.reason for one in again.left_out] == ["it is in the conversation already"]


def test_it_comes_again_when_the_prompt_names_it(memory: Memory) -> None:
    memory.remember("The greenhouse project deploys to Hetzner with Ansible playbooks")
    there = repeats.ServedLines({})
    told(memory, "fix the Ansible role", there)
    assert "Hetzner" in told(memory, "does the greenhouse project still deploy to Hetzner?", there).text


def test_what_took_its_place_is_told_and_the_old_one_again_when_that_is_undone(memory: Memory) -> None:
    fact = memory.remember("The greenhouse project deploys to Hetzner with Ansible playbooks")
    there = repeats.ServedLines({})
    told(memory, "fix the Ansible role", there)
    memory.correct(fact.id, "The greenhouse project deploys to Scaleway with Ansible playbooks")
    assert "Scaleway" in told(memory, "fix the Ansible role", there).text
    assert told(memory, "fix the Ansible role", there).text == ""
    memory.undo()
    assert "Hetzner" in told(memory, "fix the Ansible role", there).text


def test_a_line_with_a_new_caution_is_another_line(memory: Memory) -> None:
    fact = memory.remember("The boat lies in Lisbon")
    there = repeats.ServedLines({})
    with memory._core.connections.read() as connection:
        there.add_served(connection, [(fact, fact.content)])
    assert there.was_served(fact, fact.content)
    assert not there.was_served(fact, f"[corrected on 1 Dec 2025] {fact.content}")


def test_what_warns_of_harm_comes_whenever_the_prompt_is_about_it(memory: Memory) -> None:
    memory.remember("I am allergic to walnuts", topic="health")
    there = repeats.ServedLines({})
    assert "walnuts" in told(memory, "plan a dinner for tonight", there).text
    assert "walnuts" in told(memory, "and a dinner for tomorrow", there).text
    assert told(memory, "rename the variable in this function", there).text == ""


def test_rules_of_the_project_come_once_and_again_when_the_prompt_bears_on_them(memory: Memory) -> None:
    memory.remember("Always write commit messages in English", topic="rule", project="boat")
    there = repeats.ServedLines({})
    assert "commit messages" in told(memory, "fix the bug", there, project="boat").text
    assert told(memory, "fix the other bug", there, project="boat").text == ""
    assert "commit messages" in told(memory, "write a commit", there, project="boat").text


def test_without_a_conversation_all_is_told_every_time(memory: Memory) -> None:
    memory.remember("The greenhouse project deploys to Hetzner with Ansible playbooks")
    assert memory.context("the Ansible role").text == memory.context("the Ansible role").text != ""
