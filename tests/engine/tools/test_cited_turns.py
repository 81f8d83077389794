"""A fact has the trust of the turns that it cites only where they say it."""

from __future__ import annotations

import pytest
from door_kit import Door
from memtui.engine.consolidation.suspicious import is_supported


@pytest.mark.parametrize(
    ("turn", "fact", "trust"),
    [
        ("We live in Oslo now.", "Lives in Oslo", "user"),
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
    assert is_supported("It is what it is", ["It is what it is."])
    assert not is_supported("He is his", ["She is mine."])


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("If I lived in Paris I would be happy.", "The user lives in Paris."),
        (
            "My doctor told my brother Tom that he may stop taking lithium, and I like hiking.",
            "The user may stop taking lithium.",
        ),
        ("My sister Anna is pregnant.", "The user is pregnant."),
        ("My sister, Anna, is pregnant.", "Is pregnant"),
        ("I used to smoke.", "The user smokes."),
        ("I no longer smoke.", "The user smokes."),
        ("I lived in Paris.", "The user lives in Paris."),
        ("I was a teacher.", "The user is a teacher."),
        ("Tom is allergic to nuts.", "The user is allergic to nuts."),
        ("Tom is allergic to nuts.", "Is allergic to nuts"),
        ("I doubt that I have cancer.", "The user has cancer."),
        ("I refuse to eat meat.", "The user eats meat."),
        ("Maybe I will marry Tom.", "The user will marry Tom."),
        ("I hope to live in Rome.", "The user lives in Rome."),
        ("She hates my job.", "The user hates her job."),
        ("My mother is a doctor.", "The user is a mother and doctor."),
        ("My sister loves my job.", "The user's sister loves her job."),
        ("I do not like tea that is warm.", "The user likes tea that is not warm."),
        ('I like "not eating" meat.', "The user likes meat."),
        ("It is not true that I smoke and I drink.", "The user drinks."),
        ("My boss is sure I smoke and I drink.", "The user drinks."),
        ("I would love it if my wife came and I lived in Rome.", "The user lived in Rome."),
        ("I earn 5000 a month.", "The user earns 50000 a month."),
        ("Ada hit me.", "The user hit Ada."),
        ("Ich esse kein Fleisch.", "Isst Fleisch"),
    ],
)
def test_what_a_person_did_not_say_of_themselves_is_not_theirs(said: str, fact: str) -> None:
    assert not is_supported(fact, [said])


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I live in Berlin.", "The user lives in Berlin"),
        ("My sister is called Anna.", "The user's sister is called Anna."),
        ("Tom is allergic to nuts.", "Tom is allergic to nuts"),
        ("I'm not allergic to cats.", "The user isn't allergic to cats"),
        ("I love my job.", "The user loves their job."),
        ("I like tea and I live in Oslo.", "The user lives in Oslo."),
        ("I like tea but I don't drink coffee.", "Does not drink coffee"),
        ("I used to smoke.", "The user used to smoke."),
        ("I’m allergic to nuts, can I eat this?", "The user is allergic to nuts"),
        ("Ada owes me two euros.", "Ada owes the user 2 euros"),
        ("Ich esse kein Fleisch.", "Ich esse kein Fleisch"),
    ],
)
def test_what_a_person_says_is_theirs_told_in_the_third_person(said: str, fact: str) -> None:
    assert is_supported(fact, [said])
