"""A fact can be understood without what was said before it: what its subject is stands in it, or it is no fact."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.protocol import Context
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.records import MemoryRecord


def _facts(content: str) -> list[str]:
    turn = MemoryRecord(
        rid=1, id="ep_000000000001", kind="episode", content=content, event_time=1_760_000_000,
        created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust="user", source_role="user",
    )  # fmt: skip
    drafts = KeywordExtractor().extract_now([turn], Context(session_id="s")).drafts
    return [draft.content for draft in drafts if draft.kind == "fact"]


@pytest.mark.parametrize(
    ("words", "fragment", "subject"),
    [
        ("I drink decaf these days. Makes me less jittery.", "less jittery", "decaf"),
        ("We do Christmas at my mum's. Same as last year.", "Same as last year", "Christmas"),
        ("The new mattress came. Helps my back a lot more than the old one.", "Helps my back", "mattress"),
        ("How often should I water it? Twice a week at the moment, more in summer.", "Twice a week", "water"),
        ("I sleep with the window open. Much better than with the fan on.", "Much better", "window"),
    ],
)
def test_a_fragment_is_no_fact_without_its_subject(words: str, fragment: str, subject: str) -> None:
    for fact in _facts(words):
        assert fragment not in fact or subject in fact


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("Work nights at the bakery, every other week", "Work nights at the bakery"),
        ("No coffee for me after four, it keeps me awake", "No coffee for me after four"),
        ("Allergic to dust mites", "Allergic to dust mites"),
        ("Same gym as my brother, the one on Hill Street, every Tuesday", "Same gym as my brother"),
        ("Makes his own cider, my dad Leo", "my dad Leo"),
    ],
)
def test_what_leaves_out_only_the_person_is_a_fact(words: str, fact: str) -> None:
    assert any(fact in one for one in _facts(words))


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("The dentist rang. It's the 9th of May now.", "The dentist rang. It's the 9th of May now"),
        ("Bex is pregnant. Due 9 October.", "Bex is pregnant. Due 9 October"),
        (
            "I rent a garage on Mill Road. Costs 90 a month, paid in advance.",
            "I rent a garage on Mill Road. Costs 90 a month, paid in advance",
        ),
    ],
)
def test_a_fragment_stands_behind_what_it_follows(words: str, fact: str) -> None:
    assert fact in _facts(words)


@pytest.mark.parametrize(
    "words", ["When is it? It's the 9th of May now.", "Can you book the dentist? Costs 90 a month."]
)
def test_no_question_and_no_request_is_put_before_it(words: str) -> None:
    assert not any("?" in fact or "book" in fact for fact in _facts(words))
