"""Prompts that have nothing to do with the person: their block speaks of nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.records import Options

DATA = Path(__file__).parents[2] / "data"
NOW = datetime(2026, 11, 25, 17, tzinfo=UTC).timestamp()  # a Wednesday
UNRELATED = (
    "draft the release notes",
    "fix the failing test in the parser",
    "summarize this quarterly report",
    "review my pull request for the login page",
    "create a SQL query that counts orders per customer",
    "refactor this function to use a dataclass",
    "write a commit message for the last change",
    "prepare slides for the board meeting",
    "plan the sprint for next two weeks",
    "what is the best way to cache HTTP responses?",
    "how do I undo the last git commit?",
    "give me a name for a new product",
    "explain how DNS works",
    "make a checklist for onboarding new employees",
    "why is my docker build so slow?",
    "write a job description for a data analyst",
    "convert this CSV to JSON",
    "compare Postgres and MySQL for an analytics workload",
    "write a polite reminder about the overdue invoice",
    "set up a cron job that runs every Monday",
)


@contextmanager
def remembered(person: dict[str, Any], now: float = NOW) -> Iterator[Memory]:
    """A memory of the talks of one person, with the facts that the rules draw from them."""
    options = Options(embedder="offline", background=False)
    with Memory.open(":memory:", clock=lambda: now, options=options) as memory:
        for session in person["sessions"]:
            start = datetime.fromisoformat(session["start"]).replace(tzinfo=UTC).timestamp()
            for place, (role, text) in enumerate(session["turns"]):
                memory.record_turn(session["id"], role, text, start + 60 * place)
        asyncio.run(memory.consolidate())
        memory.models.index_pending()
        yield memory


@pytest.fixture(scope="module")
def family() -> Iterator[Memory]:
    with remembered(json.loads((DATA / "family.json").read_text())) as memory:
        yield memory


# How answers and letters shall be bears on all that is written.
STYLE = ("emojis", "to be short", "sign with Anna Weber")


@pytest.mark.parametrize("prompt", UNRELATED)
def test_work_brings_no_family(family: Memory, prompt: str) -> None:
    lines = [line for line in family.context(prompt).text.splitlines() if line.startswith("- ")]
    assert [line for line in lines if not any(one in line for one in STYLE)] == []


def test_a_letter_to_the_landlord_brings_the_landlord_and_how_to_sign(family: Memory) -> None:
    text = family.context("write an email to the landlord").text
    assert "Schuster" in text and "Always sign with Anna Weber" in text
    assert not any(one in text for one in ("diabetic", "nuts", "Yilmaz", "Lindenschule", "recipes"))
