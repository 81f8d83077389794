"""Facts from messages as people type them: small letters, several statements at once, asides, requests in between."""

from __future__ import annotations

import time

import pytest
from memtui.engine.consolidation.extract.antecedents import find_antecedent
from memtui.engine.consolidation.extract.clause_facts import (
    CandidateClause,
    ClauseContext,
    judge_candidates,
    statements_of_message,
)
from memtui.engine.consolidation.extract.clauses import clause_spans
from memtui.engine.consolidation.extract.durability import TOPICS, DurabilityModel, Judgement
from memtui.engine.consolidation.extract.exclusions import is_excluded_clause
from memtui.engine.consolidation.extract.filler import without_filler
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.records import MemoryRecord, Trust


def drafts(content: str, trust: Trust = "user") -> list[Draft]:
    turn = MemoryRecord(
        rid=1, id="ep_000000000001", kind="episode", content=content, event_time=1_760_000_000,
        created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust=trust,
        source_role="user" if trust == "user" else "assistant",
    )  # fmt: skip
    found = KeywordExtractor().extract_now([turn], Context(session_id="s")).drafts
    return [draft for draft in found if draft.kind == "fact"]


def facts(content: str) -> list[str]:
    return [draft.content for draft in drafts(content)]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("ta. oh and i'm coeliac btw so no gluten at all. what's good for a packed lunch?", "coeliac"),
        ("can you draft the invite? Otto's mum says hi. my lad Otto has a nut allergy, proper epipen stuff", "nut allergy"),
        ("at work: we release Harbor 2.4, never on a friday, ops doesn't want that after august", "never on a friday"),
        ("right so the plumber's called Terry Cobb, how do i word a text to him", "Terry Cobb"),
        ("no bullet points please, they do my head in. now redo it", "bullet points"),
        ("we've got a rescue lurcher now, Mabel, how often do i walk her", "lurcher"),
        ("the budget went to 900 after all, update the list", "900"),
    ],
)  # fmt: skip
def test_what_lasts_is_found_between_requests(message: str, kept: str) -> None:
    assert any(kept in fact for fact in facts(message)), facts(message)


@pytest.mark.parametrize(
    "message",
    [
        "what's the usual dose of ibuprofen for a ten year old, i've gone blank",
        "i'm so knackered tonight, the kids were wild",
        "imagine i won the lottery, i'd buy a villa in Tuscany",
        "say a customer called Bob in Winnipeg buys 500 soaps, what's the margin",
        'he mailed: "I\'m allergic to cats and we moved to Hull"',
        "write a story about a dragon who lives in Leeds and is allergic to gold",
        "func allow(k string) bool { return tokens[k] > 0 } // limit is 42",
        "make it shorter, and put the date on top",
    ],
)
def test_what_passes_is_asked_told_or_made_up_is_no_fact(message: str) -> None:
    assert facts(message) == []


def test_the_assistants_words_are_never_facts() -> None:
    assert (
        drafts("You have a nut allergy and your dog Mabel is a lurcher. My sister is a nurse.", "agent") == []
    )


def test_a_fact_has_no_filler_and_its_topic() -> None:
    (fact,) = drafts("oh and by the way my sister Nell is allergic to penicillin lol :)")
    assert fact.content == "My sister Nell is allergic to penicillin"
    assert fact.topic == "health" and "health" not in fact.tags
    assert without_filler("lol ok, we moved to Selby btw 😀") == "We moved to Selby"
    assert without_filler("hm my passport expires in February") == "My passport expires in February"


def test_he_is_named_where_it_is_certain_who_he_is_and_not_where_it_is_not() -> None:
    assert find_antecedent("Can you write a note for my son Otto.", "he's allergic to cashews", ()) == "Otto"
    assert find_antecedent("I rang my mum on Sunday.", "she has sold the house", ()) == "my mum"
    assert find_antecedent("Otto played with Karim at my place.", "he's allergic to cashews", ()) is None
    assert find_antecedent("My wife Nell is out.", "he's allergic to cashews", ()) is None
    assert any(
        "Otto" in fact for fact in facts("note for my son Otto's school please. he's allergic to cashews")
    )
    unsure = "Jonas met Karim at school. He's allergic to cashews"
    assert unsure in facts("Jonas met Karim at school. he's allergic to cashews")


