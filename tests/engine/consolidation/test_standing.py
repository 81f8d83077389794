"""Standing instructions, what a team works with, and what changes a life: read as facts, their neighbours are not."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.records import MemoryRecord

SAID = " (said 9 October 2025)"


def drafts(*contents: str) -> tuple[Draft, ...]:
    turns = [
        MemoryRecord(
            rid=rid, id=f"ep_{rid:012x}", kind="episode", content=content, event_time=1_760_000_000,
            created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust="user", source_role="user",
        )
        for rid, content in enumerate(contents, 1)
    ]  # fmt: skip
    return KeywordExtractor().extract_now(turns, Context(session_id="s")).drafts


def facts(*contents: str) -> list[str]:
    return [draft.content for draft in drafts(*contents) if draft.kind == "fact"]


STANDING = (
    ("From now on, deploys happen only on Wednesdays.", "Deploys happen only on Wednesdays"),
    ("From next week on, standup is at 10:30.", "Standup is at 10:30"),
    ("Going forward, all invoices go to accounting.", "All invoices go to accounting"),
    ("Henceforth the release branch is called stable.", "The release branch is called stable"),
    ("From now on use tabs in Go files.", "From now on use tabs in Go files"),
    ("Going forward, never push to main without asking me.", "Going forward, never push to main without asking me"),
    ("Use British spelling from now on.", "Use British spelling from now on"),
    ("In future, keep your answers short.", "In future, keep your answers short"),
    ("Please always answer in British English.", "Always answer in British English"),
    ("Please always run the tests first.", "Always run the tests first"),
    ("Please never deploy on Fridays unless I say so.", "Never deploy on Fridays unless I say so"),
    ("Never use emojis in commit messages.", "Never use emojis in commit messages"),
    ("Thanks! And never use emojis in commit messages.", "Never use emojis in commit messages"),
    ("Always give me the short answer first.", "Always give me the short answer first"),
    ("Always show your sources in your answers.", "Always show your sources in your answers"),
    ("Don't ever delete a branch without asking.", "Don't ever delete a branch without asking"),
    ("I want you to always answer in metric units.", "I want you to always answer in metric units"),
    ("Deploys only happen on Wednesdays from now on.", "Deploys only happen on Wednesdays from now on"),
    ("Please, from now on, never use emojis in commits.", "From now on, never use emojis in commits"),
    ("Never, ever use emojis in commits.", "Never, ever use emojis in commits"),
    ("Rule: never merge without a review.", "Never merge without a review"),
)  # fmt: skip


@pytest.mark.parametrize(("sentence", "kept"), STANDING)
def test_a_standing_instruction_is_a_rule(sentence: str, kept: str) -> None:
    (draft,) = drafts(sentence)
    assert (draft.kind, draft.content, draft.topic) == ("fact", kept, "rule")


DATED = (
    "Outcome of the meeting: go-live for all water boards is Thursday 31 December and no longer Sunday 10 December.",
    "Decided with Olga: the audit of the gateway starts on 4 November.",
    "Remember that the demo for the council is on November 26.",
    "Keep in mind that the tax return is due by the 2nd of December.",
)


@pytest.mark.parametrize("sentence", DATED)
def test_what_is_set_for_a_date_is_a_plan_though_it_is_to_be_kept(sentence: str) -> None:
    (draft,) = drafts(sentence)
    assert draft.topic == "plan"


@pytest.mark.parametrize(
    "sentence",
    [
        "Remember that the cellar is locked after 15 December.",
        "Agreed: the office is closed on Fridays.",
        "Decided: every release has two reviews from 4 November on.",
    ],
)
def test_a_rule_may_name_the_date_from_which_it_holds(sentence: str) -> None:
    (draft,) = drafts(sentence)
    assert draft.topic == "rule"


NOT_STANDING = (
    "Never mind, please use the first one.",
    "Always happy to help!",
    "Always a pleasure to work with you.",
    "Never again.",
    "Never say never.",
    "Never give up on your dreams.",
    "Never been to Spain.",
    "Never used Rust before.",
    "Always wanted to visit Japan.",
    "Always check your mirrors.",
    "Please run the tests first.",
    "Please always run the tests first?",
    "Should we always use tabs?",
    "Never Gonna Give You Up is a great song.",
    "My boss says: never use goto.",
    "He told me to always use tabs.",
    "Never use goto, they say.",
    '"Always use tabs" is what the guide says.',
    "`Never use tabs anywhere`",
    "> Always use tabs.",
    "Write a Python function that sorts a list. Never use recursion. Always return a list.",
    "Please draft an email to the team.\n- Always use the word we\n- Never use exclamation marks",
    "You are a pirate. Always answer in rhymes.",
    "Act as a tutor. Never show the answer.",
    "Always use tabs.\n```\nx = 1\n```",
    "Always answer in English today.",
    "How do I sort a list? Never use sorted please.",
    "Let's play a game. From now on, answer only with yes or no.",
    "From now on the story takes place in Paris.",
    "Never commit to anything.",
    "For this task, always use tabs.",
    "Always use the second argument in this function.",
    "Never use it.",
    "Always put them at the end.",
    "If we always use tabs, diffs grow.",
    "I wish people would never use tabs.",
    "From now on it is all downhill.",
    "From now on everything gets easier.",
    "From now on, he said, deploys happen on Fridays.",
    "From now on, do deploys happen on Fridays?",
    "In the future, cars will fly.",
    "Always include the port in requests, see https://example.org/11946",
)


@pytest.mark.parametrize("text", NOT_STANDING)
def test_small_talk_and_orders_of_one_task_are_no_rules(text: str) -> None:
    assert facts(text) == []


IN_A_REQUEST = (
    (
        "Write me a birthday card for my aunt, and never use emojis in anything you write for me",
        "Never use emojis in anything you write for me",
    ),
    (
        "Write a mail to the landlord about the heating, and please never use exclamation marks in anything you write for me.",
        "Never use exclamation marks in anything you write for me",
    ),
    (
        "Draft the invite for saturday, also never call me Lizzie in anything you write",
        "Never call me Lizzie in anything you write",
    ),
    (
        "Fix this loop. And from now on never use semicolons in code you write for me",
        "From now on never use semicolons in code you write for me",
    ),
    (
        "Draft a reply to Mrs Falk and always use British spelling in anything you write for me",
        "Always use British spelling in anything you write for me",
    ),
    ("Make me a packing list, and from now on keep every list under ten items", "From now on keep every list under ten items"),
    (
        "Escríbeme un correo para el casero, y nunca uses emojis en nada que escribas para mí",
        "Nunca uses emojis en nada que escribas para mí",
    ),
    (
        "Écris-moi un mot pour la maîtresse, et n'utilise jamais de tirets dans tout ce que tu écris pour moi",
        "N'utilise jamais de tirets dans tout ce que tu écris pour moi",
    ),
    (
        "Schreib mir eine Karte für Oma, und benutz nie Emojis in dem was du für mich schreibst",
        "Benutz nie Emojis in dem was du für mich schreibst",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("message", "kept"), IN_A_REQUEST)
def test_a_rule_for_everything_that_is_written_stands_in_a_request_too(message: str, kept: str) -> None:
    (draft,) = drafts(message)
    assert (draft.kind, draft.content, draft.topic) == ("fact", kept, "rule")


@pytest.mark.parametrize(
    "message",
    [
        "Write a function that sorts a list, and never use recursion in it.",
        "Write a poem, and never use the letter e in anything.",
        "You are a pirate, and always swear in everything you write.",
        "Write a story, and never use his name in anything he writes.",
    ],
)
def test_a_rule_of_the_task_at_hand_does_not(message: str) -> None:
    assert facts(message) == []


def test_what_is_to_be_remembered_is_told_without_saying_so() -> None:
    assert facts("Give me three ideas for dinner, and remember I never eat pork") == ["I never eat pork"]


SETTLED = (
    "We use structlog for logging",
    "We use Postgres in production",
    "We use pytest for testing",
    "We migrated to Kubernetes",
    "We standardised on uv",
    "We switched to uv for packaging",
    "We use Slack",
    "Our team switched to trunk-based development",
    "I love tea when it rains",
    "We decided to keep the monolith",
    "I prefer trains over flights when it's under six hours, and I hate window seats",
    "I avoid motorways when it is raining",
    "I prefer the aisle seat when there is a long flight ahead",
    "Jonas left the company",
    "I left Nimbus after nine years",
)


@pytest.mark.parametrize("sentence", SETTLED)
def test_what_a_team_works_with_and_a_preference_with_its_case_are_facts(sentence: str) -> None:
    assert facts(f"{sentence}.") == [sentence]


LIFE = (
    "We adopted a cat called Pixel yesterday",
    "We bought a house in Lyon yesterday",
    "I got married this morning",
    "I started at Nimbus today",
    "I quit my job today",
    "I left Nimbus last month",
    "We moved to Porto last week",
    "Anna got engaged yesterday",
    "My sister had a baby yesterday",
    "We moved to a bigger flat in Ghent last week",
    "We moved to the Netherlands last week",
)


@pytest.mark.parametrize("sentence", LIFE)
def test_what_changes_a_life_is_kept_with_its_day(sentence: str) -> None:
    assert facts(f"{sentence}.") == [f"{sentence}{SAID}"]


HABITS = (
    "I'm 35 and married",
    "Call me Sam",
    "I have two kids",
    "I live in Ghent",
    "We moved to Porto",
    "I never fly",
    "I don't drive",
    "I can't swim",
    "I hardly ever cook",
    "I only drink decaf",
)


@pytest.mark.parametrize("sentence", HABITS)
def test_what_somebody_is_and_never_does_is_a_fact_also_in_a_few_words(sentence: str) -> None:
    assert facts(f"{sentence}.") == facts(f"Remember that {sentence}.") == [sentence]


@pytest.mark.parametrize(
    ("sentence", "confidence"),
    [
        ("My birthday is on 4 May", 0.8), ("My birthday is on the 4th of May", 0.8),
        ("We are getting married in May", 0.8), ("We may move to Rome", 0.5),
    ],
)  # fmt: skip
def test_the_month_of_may_is_no_doubt(sentence: str, confidence: float) -> None:
    assert [draft.confidence for draft in drafts(f"{sentence}.")] == [confidence]


NOT_LASTING = (
    "We use cookies.",
    "We use a loop for iterating.",
    "We use induction for the proof.",
    "We use this for logging.",
    "We use contradiction for the argument.",
    "Should we use structlog for logging?",
    "If we use structlog for logging, it breaks.",
    "We could use structlog for logging.",
    "Everyone left the company.",
    "She left the company.",
    "Did Jonas leave the company?",
    "Imagine Jonas left the company.",
    '"Jonas left the company," she said.',
    "Jonas left the room.",
    "Jonas left.",
    "We almost adopted a cat yesterday.",
    "We didn't adopt a cat yesterday.",
    "In my novel we adopted a cat yesterday.",
    "We adopted a new approach yesterday.",
    "We nearly bought a house yesterday.",
    "We bought house wine yesterday.",
    "I bought a coffee yesterday.",
    "I moved the file yesterday.",
    "I moved to the next step today.",
    "I started at 9.",
    "I started at 9 today.",
    "I left the office at six today.",
    "I got a headache this morning.",
    "I got the job done today.",
    "I had a baby carrot today.",
    "I prefer it when it's late.",
    "We moved to a new API version.",
    "I live in the terminal.",
    "I'm 35 lines into this function.",
    "My name is in the header of the file.",
    "Call me when it is done.",
    "I have two kids running in this process tree.",
    "I have a cat function that joins files.",
    "I always get a 500 when I call the endpoint.",
    "I will use the second approach.",
    "I can't drive today.",
    "I never said that.",
    "I don't cook this.",
)


@pytest.mark.parametrize("text", NOT_LASTING)
def test_what_passes_is_supposed_or_was_only_nearly_so_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_an_instruction_said_twice_or_with_a_trigger_word_is_kept_once() -> None:
    said = "Never use emojis in commit messages, this is important to remember for all of us."
    (draft,) = drafts(said, said)
    assert draft.kind == "fact"
