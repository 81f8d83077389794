"""What the person said in confidence has a warning wherever an agent is told it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.protocol import Draft
from memtui.engine.records import Options
from memtui.engine.search.in_confidence import confidentiality_request

from clock import Clock

NOW = 1_763_812_800
MARK = "[said in confidence, not for others"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(
        ":memory:", clock=Clock(NOW), options=Options(background=False, embedder="off")
    ) as memory:
        yield memory


@pytest.mark.parametrize(
    "text",
    [
        "I am pregnant. Nobody knows yet.",
        "We might sell the farm, don't tell Hamish",
        "rubén might deploy to kuwait in feb, dont say anything to anybody abt it",
        "Mateo is scared of the dark but don't ever put that in anything he can read",
        "I want to resign in May, keep it between us.",
        "Wir verkaufen das Haus, sag es bitte niemandem.",
        "Das weiß noch niemand.",
        "Personne ne le sait encore.",
        "Voy a renunciar, no se lo digas a nadie.",
    ],
)
def test_a_request_to_keep_it_is_found(text: str) -> None:
    assert confidentiality_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "Don't tell me the ending of the film.",
        "Nobody likes the new logo.",
        "Never put onions in the salad.",
        "Do not let it boil.",
        "I keep my private notes in a drawer.",
        "Sag mir nicht, dass es regnet, ich gehe trotzdem.",
        "Nobody in my family knows how to swim.",
    ],
)
def test_an_ordinary_statement_is_not(text: str) -> None:
    assert confidentiality_request(text) == ""


def test_facts_and_excerpts_have_the_warning_with_its_reason(memory: Memory) -> None:
    memory.remember("Ada leaves Globex in May, nobody knows yet")
    memory.remember("Ada works at Globex")
    text = memory.context("write to the team about Ada").text
    assert f"{MARK}: “Ada leaves Globex in May, nobody knows yet”] Ada leaves" in text
    assert "- Ada works at Globex" in text


def test_a_fact_is_warned_of_for_the_words_of_its_turn(memory: Memory) -> None:
    turn = memory.record_turn("s", "user", "We are selling the farm to Hamish. Don't tell his wife!", NOW - 9)
    draft = Draft(kind="fact", content="Sells the farm to Hamish", sources=(turn.id,))
    memory.sessions.by_agent().save("s", [draft])
    [fact] = memory.view.page("kind:fact")
    block = memory.context("what about the farm?")
    assert f"- {MARK}: “Don't tell his wife!”] " in block.text
    assert memory.view.confided([fact], within="kind:fact") == {fact.id: ""}, "words outside of what is known"


def test_somebody_elses_words_confide_nothing(memory: Memory) -> None:
    memory.record_turn("s", "assistant", "The farm is for sale, do not tell anybody.", NOW - 9)
    assert MARK not in memory.context("what about the farm?").text