def test_a_clause_that_is_mostly_a_quotation_is_left_out() -> None:
    assert not is_excluded_clause("my dog is called" + "\x00" * 8)
    assert is_excluded_clause("my dog is called" + "\x00" * 9)


def test_german_ordinals_do_not_end_a_sentence() -> None:
    (only,) = split_sentences("Die Reise ist vom 3. bis 10. August")
    assert only.text == "Die Reise ist vom 3. bis 10. August"


def test_clauses_are_cut_where_something_new_begins() -> None:
    (sentence,) = split_sentences("I sold the Fabia last week, we've got a Kia now, and it's red")
    assert [sentence.text[start:end] for start, end in clause_spans(sentence)] == [
        "I sold the Fabia last week",
        "we've got a Kia now",
        "and it's red",
    ]


def test_a_judgement_is_a_probability_and_a_topic() -> None:
    lasting, passing = DurabilityModel().judge_texts(["my daughter has asthma", "make it rhyme"])
    assert lasting.probability > 0.8 > 0.2 > passing.probability
    assert lasting.topic == "health"
    assert passing.topic in TOPICS


@pytest.mark.parametrize(
    "message",
    ["my dog is 5, " * 40_000, "I live in Oslo. " * 10_000, "```\ncode\n```" * 9_000, "😀" * 400_000],
)
def test_an_endless_message_takes_no_time(message: str) -> None:
    started = time.perf_counter()
    facts(message)
    assert time.perf_counter() - started < 8


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("we moved to Dresden yesterday, im dead", "We moved to Dresden yesterday"),
        ("the ci is red again. we use trunk based. NEVER force push", "NEVER force push"),
        ("always give recipes in grams, not cups", "Always give recipes in grams, not cups"),
        ("I dont get cups, always give recipes in grams, not cups", "Always give recipes in grams, not cups"),
    ],
)
def test_what_a_mood_or_an_excuse_stands_beside_is_drawn(message: str, kept: str) -> None:
    found = [fact.split(" (said")[0] for fact in facts(message)]
    assert kept in found, found


@pytest.mark.parametrize(
    "message",
    [
        "NEVER again",
        "NEVER saw that coming",
        "ALWAYS the same story with him",
        "always give your best",
        "never give up",
    ],
)
def test_an_exclamation_is_no_rule(message: str) -> None:
    assert not [draft for draft in drafts(message) if draft.topic == "rule"]


def test_a_name_whose_apostrophe_is_left_out_is_the_known_name() -> None:
    assert find_antecedent("Marits birthday is on Sunday.", "she loves mushrooms", ("Marit",)) == "Marit"
    assert find_antecedent("It is Marits birthday.", "she loves mushrooms", ()) == "Marit"
    assert find_antecedent("I rang James about it.", "he is coming", ()) == "James"


@pytest.mark.parametrize(
    "clause",
    [
        "Rechne mal aus was 12 mal 14 sind",
        "Sag mal wie lang der Tunnel ist",
        "Wenn ich reich wär würd ich segeln",
        "Hätt ich Zeit würd ich malen",
        "Mir is heut so langweilig",
        "Need a checklist for the sitter",
        "Brauch nen Plakattext",
        "Kindly show me what a reminder might look like",
        "Ich überleg ob ich kündige",
        "Weißt du noch wann der Zahnarzt war",
        "I'm thinking maybe a party at the bowling place",
        "I kinda wanna live in a van",
    ],
)
def test_requests_moments_and_wishes_in_everyday_words_are_excluded(clause: str) -> None:
    assert is_excluded_clause(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "Ich mal in meiner Freizeit",
        "I need a wheelchair ramp everywhere",
        "We need 8 hours of sleep",
        "Der Saal is im Mai belegt",
        "I want my mail in plain text",
        "Ich brauch immer eine Brille",
        "Guten Morgen zusammen ich heiße Jonas",
    ],
)
def test_what_only_looks_like_a_request_is_not_excluded(clause: str) -> None:
    assert not is_excluded_clause(clause)


