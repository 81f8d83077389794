"""A wish for all answers, alone and in few words, is a rule; what was asked for once, and talk about answers, is none."""

from __future__ import annotations

import pytest
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.records import MemoryRecord


def _rules(content: str) -> list[str]:
    turn = MemoryRecord(
        rid=1, id="ep_000000000001", kind="episode", content=content, event_time=1_760_000_000,
        created_at=1_760_000_000, confidence=1.0, effective=1.0, decay_rate=0.0, trust="user", source_role="user",
    )  # fmt: skip
    drafts: tuple[Draft, ...] = KeywordExtractor().extract_now([turn], Context(session_id="s")).drafts
    return [draft.content for draft in drafts if draft.topic == "rule"]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("always answer short please", "Always answer short please"),
        ("short answers please, always", "Short answers please, always"),
        ("bitte immer kurz antworten", "Bitte immer kurz antworten"),
        ("no emojis when you write to me, ever", "No emojis when you write to me, ever"),
    ],
)
def test_a_wish_for_all_answers_is_a_rule(words: str, rule: str) -> None:
    assert _rules(words) == [rule]


@pytest.mark.parametrize(
    "words",
    [
        "short answer please",
        "my boss always answers short",
        "kurze Antwort bitte",
        "please always answer short in this exam, the examiner has no time",
    ],
)
def test_what_is_asked_for_once_and_talk_of_answers_is_none(words: str) -> None:
    assert _rules(words) == []
