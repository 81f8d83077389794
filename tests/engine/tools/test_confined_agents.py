"""What lies outside an agent's filter does not exist for it: no tool tells it, counts it, names it or changes it.

Every memory has a word of its own. A store is asked everything that a model could think of to ask, also with
ids, words, names and sessions from outside; no answer may hold a word or an id of what is outside, and what is
outside stays as it was. The same questions to a store that never held the outside get the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from door_kit import NOW, beside
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import FilterError, InputError
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import TOOLS, run_tool

from clock import Clock

FILTERS = [
    "tag:work", "-tag:work", "project:atlas", "-project:atlas", "kind:fact", "kind:fact,observation", "session:s0",
    "Bergen", "-Bergen", "trust:user", "tag:work -Bergen", "is:protected", "after:2025-11-22", "text:nothing-has-this",
]  # fmt: skip
NAMES = ["Ada Lovelace", "Otto Berg", "Selma Lund"]
PLACES = ["Bergen", "Lisbon", "Turku"]
SESSIONS = ["s0", "s1"]


class Spec(NamedTuple):
    kind: str
    name: str
    place: str
    work: bool
    atlas: bool
    session: str
    person: bool
    late: bool


specs = st.builds(
    Spec, st.sampled_from(["fact", "fact", "episode", "observation"]), st.sampled_from(NAMES), st.sampled_from(PLACES),
    st.booleans(), st.booleans(), st.sampled_from(SESSIONS), st.booleans(), st.booleans(),
)  # fmt: skip


def _store(store: Memory, spec: Spec, word: str, clock: Clock) -> None:
    clock.now = NOW + 86_400 * spec.late
    tags = ["work"] if spec.work else []
    project = "atlas" if spec.atlas else None
    text = f"{spec.name} was in {spec.place} with {word}"
    writer = store if spec.person else beside(store).memory
    if spec.kind == "episode":
        writer.record_turn(spec.session, "user" if spec.person else "tool", text, clock.now, project=project)
    elif spec.kind == "fact":
        writer.remember(text, tags=tags, project=project)
    else:
        writer.observations.remember(findings=[text], tags=tags, project=project)


def _built(wanted: list[tuple[int, Spec]]) -> tuple[Memory, Clock]:
    clock = Clock(NOW)
    store = Memory.open(":memory:", clock=clock, options=Options(background=False, embedder="off"))
    for number, spec in wanted:
        _store(store, spec, f"zq{number}x", clock)
    clock.now = NOW + 3 * 86_400
    return store, clock


def _asked(ids: list[str], words: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A call of every tool, with each of these where it fits."""
    yield "memory_stats", {}
    yield "about_user", {"limit": 50}
    yield "over_time", {"limit": 50}
    for query in ["Ada Bergen", "where was Otto Berg?", *words[:4]]:
        yield "search_memory", {"query": query, "limit": 50}
        yield "search_memory", {"query": query, "kind": "fact", "tag": "work"}
        yield "get_context", {"prompt": query, "limit": 50, "session_id": "s1"}
        yield "recall_observations", {"query": query, "limit": 50}
    for name in (*NAMES, *PLACES, "atlas", "nobody"):
        yield "get_entity_info", {"name": name, "limit": 50}
    for session in (*SESSIONS, "nowhere"):
        yield "is_session_consolidated", {"session_id": session}
        yield "get_episodes_for_consolidation", {"session_id": session}
    for id in ids:
        for query in ("Ada Bergen", "where was Otto Berg?"):  # it says the words of a question again
            yield "explain_search", {"query": query, "memory_id": id}
        fact = {"content": "Has moved house", "source_ids": [id]}
        yield "save_facts_batch", {"session_id": "s0", "facts": [fact]}
        yield "detect_conflicts", {"new_fact_id": id, "new_fact_content": "x", "session_id": "s0"}
        yield "resolve_conflict", {"new_fact_id": ids[0], "old_fact_id": id, "reason": "newer"}
        yield "resolve_conflict", {"new_fact_id": id, "old_fact_id": ids[-1], "reason": "newer"}
        yield "confirm_fact", {"memory_id": id}
        yield "forget_fact", {"memory_id": id, "reason": "old"}
        yield "correct_fact", {"memory_id": id, "new_content": f"Was never in Oslo, {id[-3:]}"}
    for session in SESSIONS:
        yield "mark_session_consolidated", {"session_id": session}


def _all(store: Memory) -> dict[str, MemoryRecord]:
    return {one.id: one for one in store.view.page("is:active,trash", limit=1_000)}


@settings(max_examples=25, deadline=None)
@given(wanted=st.lists(specs, min_size=1, max_size=8), filter=st.sampled_from(FILTERS))
def test_no_tool_tells_or_changes_what_lies_outside(wanted: list[Spec], filter: str) -> None:
    store, _ = _built(list(enumerate(wanted)))
    with store:
        everything = _all(store)
        inside = {one.id for one in store.view.page(filter, limit=1_000)}
        outside = {id: one for id, one in everything.items() if id not in inside}
        secret = {re.findall(r"zq\d+x", one.content)[0] for one in outside.values()}
        agent = beside(store, filter=filter)
        for name, arguments in _asked([*everything], sorted(secret)):
            answer = run_tool(agent, name, arguments)
            sent = repr(arguments)
            output = {word for word in (*secret, *outside) if word in answer.text and word not in sent}
            assert not output, (name, arguments, answer.text)
            if answer.ok:
                assert not (secret & set(re.findall(r"zq\d+x", answer.text))), (name, arguments, answer.text)
            for id in outside:
                if id in sent and name not in ("save_facts_batch", "detect_conflicts"):
                    assert not answer.ok, (name, arguments, answer.text)
        now = _all(store)
        assert {id: now[id] for id in outside} == outside
        for one in (one for id, one in now.items() if id not in everything and one.active):
            assert store.view.count(f"{filter} id:{one.id}") == 1  # what it wrote is within