@pytest.mark.parametrize(
    ("text", "probability", "topic", "kept"),
    [
        ("They changed my hours", 0.7, "work", False),
        ("They changed my hours", 0.85, "work", True),
        ("They changed my hours and I start at the bakery on Agricola Street at three", 0.6, "work", True),
        ("I react badly to latex", 0.45, "health", True),
        ("Only whole numbers here", 0.35, "rule", False),
    ],
)
def test_the_shorter_a_statement_the_surer_it_has_to_be(
    text: str, probability: float, topic: str, kept: bool
) -> None:
    message = split_sentences(text)
    found = [(CandidateClause(text, 0, len(text), 0), Judgement(probability, topic))]
    assert bool(statements_of_message(message, found, ClauseContext())) == kept


@pytest.mark.parametrize(
    ("topic", "model", "topics", "kept"),
    [
        ("rule", "Answers in British spelling", {"rule": 0.9}, True),
        ("rule", "We sold the piano to the neighbours", {"rule": 0.5, "possession": 0.4}, False),
        ("rule", "Nothing broke in the move but a mug", {"rule": 0.5, "possession": 0.4}, True),
    ],
)
def test_a_rule_that_two_models_hold_for_one_may_be_less_sure(
    topic: str, model: str, topics: dict[str, float], kept: bool
) -> None:
    candidate = CandidateClause(model, 0, len(model), 0)
    judgement = Judgement(0.45, topic, tuple(topics.get(one, 0.0) for one in TOPICS))
    assert (
        bool(
            statements_of_message(
                split_sentences(model), judge_candidates([candidate], [judgement]), ClauseContext()
            )
        )
        == kept
    )


@pytest.mark.parametrize(
    "clause",
    [
        "bike ride, how long", "English reply please, firm but warm", "use the web tool", "two lines telling them",
        "while we're at dangerous things",
    ],
)  # fmt: skip
def test_what_is_wanted_once_is_no_fact(clause: str) -> None:
    assert is_excluded_clause(clause)


@pytest.mark.parametrize(
    "clause", ["always use the web first for prices", "3 lines max. adhd", "english is my third language"]
)
def test_a_wish_for_all_answers_is_not_taken_for_one(clause: str) -> None:
    assert not is_excluded_clause(clause)


def test_what_a_wish_is_for_is_not_so() -> None:
    assert not any(
        "understands" in one for one in facts("I want one line on each, so Tobias understands it.")
    )
    assert facts("The boiler is broken, so Tobias sleeps at his mother's now.")


def test_smileys_of_several_signs_go_as_a_whole() -> None:
    assert without_filler("Ada did the dishes \U0001f469\u200d\U0001f373") == "Ada did the dishes"
    assert (
        without_filler("she runs too \U0001f3c3\u200d\u2640\ufe0f, until km 7") == "She runs too, until km 7"
    )


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("1. migrate 2. deploy with flag off 3. replay", ["migrate", "deploy with flag off", "replay"]),
        ("She has a note, 「先修数据库，再改界面。」 I asked", ["She has a note, 「先修数据库，再改界面。」", "I asked"]),
        ("He said \"it is done.\" We left", ['He said "it is done."', "We left"]),
        ("We meet at no. 2 or at gate 3. Bring water.", ["We meet at no. 2 or at gate 3.", "Bring water."]),
    ],
)  # fmt: skip
def test_lists_in_a_line_and_quotes_with_a_stop_end_sentences(message: str, found: list[str]) -> None:
    assert [one.text for one in split_sentences(message)] == found
