"""Texts that say what was corrected or forgotten, though the fact was not drawn from them: they carry a weaker caution."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search.said_again import fact_values, give_a_value, gives_value, says_again
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.registry import run_tool
from memtui.hook.quick import HookMemory

START = 1_700_000_000.0
DAY = 86_400
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


@pytest.mark.parametrize(
    ("fact", "text", "by"),
    [
        ("The user works at Initech", "Since I work at Initech, can you write to our HR?", "user"),
        ("I work at Initech", "Got it: you work at Initech and your boss is Bill.", "assistant"),
        ("I work at Initech", "As you told me: I work at Initech.", "assistant"),
        ("The user's cat is called Tom", "My cat's called Tom, and I need a vet.", "user"),
        ("Berta lives in Oslo", "The user asked for trains. Berta lives in Oslo near the park.", "system"),
        ("I don't eat meat", "A recipe please, I do not eat meat.", "user"),
        ("I moved to Oslo, near the park (said 2 June 2026)", "I moved to Oslo, near the park.", "user"),
    ],
)
def test_it_is_said_again(fact: str, text: str, by: str) -> None:
    assert says_again(text, fact, by=by)


@pytest.mark.parametrize(
    "text",
    [
        "Do I work at Initech?", "If I work at Initech, what then?", "My brother works at Initech.", "I worked at Initech.",
        "I no longer work at Initech.", "I don't work at Initech.", "I used to work at Initech.",
        "I work at Initech's competitor.", "I work at Initech Labs.", "You work at Initech.", "I wrote to Initech.",
    ],
)  # fmt: skip
def test_it_is_not_said_again(text: str) -> None:
    assert not says_again(text, "The user works at Initech")


@pytest.mark.parametrize(
    ("fact", "now", "text", "by"),
    [
        ("I work at Initech as an engineer", "I work at Globex as an engineer", "You work at Initech, so go.", "assistant"),
        ("The rent of the flat is 900 a month", "The rent of the flat is 950 a month", "Noted: rent of the flat 900.", "user"),
        ("My sister Ada lives in Lyon", "My sister Ada lives in Turin", "My sister lives in Lyon and I visit her.", "user"),
        ("Demo is on 16 July, 4 pm", "Demo is on 18 July, 4 pm", "Milestone first, demo 16 July.", "assistant"),
        ("I work at Initech as an engineer", "", "I work at Initech.", "user"),
    ],
)  # fmt: skip
def test_the_value_that_a_correction_took_away_is_given_for_the_same_thing(
    fact: str, now: str, text: str, by: str
) -> None:
    assert gives_value(text, fact, now, by=by)
    assert give_a_value(text, {word: {"it": fact} for word in fact_values(fact)}, by=by) == {"it"}
    assert not gives_value(text, fact, fact, by=by)


@pytest.mark.parametrize(
    "text",
    [
        "My brother works at Initech.", "I work near Initech.", "I work with Bill of Initech.", "Do I work at Initech?",
        "If I work at Initech, what then?", "I worked at Initech.", "I work at Initech, or did until May.",
        "I work at Initech's competitor.", "I no longer work at Initech.", "Initech has an engineer.", "I love Initech.",
        "I work as an engineer.",
    ],
)  # fmt: skip
def test_it_is_not_given_for_the_same_thing(text: str) -> None:
    assert not gives_value(text, "I work at Initech as an engineer", "I work at Globex as an engineer")
    assert not gives_value(
        "Deadline 31 October.", "Deadline is 13 October, 31 is for us", "Deadline is 13 October, 30 is for us"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    clock = [START]
    with Memory.open(path, clock=lambda: clock[0], options=OPTIONS) as memory:
        memory.record_turn("a", "user", "I work at Initech.")
        asyncio.run(memory.consolidate("a"))
        (old,) = memory.view.page("Initech kind:fact")
        memory.record_turn("b", "user", "Since I work at Initech, can you write to our HR?")
        memory.record_turn("b", "assistant", "You work at Initech, so I write to Initech.")
        clock[0] += DAY
        memory.correct(old.id, "The user works at Globex")
        clock[0] += DAY
        memory.record_turn("c", "assistant", "As you told me, you work at Initech.")
        memory.record_turn("c", "assistant", "You no longer work at Initech but at Globex.")
        memory.record_turn("d", "user", "Now I work at Initech again, believe me: I work at Initech.")
        memory.models.index_pending()
        yield memory


def cautions_of(memory: Memory) -> dict[str, tuple[bool, ...]]:
    turns = {one.id: one.content for one in memory.view.page("kind:episode")}
    found = memory.view.cautions(list(turns))
    return {turns[id][:22]: tuple(one.compared for one in of) for id, of in found.items()}


def test_each_text_that_says_it_has_a_caution_of_its_own_kind(memory: Memory) -> None:
    assert cautions_of(memory) == {
        "I work at Initech.": (False,), "Since I work at Initec": (True,), "You work at Initech, s": (True,),
        "As you told me, you wo": (True,),
    }  # fmt: skip


def test_what_two_facts_said_that_were_corrected_to_the_same_is_told_once(memory: Memory) -> None:
    memory.record_turn("e", "user", "I work at Initech.")
    asyncio.run(memory.consolidate("e"))
    (card,) = [one for one in memory.review.items() if one.kind == "conflict"]
    memory.review.decide(card, "keep", keep=next(one.id for one in card.memories if "Globex" in one.content))
    assert len(memory.view.page("kind:fact is:trash Initech")) == 2
    assert cautions_of(memory)["As you told me, you wo"] == (True,)


def test_an_undo_takes_it_away_and_a_redo_brings_it_back(memory: Memory) -> None:
    before = cautions_of(memory)
    memory.undo(next(one.op_id for one in memory.view.operations() if one.kind == "correct"))
    assert cautions_of(memory) == {}
    memory.redo()
    assert cautions_of(memory) == before


def test_what_was_forgotten_is_told_as_forgotten(memory: Memory) -> None:
    (new,) = memory.view.page("Globex kind:fact")
    memory.forget(new.id, withhold=True)
    (said,) = [one for one in memory.view.page("kind:episode") if one.content.startswith("Since")]
    (caution,) = memory.view.cautions([said.id])[said.id]
    assert (caution.how, caution.compared, caution.withheld, caution.successor) == (
        "forgotten",
        True,
        False,
        None,
    )


def test_where_the_same_is_known_again_there_is_none(memory: Memory) -> None:
    memory.remember("I work at Initech")
    assert not any(any(kinds) for kinds in cautions_of(memory).values())


def test_in_a_search_the_new_value_stands_before_and_the_words_say_why(memory: Memory) -> None:
    hits = memory.search("who works at Initech").hits
    first = next(hit for hit in hits if "Globex" in hit.memory.content and hit.memory.kind == "fact")
    for hit in hits:
        if hit.memory.content.startswith("Since"):
            assert hit.rank > first.rank
    memory.actor = "agent:codex"
    answer = run_tool(Agent(memory), "search_memory", {"query": "who works at Initech"})
    assert answer.structured is not None
    (found,) = [one for one in answer.structured["memories"] if one["content"].startswith("Since")]
    assert found["caution"].startswith("says what was corrected on 15 Nov 2023: The user works at Globex")
    assert found["ended"][0]["now"] == "The user works at Globex"


def test_the_context_block_does_not_tell_the_old_value(memory: Memory, path: Path) -> None:
    block = memory.context("Write a mail to HR, please").text
    assert "Initech" not in block or "Globex" in block.split("Initech")[0]
    quick = HookMemory(path, agent="claude-code", options=OPTIONS)
    try:
        block = quick.context_block("Write to our HR", "now", source="claude-code").text
    finally:
        quick.close()
    assert "Since I work at Initech" not in block


def test_an_agent_that_may_not_know_of_the_correction_is_told_nothing_of_it(memory: Memory) -> None:
    (new,) = memory.view.page("Globex kind:fact")
    memory.tag(new.id, add=["private"])
    (said,) = [one for one in memory.view.page("kind:episode") if one.content.startswith("Since")]
    for caution in memory.view.cautions([said.id], within="-tag:private").get(said.id, ()):
        assert caution.successor is None
