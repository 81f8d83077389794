from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.records import MemoryRecord, Trust

TRUST: dict[str, Trust] = {"user": "user", "assistant": "agent", "tool": "tool"}


def turn(content: str, role: str = "user", rid: int = 1) -> MemoryRecord:
    return MemoryRecord(
        rid=rid, id=f"ep_{rid:012x}", kind="episode", content=content, event_time=1_760_000_000,
        created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust=TRUST[role], source_role=role,
    )  # fmt: skip


def drafts(*contents: str, role: str = "user", people: frozenset[str] = frozenset()) -> tuple[Draft, ...]:
    turns = [turn(content, role, rid) for rid, content in enumerate(contents, 1)]
    return KeywordExtractor().extract_now(turns, Context(session_id="s", people=people)).drafts


def facts(*contents: str, people: frozenset[str] = frozenset()) -> list[str]:
    return [draft.content for draft in drafts(*contents, people=people) if draft.kind == "fact"]


STATED = (
    "I live in Bergen with two cats",
    "I'm allergic to peanuts",
    "I don't like coriander",
    "I prefer tea over coffee",
    "I work at Nimbus as a data engineer",
    "My boss is Maria",
    "My sister Ines lives in Porto",
    "Our daughter Mia has asthma",
    "My dog Rex is 5",
    "We decided to use Postgres for the archive",
    "I go swimming every Tuesday",
    "I no longer eat meat",
    "My flight to Tokyo is on 12 May at 09:40",
    "I grew up in Kyoto",
    "I've been living in Oslo since 2019",
    "I'd rather take the train than fly",
)


@pytest.mark.parametrize("sentence", STATED)
def test_what_the_person_states_about_themself_is_a_fact_in_their_words(sentence: str) -> None:
    assert facts(f"{sentence}.") == [sentence]


NOT_STATED = (
    "Do I live in Bergen?",
    "If I lived in Bergen, I'd be happy.",
    "I would love to live in Rome.",
    "Remind me to call my sister Ines.",
    "Write a story in which I live in Paris.",
    "> I live in Rome",
    "`I live in code`",
    'She said "I live in Rome" and left.',
    "Translate this: I live in Rome. I like it there.",
    "Please proofread my text:\nI live in Rome.\nMy sister Ada lives in Porto.",
    "```\nI live in a fence\n```",
    "2026-01-01 10:00:00 INFO I live in a log",
    "I like it.",
    "I love that idea.",
    "She lives in Oslo with her cat.",
    "I'm tired today.",
    "My code doesn't compile.",
    "I'm getting an error in line 4.",
    "I want you to act as a lawyer.",
    "I want to sort a list.",
    "I have a question about Python.",
    "You live in Berlin.",
    "We signed.",
)


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_asked_ordered_quoted_supposed_or_pasted_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_what_is_said_in_a_part_of_a_game_is_no_fact_until_the_game_is_over() -> None:
    told = (
        "Let's roleplay: I am a pirate captain called Redbeard and I have a parrot.",
        "I live on a ship and I drink rum daily",
        "My sister Anne is a mermaid",
        "Okay, enough roleplay.",
        "I live in Bergen with two cats",
        "I'm allergic to peanuts",
    )
    assert facts(*told) == ["I live in Bergen with two cats", "I'm allergic to peanuts"]
    assert facts(
        "Let's roleplay a job interview, you are the interviewer.", "I work at Nimbus as a data engineer"
    )


def test_only_the_person_states_facts() -> None:
    assert drafts("I live in Bergen with two cats.", role="assistant") == ()
    assert (
        drafts("I live in Bergen. We decided to use Kafka for everything, which is important.", role="tool")
        == ()
    )


def test_a_hedged_statement_is_less_sure() -> None:
    sure, hedged = drafts("I live in Bergen.", "We're considering moving to Oslo, maybe.")
    assert hedged.confidence < sure.confidence <= 0.8


def test_a_statement_bound_to_its_day_carries_the_day() -> None:
    assert facts("My exam is next Friday.") == ["My exam is next Friday (said 9 October 2025)"]


def test_a_correction_is_marked_as_one() -> None:
    (draft,) = drafts("Actually, the standup moved to 10:30 on Tuesdays.")
    assert draft.content == "The standup moved to 10:30 on Tuesdays"
    assert draft.correcting


