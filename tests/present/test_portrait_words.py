"""The portrait in words: every topic has a title and its filter, days and signs are those of the fact."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from memtui.engine.records import TOPICS, Caution, MemoryRecord, Portrait, ServedToday, Status, TopicFacts
from memtui.engine.search.filters.compiler import compile_filter
from memtui.present import portrait as words
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.memory import date_note, plan_day

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp()
DAY = 86_400


def fact(**fields: object) -> MemoryRecord:
    known: dict[str, object] = {
        "rid": 1, "id": "fact_1", "kind": "fact", "content": "Ada lives in Porto", "event_time": int(NOW),
        "created_at": int(NOW), "confidence": 0.9, "effective": 0.9, "decay_rate": 0.1, "trust": "agent",
    }  # fmt: skip
    return MemoryRecord(**(known | fields))  # type: ignore[arg-type]


def test_every_topic_has_a_title_a_place_and_a_filter() -> None:
    assert set(words.TITLES) == {*TOPICS, None}
    found = [TopicFacts(topic=one, total=1, confirmed=0, new=0, facts=()) for one in (None, *TOPICS)]
    assert [one.topic for one in words.topics_in_order(found)] == list(words.TITLES)
    for topic in words.TITLES:
        compile_filter(words.topic_filter(topic), NOW)


@pytest.mark.parametrize(
    ("noon", "shown"),
    [
        ("2026-03-04", "today"),
        ("2026-03-05", "tomorrow"),
        ("2026-06-12", "12 Jun"),
        ("2027-06-12", "12 Jun 2027"),
    ],
)
def test_a_day_is_said_as_people_say_it(noon: str, shown: str) -> None:
    at = int(datetime.fromisoformat(f"{noon}T12:00+00:00").timestamp())
    for hour in (0.1, 10, 23.9):
        now = NOW + (hour - 10) * 3600
        assert words.fact_day(fact(happens_at=at), now) == shown
    assert words.fact_day(fact(), NOW) == ""


@pytest.mark.parametrize(
    ("text", "day", "shown"),
    [
        ("We move to Porto in May", "2026-05-31", "in May"),
        ("Moving in Nov 2027", "2027-11-30", "in Nov 2027"),
        ("The lease ends on 31 May", "2026-05-31", "31 May"),
        ("The lease ends on May 31st", "2026-05-31", "31 May"),
        ("Fly to Oslo in early May", "2026-05-10", "10 May"),
        ("The course ends next month", "2026-04-30", "30 Apr"),
        ("Sprint ends in March", "2026-03-31", "in Mar"),
    ],
)
def test_a_plan_of_a_month_shows_the_month(text: str, day: str, shown: str) -> None:
    plan = fact(
        content=text, topic="plan", happens_at=int(datetime.fromisoformat(f"{day}T12:00+00:00").timestamp())
    )
    assert words.fact_day(plan, NOW) == plan_day(plan, NOW) == shown
    assert date_note(plan, NOW).startswith(f"{shown}, in ")


def test_a_sign_says_what_is_special_without_colour() -> None:
    gone = Caution(how="corrected", at=0, old=fact())
    for glyphs in (UNICODE, ASCII):
        signs = [
            words.fact_sign(fact(confirmed_at=1), (), glyphs), words.fact_sign(fact(), (), glyphs),
            words.fact_sign(fact(effective=0.1), (), glyphs), words.fact_sign(fact(confirmed_at=1), (gone,), glyphs),
        ]  # fmt: skip
        assert len({sign for sign, _ in signs}) == 4
        assert {sign for sign, _ in signs} < {sign for sign, _ in words.fact_sign_legend(glyphs)}


def test_only_what_goes_on_is_told() -> None:
    assert words.portrait_notices(Portrait(since=0, topics=()), 0) == []
    # Before the cards are counted no number is said: the portrait counts only those that were asked.
    asked = Portrait(since=0, topics=(), status=Status(review=6))
    assert [one.text for one in words.portrait_notices(asked, None)] == ["cards to review"]
    assert words.portrait_notices(Portrait(since=0, topics=()), None) == []
    topic = TopicFacts(topic="home", total=3, confirmed=1, new=2, facts=())
    served = ServedToday(agent="codex", times=1_100, memories=1_200)
    found = Portrait(
        since=0,
        topics=(topic,),
        fades=1,
        pending_sessions=2,
        status=Status(review=9, served=(served,), memories=1_200),
    )
    assert [(one.text, one.calls) for one in words.portrait_notices(found, 4)] == [
        ("4 to review", True), ("2 conversations without facts", True), ("2 new this week", False),
        ("1 fades this week", False), ("1,200 told to agents today", False),
    ]  # fmt: skip
    # What agents were told is counted for the week where they were told nothing today.
    week = Portrait(since=0, topics=(), told=5)
    assert [(one.about, one.text) for one in words.portrait_notices(week, 0)] == [
        ("told", "5 told to agents this week")
    ]
    assert words.portrait_headline(found) == "3 facts, 1 of them confirmed"
    noted = Portrait(since=0, topics=(topic,), other_notes=4)
    assert words.portrait_headline(noted) == (
        "3 facts, 1 of them confirmed; 7 memories with observations and reflections"
    )
