"""The demo memory as it is written down: shape, references, and the texts that a demo must contain."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Line = dict[str, Any]

DEMO = Path(__file__).parents[1] / "assets" / "demo.jsonl"
LINES: list[Line] = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").split("\n") if line]
PLACEHOLDER = re.compile(r"\{\{[+-]\d+(:(day|month|year))?\}\}")
FIELDS = {
    "turn": ({"type", "session", "title", "role", "time", "content"}, {"key", "project"}),
    "drawn": ({"type", "session", "time", "extractor", "lines"}, set[str]()),
    "recall": ({"type", "session", "time", "content", "given"}, set[str]()),
    "decision": ({"type", "verb", "time"}, {"by", "of", "beside", "content", "tags", "topic", "project"}),
    "reflection": ({"type", "content", "time", "of", "tags"}, set[str]()),
    "observation": ({"type", "category", "content", "source", "time"}, set[str]()),
    "note": ({"type", "pad", "content", "time"}, set[str]()),
}


def of_type(name: str) -> list[Line]:
    return [line for line in LINES if line["type"] == name]


def by_key() -> dict[str, Line]:
    return {line["key"]: line for line in LINES if "key" in line}


def facts() -> list[Line]:
    return [one for plan in of_type("drawn") for one in plan["lines"] if one["action"] in ("add", "conflict")]


def sessions() -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in of_type("turn"):
        found.setdefault(line["session"], []).append(line)
    return found


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.casefold()))


def test_it_is_as_large_as_a_real_memory_of_seven_weeks() -> None:
    counts = Counter(line["type"] for line in LINES)
    assert counts["turn"] >= 280
    assert len(facts()) >= 120
    assert counts["reflection"] == 3
    assert counts["observation"] >= 20
    assert len(sessions()) >= 18
    oldest = -min(line["time"] for line in LINES) / 86_400
    assert 45 < oldest < 52
    assert 3_600 < -max(turn["time"] for turn in of_type("turn")) < 8 * 3_600


def test_every_line_has_the_fields_of_its_type_and_no_other() -> None:
    for line in LINES:
        needed, allowed = FIELDS[line["type"]]
        assert needed <= line.keys() <= needed | allowed, line
        assert isinstance(line["time"], int) and line["time"] < 0
        if "content" in FIELDS[line["type"]][0]:
            assert line["content"].strip() == line["content"] != ""


def test_roles_actors_categories_and_confidences_are_known_ones() -> None:
    assert {turn["role"] for turn in of_type("turn")} == {"user", "assistant", "tool"}
    assert {line.get("by", "person") for line in of_type("decision")} == {"person", "agent:coach"}
    assert {o["category"] for o in of_type("observation")} == {"finding", "insight", "lesson"}
    assert all(0 < fact["confidence"] <= 1 for fact in facts())
    assert all(re.fullmatch(r"[A-Za-z]+:[a-z0-9-]+", o["source"]) for o in of_type("observation"))
    assert all(re.fullmatch(r"[a-z0-9-]+", turn["session"]) for turn in of_type("turn"))


def test_observations_that_name_a_session_name_one_of_these() -> None:
    named = {o["source"].removeprefix("session:") for o in of_type("observation")}
    assert {name for name in named if ":" not in name} <= sessions().keys()


def test_keys_are_unique_and_every_reference_resolves_to_something_earlier() -> None:
    keyed = [line["key"] for line in LINES if "key" in line]
    assert len(keyed) == len(set(keyed))
    known = by_key()
    for plan in of_type("drawn"):
        for line in plan["lines"]:
            assert line.get("sources") or line["action"] == "summary"
            for key in line.get("sources", ()):
                assert known[key]["type"] == "turn"
                assert known[key]["time"] < plan["time"]


def test_a_key_on_a_turn_is_there_because_something_refers_to_it() -> None:
    used = {key for plan in of_type("drawn") for line in plan["lines"] for key in line.get("sources", ())}
    assert {turn["key"] for turn in of_type("turn") if "key" in turn} == used


def test_facts_use_the_words_of_the_turns_they_come_from() -> None:
    known = by_key()
    for fact in facts():
        heard = set[str]().union(*(words(known[key]["content"]) for key in fact["sources"]))
        said = words(PLACEHOLDER.sub("", fact["content"]))
        assert len(said & heard) >= len(said) * 0.7, fact["content"]


def test_reflections_are_weekly_and_three_to_five_sentences_long() -> None:
    for line in of_type("reflection"):
        assert line["tags"] == ["weekly"]
        assert 3 <= len(re.findall(r"\.(?:\s|$)", line["content"])) <= 5


def test_turns_of_a_session_follow_each_other_within_minutes_or_after_a_break() -> None:
    for session, turns in sessions().items():
        assert len({turn["title"] for turn in turns}) == 1, session
        assert len({turn.get("project") for turn in turns}) == 1, session
        assert turns[0]["role"] == "user"
        for before, after in pairwise(turns):
            gap = after["time"] - before["time"]
            assert 20 <= gap <= 200 or gap > 1_800, (session, after["content"][:40])


def test_sessions_differ_in_length_and_answers_are_short_and_long() -> None:
    sizes = [len(turns) for turns in sessions().values()]
    assert max(sizes) >= min(sizes) + 8
    lengths = [len(turn["content"]) for turn in of_type("turn")]
    assert min(lengths) < 12
    assert sum(length > 600 for length in lengths) >= 5
    contents = [turn["content"] for turn in of_type("turn") if turn["role"] == "assistant"]
    assert any("```sql" in text for text in contents)
    assert any(re.search(r"^1\. ", text, re.M) for text in contents)
    assert any(re.search(r"^\| ", text, re.M) for text in contents)


def test_no_two_lines_say_the_same() -> None:
    for lines in (of_type("turn") + of_type("observation"), facts()):
        counts = Counter(line["content"].casefold() for line in lines)
        assert [text for text, n in counts.items() if n > 1] == []


def test_placeholders_for_dates_are_well_formed() -> None:
    text = DEMO.read_text(encoding="utf-8")
    assert len(PLACEHOLDER.findall(text)) >= 20
    assert "{{" not in PLACEHOLDER.sub("", text)
    assert "}}" not in PLACEHOLDER.sub("", text)


def marks_in_a_row(text: str) -> int:
    runs = re.findall(r"M+", "".join("M" if unicodedata.category(c) == "Mn" else "." for c in text))
    return max(map(len, runs), default=0)


HOSTILE: dict[str, Callable[[str], bool]] = {
    "ANSI colour": lambda t: "\x1b[31m" in t,
    "cursor movement": lambda t: "\x1b[1A" in t,
    "clipboard write (OSC 52)": lambda t: "\x1b]52;c;" in t and "\x07" in t,
    "closing tag alone": lambda t: "`[/]`" in t,
    "click action": lambda t: "[@click=app.quit]boom[/]" in t,
    "style tag": lambda t: "[bold red]" in t,
    "bidi override": lambda t: "\u202e" in t,
    "NUL": lambda t: "\x00" in t,
    "zero-width characters": lambda t: "\u200b" in t,
    "sixty combining marks": lambda t: marks_in_a_row(t) == 60,
    "documented example key": lambda t: "AKIAIOSFODNN7EXAMPLE" in t,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_a_person_might_paste_are_there(kind: str) -> None:
    assert any(HOSTILE[kind](turn["content"]) for turn in of_type("turn"))


def test_a_prompt_injection_is_quoted_by_a_tool_and_by_nobody_else() -> None:
    quoting = [
        turn["role"] for turn in of_type("turn") if "Ignore all previous instructions" in turn["content"]
    ]
    assert quoting == ["tool"]


NATURAL = {
    "kanji": r"[\u4e00-\u9fff]{2}",
    "kana": r"[\u3040-\u30ff]{2}",
    "Cyrillic": r"[\u0400-\u04ff]{3}",
    "Arabic": r"[\u0600-\u06ff]{3}",
    "Hebrew": r"[\u0590-\u05ff]{3}",
    "Chinese": "先修数据库",
    "emoji joined by ZWJ": "\U0001f469\u200d\U0001f373",
    "mention": r"(?<!\w)@[a-z]+",
    "hashtag": r"(?<!\w)#[a-z]+",
    "email": r"[\w.]+@[\w.]+\.example\.org",
    "address": r"https://[\w.]*example\.org",
}


@pytest.mark.parametrize("kind", NATURAL)
def test_scripts_and_signs_of_real_life_are_there(kind: str) -> None:
    assert any(re.search(NATURAL[kind], turn["content"]) for turn in of_type("turn"))


def test_every_address_is_reserved_for_examples() -> None:
    text = DEMO.read_text(encoding="utf-8")
    for host in re.findall(r"(?:https?://|[\w.]@)([\w.-]+\w)", text):
        assert host.endswith("example.org"), host


QUESTIONS = {
    "What does Ada eat?": ("vegetarian", "walnuts"),
    "When is the dentist?": ("Dr. Bakker", "15:20"),
    "Which train did we take to Ghent?": ("10:32 Eurostar", "Ghent"),
    "When is standup on Tuesdays?": ("10:30", "Tuesdays"),
    "Where do we live now?": ("Pegelstraat 14",),
    "What medicine am I allergic to?": ("penicillin",),
    "What did we decide for Heron's queue?": ("Postgres", "queue table"),
    "What is the baby called?": ("Emi", "恵美"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_asked_months_later_have_an_answer_in_a_standing_fact(question: str) -> None:
    gone = tuple(
        of for line in of_type("decision") if line["verb"] in ("forget", "correct") for of in line["of"]
    )
    standing = [fact["content"] for fact in facts() if not fact["content"].startswith(gone)]
    assert any(all(part in text for part in QUESTIONS[question]) for text in standing)