def test_people_once_introduced_can_be_spoken_of_by_name() -> None:
    assert facts("Ada collects stamps.") == []
    assert facts("I live with my partner Ada Ferreira.", "Ada is allergic to walnuts.")[1:] == [
        "Ada is allergic to walnuts"
    ]
    assert facts("Ada is allergic to walnuts.", people=frozenset({"Ada"})) == ["Ada is allergic to walnuts"]


def test_what_the_person_asks_to_remember_is_kept_without_the_asking() -> None:
    assert facts("yes. And remember that Rhubarb gets anxious in cars, so we plan around trains") == [
        "Rhubarb gets anxious in cars, so we plan around trains"
    ]


def test_facts_carry_their_turn() -> None:
    (draft,) = drafts("Hello there.", "I live in Bergen.")
    assert draft.sources == ("ep_000000000002",)
    assert (draft.topic, draft.tags) == ("home", ())


@pytest.mark.parametrize(
    ("sentence", "category"),
    [
        ("We decided to use OAuth2 because every client already speaks it.", "insight"),
        ("The conclusion is that the cache was never warm in the first place.", "insight"),
        ("Key insight: the slow part is the network and not the disk at all.", "insight"),
        ("In the end we learned that constraints go in as NOT VALID first.", "lesson"),
        ("Remember that the pool closes its idle connections after a minute.", "insight"),
    ],
)
def test_a_trigger_phrase_makes_an_observation(sentence: str, category: str) -> None:
    (draft,) = drafts(sentence, role="assistant")
    assert (draft.kind, draft.category, draft.content) == ("observation", category, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "That detail is unimportant for the result that we are looking at here.",
        "Nothing important happened in the tests of this week, all was quiet.",
        "We haven't decided which of the two libraries it is going to be.",
        "It is not important which of the two libraries is going to be taken.",
        "I remember the summer when the river was low and we walked across.",
        "Have we agreed on which of the two libraries it is going to be?",
        "Agreed.",
    ],
)
def test_a_denied_or_asked_trigger_makes_none(sentence: str) -> None:
    assert drafts(sentence, role="assistant") == ()


def test_no_sentence_is_kept_twice() -> None:
    found = drafts(
        "We decided to use Postgres, and it is important to remember the reasons.",
        "We decided to use Postgres, and it is important to remember the reasons.",
    )
    assert len(found) == 1


def test_sentences_survive_abbreviations_and_lists() -> None:
    text = "I saw Dr. Pieters at 8 a.m. on Monday. Fine.\n- I like tea\n2. I like 3.5 % milk"
    assert [s.text for s in split_sentences(text)] == [
        "I saw Dr. Pieters at 8 a.m. on Monday.",
        "Fine.",
        "I like tea",
        "I like 3.5 % milk",
    ]


def test_the_number_of_a_day_ends_no_sentence() -> None:
    said = (
        "Die Praxis rief an. Zahnarzt nicht am 3. sondern erst am 17. März, sie ist krank. I am 30. married."
    )
    assert [one.text for one in split_sentences(said)] == [
        "Die Praxis rief an.",
        "Zahnarzt nicht am 3. sondern erst am 17. März, sie ist krank.",
        "I am 30.",
        "married.",
    ]


def _updates(content: str) -> list[str]:
    found = KeywordExtractor().extract_now([turn(content)], Context(session_id="s"))
    return [draft.content for draft in found.updates]


@pytest.mark.parametrize(
    ("said", "update"),
    [
        ("Weak. Rosa's off, retired.", "Rosa's off, retired"),
        ("le dio el alta a Marina, ya puede saltar", "Ya puede saltar"),
        ("They change the accounting exam! is not 12 anymore, is 19 may in the big hall.", "Is 19 may in the big hall"),
        ("he cant start til 1 june, and budget's up to 17 cos the floor's rotten", "Budget's up to 17 cos the floor's rotten"),
    ],
)  # fmt: skip
def test_a_clause_that_may_change_something_is_read_though_it_is_no_fact_alone(
    said: str, update: str
) -> None:
    assert update in _updates(said)
    assert update not in facts(said)


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for draft in drafts(text):
        assert draft.content.strip()
    for sentence in split_sentences(text):
        assert len(sentence.text) == len(sentence.masked)


@pytest.mark.parametrize(
    "piece", ["A", "é", "a=b ", "my ", "I moved to the ", "- ", ". ", "x@y.z # '", "moved to\n"]
)
def test_no_text_takes_long_to_read(piece: str) -> None:
    started = time.process_time()
    drafts((piece * 20_000)[:20_000])
    assert time.process_time() - started < 1.5
