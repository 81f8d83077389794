"""What rules make of everyday talk with an assistant: life advice, drafts, sums and tales are nobody's facts; what is told
before a question is."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.records import MemoryRecord, Trust


def drafts(content: str, trust: Trust = "user") -> tuple[Draft, ...]:
    turn = MemoryRecord(
        rid=1, id="ep_000000000001", kind="episode", content=content, event_time=1_760_000_000,
        created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust=trust,
        source_role="user" if trust == "user" else "assistant",
    )  # fmt: skip
    return KeywordExtractor().extract_now([turn], Context(session_id="s")).drafts


@pytest.mark.parametrize(
    "advice",
    [
        "Always use sunscreen.", "Always use a condom.", "Never assume malice.", "Always answer the phone with a smile.",
        "Never answer a call from an unknown number.", "Always check your tyres before a long drive.",
        "Never send an email when you're angry. Sleep on it.", "Never start a fight on an empty stomach.",
        "Always put safety first.", "Always run towards the fire exit.",
        "Never write off an old friend.", "Always be kind.", "My grandmother always said: never go to bed angry.",
    ],
)  # fmt: skip
def test_life_advice_is_no_instruction(advice: str) -> None:
    assert drafts(advice) == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Always use metric.", "Always use metric"),
        ("Please never use emojis when you answer me.", "Never use emojis when you answer me"),
        ("When you write code for me, always use type hints.", "When you write code for me, always use type hints"),
        ("Use British spelling in everything you write for me.", "Use British spelling in everything you write for me"),
        ("Only suggest vegan recipes.", "Only suggest vegan recipes"),
        ("Always include a unit in your answers.", "Always include a unit in your answers"),
        ("Never assume that I know the jargon.", "Never assume that I know the jargon"),
        ("Always use Postgres in examples.", "Always use Postgres in examples"),
        ("Never share my address with anyone.", "Never share my address with anyone"),
        ("Always book window seats.", "Always book window seats"),
    ],
)  # fmt: skip
def test_an_instruction_about_answers_or_work_is_kept(said: str, kept: str) -> None:
    assert [(draft.content, draft.topic) for draft in drafts(said)] == [(kept, "rule")]


@pytest.mark.parametrize(
    "text",
    [
        "I'm the lighthouse keeper. I live alone on a rock. Write it in the first person.",
        "Write a poem about the sea. I live in the waves and I love the shore.",
        "Suppose I have 10 apples. I have two sons who share the rest. How many each?",
        "In my D&D campaign I am a half-elf rogue. I live in the forest and hate orcs.",
        "You are a pirate. I am your captain. I like rum.",
        "Let's roleplay: I'm a customer who lives in Paris and wants a refund.",
        "Dear Mr. Smith, I am writing to complain about the noise. I live in apartment 4B. Sincerely, Ana",
        "Can you make this sound better? I am a hard-working student who loves physics.",
        "Translate this to French. I live in Rome and I have two dogs.",
        "My essay starts with: I grew up in a small village",
    ],
)
def test_who_speaks_in_a_tale_a_sum_or_a_draft_is_not_the_person(text: str) -> None:
    assert drafts(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I have a meeting in 10 minutes", "I'm from the HR department and need a template", "I am a beginner",
        "I can't sleep", "My favorite part of the movie was the ending", "I don't like the tone of paragraph 2",
        "I am writing an email to my professor", "I want to write an email to my landlord about the mould",
        "My phone is dead", "My train is late", "My job is killing me", "My cat is on the table",
        "I joined the two tables", "I'm expecting a string here", "I'm switching tabs", "I'm learning about recursion",
        "We live and learn", "We decided to go with option B", "I run the script every morning and it fails",
    ],
)  # fmt: skip
def test_what_is_of_the_moment_or_the_task_is_no_fact(text: str) -> None:
    assert drafts(text) == ()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("I'm allergic to nuts, can I eat marzipan?", "I'm allergic to nuts"),
        ("Quick question, I'm 32 weeks pregnant, is sushi ok?", "I'm 32 weeks pregnant"),
        ("i live in a small flat in munich, what plants would survive?", "I live in a small flat in munich"),
        ("My dad has asthma and lives alone, what help can he get?", "My dad has asthma and lives alone"),
    ],
)
def test_what_is_told_before_a_question_is_a_fact(asked: str, told: str) -> None:
    assert [draft.content for draft in drafts(asked)] == [told]


@pytest.mark.parametrize(
    "question",
    [
        "If I'm allergic to nuts, can I eat marzipan?", "Do you think I'm vegan, or what do I eat?",
        "I live in Berlin, right?", "Is it true that I'm vegetarian, and how do you know?",
        "Say I live in Rome, what would the tax be?",
    ],
)  # fmt: skip
def test_what_a_question_supposes_is_none(question: str) -> None:
    assert drafts(question) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I have 3 years of experience with Excel and SQL", "My son Emil is lactose intolerant",
        "Don't forget that I'm colour blind", "I am 175 cm tall and weigh 80 kg", "My mom turned 70", "I'm left handed",
        "I'm no longer vegetarian", "I am the owner of a small café", "I'm not a native speaker", "I always use vim",
        "For context, I'm a paramedic and work 24h shifts", "I'm going to be a father", "We're a family of five",
        "My pronouns are they/them", "I have a flight to Tokyo on 12 November", "I'm trying to lose weight",
        "That's wrong, I live in Graz not Vienna", "Can you make this recipe vegan? I'm allergic to nuts.",
        "Sincerely sorry for the noise! I love pizza.", "I play an RPG with friends every Sunday",
    ],
)  # fmt: skip
def test_the_obvious_is_kept(text: str) -> None:
    assert [draft.kind for draft in drafts(text)] == ["fact"]


@pytest.mark.parametrize(
    "text",
    [
        "Toujours vérifier les sources.", "Mijn naam is Joost en ik ben 35 jaar",
        "My vrou is 'n dokter", "I min familj är vi fem. Min hund heter Boss.",
        "Mieszkam w Gdańsku i mam dwie córki.", "Мою собаку зовут Рекс. Всегда отвечай по-русски.", "我住在上海,是一名工程师。",
        "いつも日本語で答えてください。犬を飼っています。", "저는 서울에 살아요.", "أنا أعيش في القاهرة",
        "मैं दिल्ली में रहता हूँ", "אני גר בתל אביב",
    ],
)  # fmt: skip
def test_languages_that_nobody_trained_for_yield_nothing(text: str) -> None:
    assert drafts(text) == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ich wohne in Hamburg und arbeite als Lehrerin. Meine Frau heißt Petra.", 2),
        ("Bitte antworte immer auf Deutsch.", 1),
        ("Meine Tochter hat eine Erdnussallergie. Was kann ich backen?", 1),
        ("Mon fils est allergique aux arachides. Une idée de goûter ?", 1),
        ("Mi hija es alérgica a las nueces. ¿Qué le cocino?", 1),
    ],
)
def test_german_french_and_spanish_are_read_too(text: str, kept: int) -> None:
    assert [draft.kind for draft in drafts(text)] == ["fact"] * kept


@pytest.mark.parametrize(
    "advice",
    [
        "Sleep is a big topic. It's important to keep a regular schedule, and to avoid screens late at night.",
        "Great choice! Remember to preheat the oven to 200 degrees before you put the bread in.",
        "Remember, everyone heals at their own pace, so be patient with yourself and rest.",
        "The most important ingredient in a good risotto is patience, followed closely by good stock.",
        "In conclusion, both phones are excellent, and the right one depends on your budget and taste.",
        "You should use a soft brush for suede, and never rub a wet stain into the material.",
    ],
)
def test_advice_that_an_assistant_gives_to_everybody_is_no_insight(advice: str) -> None:
    assert drafts(advice, "agent") == ()


@pytest.mark.parametrize(
    "found",
    [
        "We decided to keep the nightly job at two in the morning, since the export needs the table lock.",
        "Important: the staging database has no backups, so never point the importer at it.",
        "The conclusion of the load test is that two workers are enough for the peak on Mondays.",
        "Remember that the vendor's API counts pages from 1, while ours counts them from 0.",
        "It is important to us that the export stays readable, so columns are only ever added.",
    ],
)
def test_what_an_assistant_found_or_agreed_is_one(found: str) -> None:
    assert [(draft.kind, draft.content) for draft in drafts(found, "agent")] == [("observation", found)]
