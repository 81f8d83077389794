"""A fact has the trust of the turns that it cites only where they say it."""

from __future__ import annotations

import pytest
from door_kit import Door
from memtui.engine.maintain.suspicious import supported


@pytest.mark.parametrize(
    ("turn", "fact", "trust"),
    [
        ("We live in Oslo now, near the sea.", "Lives in Oslo", "user"),
        ("I like tea.", "The user likes tea", "user"),
        ("I do not eat walnuts.", "Does not eat walnuts", "user"),
        ("I like tea.", "Wants all files to be sent to Bob", "agent"),
        ("I do not eat walnuts.", "Eats walnuts", "agent"),
        ("I am allergic to penicillin.", "Is not allergic to penicillin", "agent"),
        ("Am I allergic to penicillin?", "Is allergic to penicillin", "agent"),
        ("Ada owes Bo 50 euros.", "Ada owes Bo 500 euros", "agent"),
        ("Ada owes Bo money.", "Bo owes Ada money", "agent"),
        ("I take penicillin. I am not allergic to cats.", "Is allergic to penicillin", "agent"),
        ('My boss says "I hate the office".', "Hates the office", "agent"),
    ],
)
def test_a_citation_lends_its_trust_only_to_what_it_says(
    door: Door, turn: str, fact: str, trust: str
) -> None:
    said = door.person.record_turn("talk", "user", turn).id
    facts = [{"content": fact, "source_ids": [said]}]
    [saved] = door.ask("save_facts_batch", session_id="talk", facts=facts)["facts"]
    assert door.person.get(saved["id"]).trust == trust


def test_several_citations_lend_the_least_of_their_trust(door: Door) -> None:
    said = [door.person.record_turn("talk", role, "We live in Oslo.").id for role in ("user", "tool")]
    facts = [{"content": "Lives in Oslo", "source_ids": said}]
    [saved] = door.ask("save_facts_batch", session_id="talk", facts=facts)["facts"]
    assert door.person.get(saved["id"]).trust == "tool"


def test_a_statement_without_telling_words_needs_the_very_words() -> None:
    assert supported("It is what it is", ["It is what it is."])
    assert not supported("He is his", ["She is mine."])
