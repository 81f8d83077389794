"""Whether a prompt needs what is known of the person, and how much a block then tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import prompt_need, relevance

NEEDED = (
    "plan dinner for us on saturday",
    "when is my dentist appointment?",
    "book us a table",
    "was schenke ich meiner Mutter?",
)
NOT_NEEDED = (
    "explain how DNS works",
    "what is the capital of Peru?",
    "convert this CSV to JSON",
    "wie viele Planeten gibt es?",
)

PROBABILITIES = st.lists(st.floats(0, 1), max_size=30)


@pytest.mark.parametrize("prompt", NEEDED)
def test_a_prompt_about_the_persons_life_needs_the_memory_more_than_one_about_the_world(prompt: str) -> None:
    assert prompt_need.memory_need(prompt) > max(map(prompt_need.memory_need, NOT_NEEDED))


@given(prompt=st.text(max_size=400), scores=PROBABILITIES, more=st.floats(0, 1))
def test_a_piece_that_answers_more_probably_never_makes_the_odds_worse(
    prompt: str, scores: list[float], more: float
) -> None:
    read = relevance.read_prompt(prompt, {})
    before = prompt_need.answer_odds(read, "turns", sorted(scores, reverse=True))
    after = prompt_need.answer_odds(read, "turns", sorted([*scores, more], reverse=True))
    assert after >= before - 1e-9


@pytest.mark.parametrize("prompt", ["", "\x00", "😀" * 700, "a" * 1_000_000])
def test_any_text_is_read_in_bounded_work(prompt: str) -> None:
    assert len(prompt_need.hashed_features(prompt)) < 10_000
    assert -50 < prompt_need.memory_need(prompt) < 50


def test_a_prompt_that_needs_the_memory_is_told_facts_that_hardly_share_a_word() -> None:
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        memory.remember("Is on the night shift from Sunday to Tuesday")
        memory.remember("Has a lurcher called Pip who comes along everywhere")
        block = memory.context("find us a cottage for the weekend, what do I ask the owner?").text
        assert "lurcher" in block
        assert "lurcher" not in memory.context("explain how DNS works").text
