"""What the extractor without a model draws from the person's messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from memtui.engine.consolidation.extract.protocol import Context, Draft
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.records import MemoryRecord, Trust

_extractor = KeywordExtractor()


def turn(content: str, trust: Trust = "user", at: int = 1) -> MemoryRecord:
    return MemoryRecord(
        rid=at, id=f"ep_{at:012}", kind="episode", content=content, event_time=1_760_000_000 + at, created_at=1_760_000_000 + at,
        confidence=1.0, effective=1.0, decay_rate=0.0, trust=trust, source_role="user" if trust == "user" else "assistant",
    )  # fmt: skip


@pytest.fixture
def drafts() -> Callable[..., list[Draft]]:
    """The facts of messages of one session, in order."""

    def read(*messages: str) -> list[Draft]:
        turns = [turn(message, at=at) for at, message in enumerate(messages, 1)]
        found = _extractor.extract_now(turns, Context(session_id="s")).drafts
        return [draft for draft in found if draft.kind == "fact"]

    return read


@pytest.fixture
def facts(drafts: Callable[..., list[Draft]]) -> Callable[..., list[str]]:
    """Their words."""
    return lambda *messages: [draft.content for draft in drafts(*messages)]
