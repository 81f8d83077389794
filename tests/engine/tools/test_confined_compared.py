"""A confined store with a hidden rest beside one that never held the rest: the same answers, byte by byte.

Ten scopes, and to each the same probes: every tool, resources, scores, counts, errors, names. Times are those of one clock,
and only ids, which are drawn by chance, are told apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from door_kit import NOW, beside
from memtui import Memory
from memtui.engine.errors import MemtuiError
from memtui.engine.records import Options
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import TOOLS, run_tool
from memtui.mcp import resources

from clock import Clock

DAY = 86_400
SCOPES: list[dict[str, str]] = [
    {"project": "work"}, {"project": "Work"}, {"filter": "project:work"}, {"filter": "-project:health,home"},
    {"filter": "-project:health -tag:private"}, {"filter": "tag:team"}, {"filter": "trust:user", "project": "work"},
    {"filter": "kind:fact,observation,episode", "project": "work"}, {"filter": "-penicillin", "project": "work"},
    {"filter": "after:2025-11-01", "project": "work"},
]  # fmt: skip
HIDDEN = ["penicillin", "Selma Lund", "Turku", "biopsy", "the rate limit biopsy", "selma", "doctor"]
SHOWN = ["rate limit", "Initech", "Ada Lopez", "Postgres ledger", "standup", "launch on Friday"]


def _store(*, hidden: bool) -> tuple[Memory, Clock]:
    """What is hidden is written in between, so that its rows and counts lie among the others."""
    clock = Clock(NOW)
    store = Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off"))
    shown: dict[str, Any] = {"project": "work", "tags": ["team"]}
    for number in range(8):
        clock.now += 60
        if hidden:
            _hide(store, number)
        store.remember(f"Ada Lopez of Initech runs service {number}", **shown)
        store.observations.remember(findings=[f"The rate limit of service {number} is {number}00"], **shown)
        store.record_turn(
            "default",
            "user",
            f"Standup note {number}: the Postgres ledger grows",
            project="work",
            source="desk",
        )
    clock.now += DAY
    return store, clock


def _hide(store: Memory, number: int) -> None:
    private: dict[str, Any] = {"project": "health", "tags": ["private"]}
    store.remember(f"Selma Lund, my doctor in Turku, gave me penicillin {number}", **private)
    store.observations.remember(lessons=[f"The biopsy of the rate limit team, {number}"], **private)
    store.record_turn("default", "user", f"I am allergic to penicillin, biopsy {number}", project="health")
    store.scratchpad.set(f"task {number}", "call Selma Lund about the biopsy")
    wisher = beside(store)
    for memory in store.view.page("project:health kind:fact", limit=2):
        run_tool(wisher, "forget_fact", {"memory_id": memory.id, "reason": "Selma"})


def _probes() -> Iterator[tuple[str, dict[str, Any]]]:
    for words in (*HIDDEN, *SHOWN):
        for kind in (None, "fact", "episode", "observation", "reflection"):
            yield "search_memory", {"query": words, "kind": kind, "limit": 50}
        yield "search_memory", {"query": words, "tag": "private"}
        yield "get_context", {"prompt": words, "session_id": "default", "limit": 50}
        yield "recall_observations", {"query": words, "limit": 50}
        yield "recall_observations", {"query": words, "category": "lesson", "min_score": 0.1}
        yield "get_entity_info", {"name": words}
        yield "scratchpad_search", {"query": words}
    yield "memory_stats", {}
    yield "about_user", {}
    yield "over_time", {"limit": 50}
    yield "over_time", {"topic": "plan", "since": "2020"}
    yield "about_user", {"topic": "health", "limit": 50}
    for session in ("default", "default (agent:bot)", "nowhere"):
        for tool in (
            "is_session_consolidated",
            "get_episodes_for_consolidation",
            "mark_session_consolidated",
        ):
            yield tool, {"session_id": session}
    for words in ("I am allergic to penicillin, biopsy 3", "The ledger grows"):
        yield "record_turn", {"session_id": "default", "role": "user", "content": words}
        yield "remember_fact", {"content": words}
        yield "remember_observations", {"lessons": [words, "The biopsy of the rate limit team, 3"]}
    yield "get_episodes_for_consolidation", {"session_id": "default"}
    for id in ("fact_000000000000", "fact", "", "obs_000000000000"):
        yield "explain_search", {"query": "the rate limit", "memory_id": id}
        for tool in ("confirm_fact", "forget_fact"):
            yield tool, {"memory_id": id}
        yield "correct_fact", {"memory_id": id, "new_content": "Likes tea"}
    yield "scratchpad_list", {}
    for key in ("task 3", "task", "[project:work] x"):
        yield "scratchpad_read", {"key": key}
        yield "scratchpad_write", {"key": key, "value": "ship it"}
    yield "scratchpad_list", {"prefix": "t"}
    yield (
        "save_facts_batch",
        {"session_id": "default", "facts": [{"content": "x", "source_ids": ["ep_000000000000"]}]},
    )
    yield (
        "detect_conflicts",
        {"new_fact_id": "fact_000000000000", "new_fact_content": "x", "session_id": "default"},
    )
    yield "resolve_conflict", {"new_fact_id": "fact_0", "old_fact_id": "fact_1", "reason": "newer"}
    yield "observe_step", {"step_name": "x", "output": "short"}
    yield "memory_stats", {}


def _told(agent: Agent, clock: Clock) -> list[str]:
    known: dict[str, str] = {}
    answers = []
    for name, arguments in _probes():
        clock.now += 1
        answers.append(f"{name} {arguments} {run_tool(agent, name, arguments).text}")
    for uri in ("memory://reflection/latest", "memory://fact_000000000000", "memory://", "x"):
        try:
            answers.append(resources.read_resource(agent, uri).text)
        except MemtuiError as error:
            answers.append(f"{error.message} {error.hint}")
    answers.append(repr(resources.list_resources(agent)))
    return [
        re.sub(
            r"\b(fact|ep|obs|ref|ent)_[0-9a-f]{12}\b",
            lambda id: known.setdefault(id[0], f"ID{len(known)}"),
            one,
        )
        for one in answers
    ]


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_a_confined_agent_is_answered_as_if_there_were_no_rest(scope: dict[str, str]) -> None:
    (whole, one_clock), (part, other_clock) = _store(hidden=True), _store(hidden=False)
    with whole, part:
        before = {one.id: one for one in whole.view.page("project:health is:active,trash", limit=1_000)}
        answer = _told(beside(whole, **scope), one_clock)
        wanted = _told(beside(part, **scope), other_clock)
        assert len(answer) > 185
        for mine, other in zip(answer, wanted, strict=True):
            assert mine == other
        after = {
            one.id: one.content for one in whole.view.page("project:health is:active,trash", limit=1_000)
        }
        assert after == {id: one.content for id, one in before.items()}


def test_every_tool_is_probed() -> None:
    assert {name for name, _ in _probes()} == {tool.name for tool in TOOLS}
