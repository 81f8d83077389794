"""A rule for the assistant is found wherever it stands in a message; what is always so in a life is no rule."""

from __future__ import annotations

import asyncio

import pytest
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock


def _rules(words: str) -> list[str]:
    """The rules that are drawn from a message."""
    with Memory.open(":memory:", clock=Clock(1_773_316_800), options=Options(background=False)) as memory:
        memory.record_turn("s", "user", words)
        asyncio.run(memory.consolidate("s"))
        return [one.content for one in memory.view.page("kind:fact topic:rule", limit=20)]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("That was too long. Please always give weights in grams.", "weights in grams"),
        ("That was too long, please always give weights in grams", "weights in grams"),
        ("Make me a cake recipe. Please always give weights in grams.", "weights in grams"),
        ("Can you write a shopping list? Please always give weights in grams.", "weights in grams"),
        ("The cake was great. Always list the ingredients first, please.", "ingredients first"),
        ("I don't read Spanish well. When you answer, please always add a translation.", "translation"),
        ("Write me a toast for Mila. Never use emojis when you answer.", "emojis"),
        ("Give me a plan for Oslo. From now on answer in German.", "German"),
        ("That is not what I meant. Please from now on start with the summary.", "summary"),
        ("You did it again. Please never apologise when you answer.", "apologise"),
        ("Draft a reply to Jonas. Going forward keep your answers short.", "short"),
    ],
)
def test_a_rule_is_found_after_other_sentences(words: str, rule: str) -> None:
    assert any(rule in one for one in _rules(words)), _rules(words)


@pytest.mark.parametrize(
    "words",
    [
        "We had pasta again. My mother always gives too much salt.",
        "I always give weights in grams at work.",
        "He never answers the phone. We went there twice.",
        "Never give the dog chocolate. Grandma did once.",
        "Write a function that sorts a list. Never use recursion.",
        "Please write a poem about the sea. Always rhyme the second line.",
        "You are a chef. Please always give weights in grams.",
        "Let's play a game, you are the waiter. Please always answer in French.",
    ],
)
def test_what_is_always_so_or_of_one_work_is_no_rule(words: str) -> None:
    assert _rules(words) == []
