"""Scores, shares and reasons of what an agent finds, and why something is not there: from its own scope only."""

from __future__ import annotations

import msgspec
import pytest
from door_kit import NOW, Door, beside
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import run_tool

from clock import Clock

QUIET = Options(background=False, embedder="off")


def test_each_hit_has_its_score_what_adds_to_it_and_why(door: Door) -> None:
    door.person.remember("Ada is vegetarian since March")
    door.person.remember("The harbour office opens in March")
    found = door.ask("search_memory", query="is Ada vegetarian?")["memories"]
    assert found[0]["content"] == "Ada is vegetarian since March"
    assert "vegetarian" in found[0]["reason"] and found[0]["reason"].startswith("words: ")
    for one in found:
        assert one["score"] == pytest.approx(sum(one["shares"].values()), abs=0.005) and one["score"] > 0
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)


def test_an_explanation_agrees_with_the_search(door: Door) -> None:
    for number in range(8):
        door.person.remember(f"Service {number} is run by team {number} of the harbour")
    found = door.ask("search_memory", query="who runs service 3?", limit=3)["memories"]
    for place, one in enumerate(found, 1):
        output = door.ask("explain_search", query="who runs service 3?", memory_id=one["id"], limit=3)
        assert (output["found"], output["rank"], output["score"]) == (True, place, one["score"])
        assert (output["shares"], output["reason"]) == (
            one["shares"],
            one["reason"],
        ) and "why_not" not in output


def test_what_is_missing_is_explained_with_what_would_help(door: Door) -> None:
    fact = door.person.remember("The lighthouse keeper is called Morwenna")
    output = door.ask("explain_search", query="bicycle repair", memory_id=fact.id)
    assert output["found"] is False and "rank" not in output
    assert "none of the words: bicycle, repair" in output["why_not"][0]
    assert any("morwenna" in one or "lighthouse" in one for one in output["would_help"])


def test_what_is_kept_back_is_not_explained_and_an_explanation_is_no_recall(door: Door) -> None:
    turn = door.person.record_turn("s", "user", "my key is sk-proj-" + "Ab3" * 16)
    error = door.refused("explain_search", query="key", memory_id=turn.id)
    assert "kept back" in error["message"] and "Ab3" not in str(error)
    fact = door.person.remember("I like tea")
    door.ask("explain_search", query="tea", memory_id=fact.id)
    assert door.person.view.recent_recalls() == []


SCOPES = [{"project": "work"}, {"filter": "project:work"}, {"filter": "-project:home"}]
QUESTIONS = (
    "rate limit biopsy",
    "service 7",
    "team limit",
    "penicillin",
    "Globex or Initech",
    "service limit Selma",
)


def _store(*, hidden: bool) -> Memory:
    clock = Clock(NOW)
    store = Memory.open(":memory:", clock=clock, options=QUIET)
    for number in range(10):
        clock.now += 60
        store.remember(
            f"Service {number} has a rate limit of {number}00, says team {number % 3}", project="work"
        )
        store.record_turn(
            "desk", "user", f"Note {number}: service {number} was slow", project="work", source="desk"
        )
        clock.now += 60
        if hidden:
            store.remember(f"Selma takes penicillin, biopsy team {number}, service limit", project="home")
            store.record_turn("talk", "user", f"biopsy limit team service {number} " * 4, project="home")
    clock.now += 60
    store.remember("The client is Initech", project="work")
    if hidden:
        fact = store.remember("At home we say Globex", project="home")
        store.correct(fact.id, "At home we say the client is Globex")
    return store


def _answers(agent: Agent) -> list[object]:
    answers: list[object] = []
    for query in QUESTIONS:
        found = msgspec.json.decode(run_tool(agent, "search_memory", {"query": query, "limit": 50}).text)
        answers.append(
            [(one["content"], one["score"], one["shares"], one["reason"]) for one in found["memories"]]
        )
        for memory in sorted(agent.page(limit=100), key=lambda one: one.content):
            for limit in (1, 10):
                arguments = {"query": query, "memory_id": memory.id, "limit": limit}
                output = msgspec.json.decode(run_tool(agent, "explain_search", arguments).text)
                answers.append((memory.content, {**output, "memory_id": ""}))
    return answers


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_scores_and_explanations_are_those_of_a_memory_without_the_rest(scope: dict[str, str]) -> None:
    with _store(hidden=True) as whole, _store(hidden=False) as part:
        mine, other = _answers(beside(whole, **scope)), _answers(beside(part, **scope))
        assert len(mine) > 100 and "error" not in str(mine)
        for one, two in zip(mine, other, strict=True):
            assert one == two


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_what_is_hidden_is_answered_as_what_does_not_exist(scope: dict[str, str]) -> None:
    with _store(hidden=True) as whole:
        agent = beside(whole, **scope)
        hidden = whole.view.page("project:home is:active,trash", limit=100)
        assert any(not one.active for one in hidden)
        for query in QUESTIONS:
            for memory in hidden:
                answer = run_tool(agent, "explain_search", {"query": query, "memory_id": memory.id}).text
                nobody = run_tool(
                    agent, "explain_search", {"query": query, "memory_id": "fact_000000000000"}
                ).text
                assert answer.replace(memory.id, "ID") == nobody.replace("fact_000000000000", "ID")
