"""The topic that the form of a statement gives it, where a classifier of likeness is misled by a single word."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.protocol import Draft
from memtui.engine.consolidation.extract.topic_model import TOPICS, likely_topic
from memtui.engine.consolidation.extract.topics import assign_topics, topic_by_form


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Marit doesnt eat meat, fish is ok", "health"),
        ("my sister doesnt eat fish", "health"),
        ("Elias cant have lactose", "health"),
        ("Grandad can't drink milk anymore", "health"),
        ("Ben no longer eats gluten", "health"),
        ("Marit and i broke up", "people"),
        ("My mums new phone number is 0151 2345678", "people"),
        ("I dont work at Veloris anymore", "work"),
        ("I no longer work for the council", "work"),
        ("We deploy with goreleaser to homebrew", "project"),
    ],
)
def test_the_form_gives_the_topic(text: str, topic: str) -> None:
    for tags in ((), ("family",), ("possession",)):
        if topic == "health" or "family" not in tags:
            draft = Draft(kind="fact", content=text, sources=("ep_1",), tags=tags)
            assert assign_topics([draft])[0].topic == topic


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I don't eat breakfast", "routine"),
        ("My ex must not know where we live", "people"),
        ("My phone number is 0151 2345678", "identity"),
        ("We are getting married in June", "plan"),
        ("Some people can't have dairy", "routine"),
        ("Always remind me that Ben can't have milk", "rule"),
        ("I work at home on Fridays", "routine"),
    ],
)
def test_what_only_looks_like_it_keeps_its_topic(text: str, topic: str) -> None:
    assert topic_by_form(text, topic) == topic  # type: ignore[arg-type]


def test_what_comes_once_is_no_routine() -> None:
    assert topic_by_form("The demo is thursday next week", "routine") == "plan"
    assert topic_by_form("I swim every week, next week as well", "routine") == "routine"


def test_two_models_are_asked_for_the_topic_and_a_rule_has_to_be_likely() -> None:
    stained = "The glass heron hangs in their kitchen window now"
    assert likely_topic(stained) == "home"
    sure_of_health = tuple(0.84 if topic == "health" else 0.0 for topic in TOPICS)
    assert likely_topic(stained, sure_of_health) == "home"
    nothing_broke = "Everything arrived, nothing broke but a mug"
    assert likely_topic(nothing_broke) == "rule"
    of_rule = tuple({"rule": 0.3, "possession": 0.6}.get(topic, 0.0) for topic in TOPICS)
    assert likely_topic(nothing_broke, of_rule) == "possession"
