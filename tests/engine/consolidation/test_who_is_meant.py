"""A fact names whom it is about. Where the name is not certain the person is asked, and no agent is given the fact."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.unresolved import find_unresolved
from memtui.engine.records import Options

from clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(1_760_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", clock=clock, options=Options(background=False)) as memory:
        yield memory


def talk(memory: Memory, clock: Clock, *said: str) -> list[str]:
    for one in said:
        memory.record_turn("s1", "user", one)
        clock.now += 40
    asyncio.run(memory.consolidate("s1"))
    return [fact.content for fact in memory.view.page("kind:fact")]


def test_a_pronoun_inside_a_sentence_becomes_the_name(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory, clock, "Leo was at Dr. Yilmaz today. Besides peanuts he is also allergic to cashews now."
    )
    assert "Besides peanuts Leo is also allergic to cashews now" in facts


def test_the_name_is_found_in_the_message_before(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory,
        clock,
        "We decided not to go to Graz for Christmas, Karin will come to us instead, December 24 to 27.",
        "On the sofa bed in the study. She is vegetarian by the way.",
    )
    assert "Karin: she is vegetarian" in facts


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (
            "Mia's swimming is on Wednesdays. Tom is at work until five. My mother Hilde will take her every week.",
            "her",
        ),
        ("We have to carry the Jext pen everywhere. Kindergarten has one.", "one"),
    ],
)
def test_where_nobody_can_tell_the_person_is_asked(
    memory: Memory, clock: Clock, said: str, word: str
) -> None:
    facts = talk(memory, clock, said)
    (card,) = [item for item in memory.review.items() if item.kind == "quarantined"]
    assert f"is meant by “{word}”?" in card.reason
    assert "The sentence before it: “" in card.reason
    assert card.text not in facts
    assert card.text not in [hit.memory.content for hit in memory.search(card.text).hits]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Paul rang Tim. He works nights at the bakery on Mill Lane now.", "Who is meant by “He”?"),
        (
            "Ok. She drives me to the allotment every Saturday in exchange for tomatoes.",
            "Who is meant by “She”?",
        ),
    ],
)
def test_of_what_begins_with_a_pronoun_the_person_is_asked_who_is_meant(
    memory: Memory, clock: Clock, said: str, question: str
) -> None:
    assert not any(fact.startswith(("He ", "She ")) for fact in talk(memory, clock, said))
    (card,) = [item for item in memory.review.items() if item.kind == "quarantined"]
    assert card.text == said.partition(". ")[2].removesuffix(".") and question in card.reason


def test_nobody_is_asked_of_what_is_hardly_worth_keeping(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "Paul rang Tim. He laughed about the weather.")
    assert not [item for item in memory.review.items() if item.kind == "quarantined"]


def test_the_person_writes_the_name(memory: Memory, clock: Clock) -> None:
    talk(
        memory,
        clock,
        "Mia's swimming is on Wednesdays. Tom is at work until five. My mother Hilde will take her every week.",
    )
    (card,) = [item for item in memory.review.items() if item.kind == "quarantined"]
    memory.review.decide(card, "correct", text="My mother Hilde will take Mia every week")
    assert "My mother Hilde will take Mia every week" in [
        fact.content for fact in memory.view.page("kind:fact")
    ]


def test_a_sentence_with_two_subjects_gives_two_facts(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory,
        clock,
        "My daughter Mia has swimming on Tuesdays and my son Leo has speech therapy on Thursdays.",
    )
    assert set(facts) == {
        "My daughter Mia has swimming on Tuesdays",
        "My son Leo has speech therapy on Thursdays",
    }


def test_what_may_harm_is_kept_with_the_sentence_before_it(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "Emma and Nora are coming at seven. She is vegetarian and has celiac disease.")
    kept = "Emma and Nora are coming at seven. She is vegetarian and has celiac disease"
    (fact,) = [fact for fact in memory.view.page("kind:fact") if fact.content == kept]
    assert fact.confidence == 0.5
    assert "quarantined" not in [item.kind for item in memory.review.items()]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            "My brother Dino drives a Sienna to Rome. He's a vegetarian, like a real one.",
            "Dino: he's a vegetarian, like a real one",
        ),
        (
            "My mum moved to Swansea, Morriston. She can't have egg. She has a flu jab on 6 October.",
            "My mum: she has a flu jab on 6 October",
        ),
        ("Ireti got 7 A1s. Ife gave her Law in the end.", "Ife gave Ireti Law in the end"),
    ],
)
def test_the_subject_of_the_sentence_before_goes_on(
    memory: Memory, clock: Clock, said: str, fact: str
) -> None:
    assert fact in talk(memory, clock, said)


@pytest.mark.parametrize(
    "said",
    [
        "My daughter plays with Mia every Sunday. She is in year 4 at Holy Cross school.",
        "My husband met Tom in Rome. He works at the library in Graz.",
        "My sister comes on Friday. Tom is at work until five. She works at the library in Graz.",
    ],
)
def test_two_people_in_the_sentence_before_leave_it_open(memory: Memory, clock: Clock, said: str) -> None:
    assert not [fact for fact in talk(memory, clock, said) if "library" in fact or "Holy Cross" in fact]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "mein sohn frank ist in kanada. der ruft samstags um 17 uhr an.",
            "Mein sohn: der ruft samstags um 17 uhr an",
        ),
        (
            "jana ist in halle und studiert tiermedizin. sie kommt jeden zweiten sonntag, isst aber kein schweinefleisch",
            "Jana: sie kommt jeden zweiten sonntag, isst aber kein schweinefleisch",
        ),
        (
            "Meine Frau Hannelore hat am 14. März Geburtstag, ohne Überraschungen. Sie verträgt keine Meeresfrüchte.",
            "Hannelore: sie verträgt keine Meeresfrüchte",
        ),
        (
            "mi hermana Noelia vive en zaragoza. ella es celiaca, nada de gluten",
            "Noelia: ella es celiaca, nada de gluten",
        ),
    ],
)
def test_pronouns_of_other_languages_get_the_name(memory: Memory, clock: Clock, said: str, kept: str) -> None:
    assert kept in talk(memory, clock, said)


def test_a_verb_of_another_language_is_no_pronoun(memory: Memory, clock: Clock) -> None:
    talk(memory, clock, "hola. la boda es el 17 de octubre. he vendido 100 ovejas, me quedan 120")
    assert not [card for card in memory.review.items() if "is meant" in str(card)]


def test_an_exclamation_and_what_says_when_are_one_fact(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory, clock, "frank kommt! vom 8. bis 22. august, mit seiner frau carol. was heißt ozempic"
    )
    assert "Frank kommt! vom 8. bis 22. august, mit seiner frau carol" in [
        fact.split(" (said")[0] for fact in facts
    ]


def test_a_heading_is_no_fact_and_a_day_stays_whole(memory: Memory, clock: Clock) -> None:
    facts = talk(
        memory, clock, "so, der garten. die hüfte nicht am 3. sondern erst am 17. märz, der arzt ist krank."
    )
    assert not [fact for fact in facts if fact.casefold() == "der garten"]
    assert not [fact for fact in facts if fact.endswith("am 3")]


def test_a_pronoun_behind_a_name_in_small_letters_is_of_that_person_and_nobody_of_before() -> None:
    assert find_unresolved("My sister nele has one, she lives in hamburg") is None
    assert find_unresolved("The bike has one, she lives in hamburg") is not None