@settings(max_examples=25, deadline=None)
@given(wanted=st.lists(specs, min_size=1, max_size=8), filter=st.sampled_from(FILTERS))
def test_the_answers_are_those_of_a_store_that_never_held_the_outside(
    wanted: list[Spec], filter: str
) -> None:
    numbered = list(enumerate(wanted))
    whole, _ = _built(numbered)
    with whole:
        inside = [re.findall(r"zq(\d+)x", one.content)[0] for one in whole.view.page(filter, limit=1_000)]
        part, _ = _built([one for one in numbered if str(one[0]) in inside])
        with part:
            one, other = beside(whole, filter=filter), beside(part, filter=filter)
            for name, arguments in _asked(["fact_000000000000"], [f"zq{number}x" for number, _ in numbered]):
                assert _plain(one, name, arguments) == _plain(other, name, arguments), (name, arguments)


def _plain(agent: Agent, name: str, arguments: dict[str, Any]) -> list[str]:
    """An answer without its random ids; as words, because the order of equals follows how rare words are."""
    text = re.sub(r"\b(fact|ep|obs|ref)_[0-9a-f]{12}", "ID", run_tool(agent, name, arguments).text)
    text = re.sub(r'"score":[0-9.]+', "", text)
    return sorted(re.findall(r"\w+", text))


def test_an_unknown_memory_and_one_outside_are_the_same_error() -> None:
    store, _ = _built([(0, Spec("fact", "Ada Lovelace", "Bergen", False, False, "s0", True, False))])
    with store:
        [hidden] = _all(store)
        agent = beside(store, project="atlas")
        for tool in ("confirm_fact", "forget_fact"):
            one = run_tool(agent, tool, {"memory_id": hidden}).text
            other = run_tool(agent, tool, {"memory_id": "fact_000000000000"}).text
            assert one.replace(hidden, "X") == other.replace("fact_000000000000", "X")


def test_what_a_confined_agent_remembers_is_within_and_repeats_nothing_from_outside() -> None:
    store, _ = _built([])
    with store:
        outside = store.remember("Lives in Bergen")
        agent = beside(store, filter="tag:work", project="atlas")
        answer = run_tool(agent, "remember_fact", {"content": "Lives in Bergen"})
        [mine] = agent.page()
        assert mine.id != outside.id and mine.tags == ("work",) and mine.project == "atlas" and answer.ok
        assert store.get(outside.id) == outside
        again = run_tool(agent, "remember_fact", {"content": "Lives in Bergen"})
        assert again.ok and agent.count() == 1


def test_what_would_lie_outside_is_not_written() -> None:
    store, _ = _built([])
    with store:
        agent = beside(store, filter="trust:user")
        answer = run_tool(agent, "remember_fact", {"content": "Lives in Bergen"})
        assert answer.error is not None and "does not match the filter" in answer.error.message
        assert run_tool(agent, "record_turn", {"session_id": "s", "role": "tool", "content": "x"}).error
        assert store.view.count() == 0 and store.view.count_operations() == 0


def test_an_agent_is_confined_by_a_filter_that_can_be_read_or_not_let_in_at_all() -> None:
    store, _ = _built([])
    with store:
        with pytest.raises(FilterError):
            beside(store, filter="knd:fact")
        with pytest.raises(InputError):
            Agent(store)


def test_a_tool_added_later_is_asked_here_too() -> None:
    asked = {name for name, _ in _asked(["fact_000000000000"], ["x"])}
    only_writing = {"remember_fact", "record_turn", "remember_observations", "observe_step"}
    shared = {"scratchpad_write", "scratchpad_read", "scratchpad_list", "scratchpad_search"}
    assert asked | only_writing | shared == {tool.name for tool in TOOLS}


def test_names_that_only_the_outside_knows_are_neither_told_nor_found() -> None:
    store, _ = _built([])
    with store:
        store.remember("Selma went to Turku", project="atlas")
        store.remember("My friend Selma Lund called from Lisbon")
        merged = store.entities.merge("Selma Lund", "Selma")
        store.entities.describe(merged.id, "She is a spy.")
        agent = beside(store, project="atlas")
        output = run_tool(agent, "get_entity_info", {"name": "Selma"})
        assert output.ok and "Turku" in output.text
        assert "Lund" not in output.text and "spy" not in output.text and '"mentioned_in":1' in output.text
        assert not run_tool(agent, "get_entity_info", {"name": "Selma Lund"}).ok
        store.entities.add_alias(merged.id, "Nightingale")
        assert "Turku" not in run_tool(agent, "search_memory", {"query": "Nightingale"}).text
        assert "Turku" not in run_tool(agent, "get_context", {"prompt": "Nightingale"}).text
        whole = beside(store)
        assert "Turku" in run_tool(whole, "search_memory", {"query": "Nightingale"}).text
        assert "spy" in run_tool(whole, "get_entity_info", {"name": "selma lund"}).text
