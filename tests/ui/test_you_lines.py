"""The portrait as lines: what is shown in how much room, and that nothing stored gets out of its cell."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.records import (
    TOPICS,
    Caution,
    DueInMonth,
    Entity,
    FadingFact,
    MemoryRecord,
    Month,
    PersonInMonth,
    Plans,
    Portrait,
    Replacement,
    ServedToday,
    Status,
    Topic,
    TopicFacts,
)
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.portrait import TITLES, WHEN, WHO, Since
from memtui.present.text import max_cells
from memtui.ui.panes.you.lines import PortraitLines
from memtui.ui.panes.you.rows import Stop
from memtui.ui.widgets.stop_view import GUTTER, HEAD, StopLayout
from msgspec.structs import replace
from ui_story import DAY, NOW

from sizes import examples


def fact(number: int, **fields: Any) -> MemoryRecord:
    known: dict[str, Any] = {
        "rid": number, "id": f"fact_{number}", "kind": "fact", "content": f"Fact number {number}",
        "event_time": NOW - 40 * DAY, "created_at": NOW - 40 * DAY, "confidence": 0.9, "effective": 0.9,
        "decay_rate": 0.1, "trust": "agent",
    }  # fmt: skip
    return MemoryRecord(**(known | fields))


def topic(name: Topic | None, facts: int, *, total: int = 0, **fields: Any) -> TopicFacts:
    first = 100 * (1 + (TOPICS.index(name) if name else len(TOPICS)))
    given = tuple(fact(first + number, topic=name, **fields) for number in range(facts))
    return TopicFacts(topic=name, total=total or facts, confirmed=0, new=0, facts=given)


ADA = Entity(eid=1, id="ent_1", canonical_name="Ada", type="person", mention_count=12)
FULL = Portrait(
    since=NOW - 7 * DAY,
    topics=tuple(topic(name, 8, total=20) for name in (*TOPICS, None)),
    people=(ADA,),
    newest=(fact(1),),
    fading=(FadingFact(memory=fact(2), fades_at=NOW + DAY),),
    fades=1,
    pending_sessions=2,
    status=Status(review=3, served=(ServedToday(agent="codex", times=2, memories=7),), memories=7),
    plans=Plans(
        ahead=10, next=topic("plan", 8, happens_at=NOW + DAY).facts,
        others=10, undated=tuple(fact(900 + number, topic="plan") for number in range(8)),
    ),
)  # fmt: skip


def laid(
    portrait: Portrait, width: int, height: int, *, ascii: bool = False, review: int = 3
) -> StopLayout[Stop]:
    return PortraitLines(width, height, NOW, ASCII if ascii else UNICODE, review).lay_out(portrait)


def lines(found: StopLayout[Stop]) -> list[str]:
    return [
        "|".join("".join(piece.text for piece in part.pieces).rstrip() for part in line)
        for line in found.lines
    ]


def shown(portrait: Portrait, width: int = 76) -> str:
    return "\n".join(lines(laid(portrait, width, 20)))


@pytest.mark.parametrize(("width", "columns"), [(37, 1), (76, 1), (113, 2), (193, 3)])
def test_there_are_as_many_columns_as_there_is_room_for(width: int, columns: int) -> None:
    found = laid(FULL, width, 60)
    assert max(map(len, found.lines[2:])) == max(columns, 1) == len({*found.columns} - {HEAD})
    for line in found.lines:
        assert sum(GUTTER + part.width for part in line) <= width + GUTTER


def test_a_higher_window_shows_more_of_each_topic_and_a_low_one_scrolls() -> None:
    heights = {height: len(laid(FULL, 193, height).lines) for height in (20, 40, 60, 90)}
    assert heights[40] <= 40 and heights[60] <= 60 and heights[90] <= 90
    assert 20 < heights[20] < heights[40] < heights[60] < heights[90]
    narrow = lines(laid(FULL, 76, 20))
    assert len(narrow) > 20
    assert (
        sum("Fact number" in line for line in narrow) == 3 * 14 - 1 + 2
    )  # a person is one of three, plans have two sections


def test_every_stop_is_where_it_says() -> None:
    for width, height in ((37, 9), (76, 20), (113, 30), (193, 50)):
        found = laid(FULL, width, height)
        placed = {
            part.stop: number
            for number, line in enumerate(found.lines)
            for part in line
            if part.stop is not None
        }
        assert placed == dict(enumerate(found.rows))
        assert len({stop.key for stop in found.stops}) == len(found.stops) == len(found.columns)
        assert list(found.columns) == sorted(found.columns)


def test_what_goes_on_stands_in_one_line_or_two_or_in_a_list() -> None:
    words = ["3 to review", "2 conversations without facts", "1 fades this week", "7 told to agents today"]
    assert lines(laid(FULL, 113, 30))[0] == "|".join(words)
    assert lines(laid(FULL, 60, 20))[:2] == [
        "3 to review|2 talks without facts|7 told today",
        "This week:|1 fading",
    ]
    assert lines(laid(FULL, 37, 9))[:4] == words
    assert lines(laid(Portrait(since=0, topics=(topic("home", 1),)), 76, 20, review=0))[0].startswith("Home")


def test_a_fact_has_its_sign_its_pin_and_its_day_or_age() -> None:
    facts = (
        fact(1, confirmed_at=NOW), fact(2, attributes={"pinned_at": NOW}), fact(3, effective=0.1),
        fact(4, created_at=NOW), fact(5, happens_at=NOW + 3 * DAY), fact(6),
    )  # fmt: skip
    portrait = Portrait(
        since=NOW - 7 * DAY,
        topics=(TopicFacts(topic="home", total=6, confirmed=1, new=1, facts=facts),),
        cautions={"fact_6": (Caution(how="corrected", at=NOW, old=fact(6)),)},
    )
    rows = [line for line in shown(portrait).split("\n") if "Fact" in line]
    assert rows[0].startswith("✓  Fact number 1") and rows[0].endswith(" 5w")
    assert rows[1].startswith("·★ Fact number 2")
    assert rows[2].startswith("◔  Fact number 3") and rows[3].endswith(" new") and rows[4].endswith(" 25 Nov")
    assert rows[5].startswith("!  Fact number 6")


def test_a_change_that_review_asks_about_is_a_question() -> None:
    old, new = fact(1, content="Lives in Porto"), fact(2, content="Lives in Lisbon", event_time=NOW)
    asked = Replacement(old=old, new=new, at=NOW, how="asked")
    portrait = Portrait(
        since=NOW - 7 * DAY,
        topics=(TopicFacts(topic="home", total=2, confirmed=0, new=1, facts=(new, old)),),
        changed=1,
        changes=(asked,),
        replaced={new.id: (asked,)},
    )
    found = laid(portrait, 76, 20)
    pieces = {piece.text: piece.role for line in found.lines for part in line for piece in part.pieces}
    assert pieces["   was? "] == "warning" and pieces["changed?"] == "warning"


BEN = Entity(eid=2, id="ent_2", canonical_name="Ben", type="person", mention_count=4)


def month(number: int, **fields: Any) -> Month:
    start = int(datetime(2025, number, 1).timestamp())
    return Month(start=start, end=start + 30 * DAY, term=f"2025-{number:02}", **fields)


def replaced(
    number: int, days: int, how: Literal["corrected", "asked"] = "corrected", **moved: Any
) -> Replacement:
    old, new = fact(number, content=f"Old {number}"), fact(number + 1, content=f"New {number}", **moved)
    return Replacement(old=old, new=new, at=NOW - days * DAY, how=how)


THEN = (
    month(
        10, persons=(PersonInMonth(person=ADA, memories=5, beside=(BEN,)), PersonInMonth(person=BEN, memories=1, beside=(ADA,))),
    ),
    month(
        5, persons=(PersonInMonth(person=BEN, memories=3),), changed=4, changes=(replaced(10, 180), replaced(20, 181, "asked")),
    ),
)  # fmt: skip


def test_the_months_tell_who_was_talked_about_and_what_changed() -> None:
    found = laid(Portrait(since=NOW, topics=(topic("home", 1),), months=THEN), 76, 40)
    rows = lines(found)
    who, when = (next(at for at, row in enumerate(rows) if row.startswith(title)) for title in (WHO, WHEN))
    assert [" ".join(row.split()) for row in rows[who + 1 : who + 4]] == [
        "Oct Ada with Ben 5 mentions", "Ben 1 mention", "May Ben 3 mentions",
    ]  # fmt: skip
    assert [" ".join(row.split()) for row in rows[when + 1 : when + 5]] == [
        "May ━━━━━━━━ 4", "26 May New 10 was: Old 10", "25 May New 20 was? Old 20", "and 2 more",
    ]  # fmt: skip
    stops = [stop for stop in found.stops if stop.month is not None]
    assert [(stop.entity or stop.memory or stop.about) for stop in stops] == [
        ADA, BEN, BEN, "changed", THEN[1].changes[0].new, THEN[1].changes[1].new,
    ]  # fmt: skip
    assert len({stop.key for stop in found.stops}) == len(found.stops)


def test_each_month_has_the_number_of_its_changes_and_the_title_says_where_most_are() -> None:
    def changes(*numbers: int, width: int = 76) -> list[str]:
        months = tuple(
            month(12 - at, changed=number, changes=(replaced(10 * at, 30 * at),))
            for at, number in enumerate(numbers)
        )
        rows = lines(laid(Portrait(since=NOW, topics=(topic("home", 1),), months=months), width, 60))
        first = next(at for at, row in enumerate(rows) if row.startswith(WHEN))
        return [" ".join(row.split()) for row in rows[first:] if "was" not in row and "more" not in row]

    assert changes(1) == [WHEN, "December ━━━━━━━━ 1"]
    assert changes(2, 1_204, 3) == [
        f"{WHEN} most in Nov", "December ━╌╌╌╌╌╌╌ 2", "November ━━━━━━━━ 1,204", "October ━╌╌╌╌╌╌╌ 3",
    ]  # fmt: skip
    assert changes(5, 5, width=37) == [f"{WHEN} most in Dec", "December 5", "November 5"]


@pytest.mark.parametrize("width", [37, 76, 113])
def test_dates_are_counted_by_month_unless_all_are_there(width: int) -> None:
    def counted(*dates: int, total: int = 9) -> list[str]:
        due = tuple(
            DueInMonth(start=month(1 + at).start, term=f"2025-{1 + at:02}", facts=number)
            for at, number in enumerate(dates)
        )
        plans = topic("plan", 2, total=total, happens_at=NOW + DAY)
        rows = lines(
            laid(
                Portrait(since=NOW, topics=(plans,), plans=Plans(ahead=total, next=plans.facts), due=due),
                width,
                40,
            )
        )
        return [" ".join(row.split("|")[0].split()) for row in rows if "   in " in row]

    assert counted(4) == ["in January 4 dates"]
    assert counted(4, 1, 1, 1) == ["in January 4 dates", "in February 1 date", "in March 1 date"]
    assert counted(1, 1) == counted(2) == counted() == []  # both are there


@pytest.mark.parametrize("width", [37, 76, 113, 193])
def test_the_months_push_no_topic_out_of_sight(width: int) -> None:
    """Where there is no room for both they come after everything else."""
    for height in (9, 20, 34, 60):
        without, found = laid(FULL, width, height), laid(replace(FULL, months=THEN), width, height)
        titles = [TITLES[one] for one in (*TOPICS, None)]

        def seen(rows: list[str], height: int = height, titles: list[str] = titles) -> int:
            return sum(
                any(part.startswith(title) for part in row.split("|"))
                for row in rows[:height]
                for title in titles
            )

        assert seen(lines(found)) >= seen(lines(without))
        assert any(WHO in row for row in lines(found)) and any(WHEN in row for row in lines(found))


def test_what_did_not_happen_is_said() -> None:
    home = (topic("home", 1),)
    rows = "\n".join(lines(laid(Portrait(since=NOW, topics=home), 76, 30)))
    assert "Nothing new this week." in rows and "Agents wrote nothing this week." in rows
    busy = Portrait(
        since=NOW - 7 * DAY,
        topics=(home[0], topic("work", 1)),
        newest=(fact(1),),
        by_agents=1,
        from_agents=(fact(1),),
    )
    busy = replace(busy, topics=(replace(home[0], new=1),))
    assert "othing" not in "\n".join(lines(laid(busy, 76, 30)))
    view = PortraitLines(76, 30, NOW, UNICODE, 0, nothing_since="since yesterday")
    assert "Nothing new since yesterday." in "\n".join(lines(view.lay_out(busy)))


def test_at_eighty_cells_the_head_has_everything_that_goes_on() -> None:
    busy = replace(FULL, topics=(replace(FULL.topics[0], new=9),), changed=3, by_agents=4)
    first = "3 to review|2 conversations without facts|7 told to agents today"
    for width in (76, 118):
        assert lines(laid(busy, width, 20))[:2] == [
            first,
            "This week:|9 new|3 changed|4 by agents|1 fading",
        ]
    assert lines(laid(busy, 60, 20))[0] == "3 to review|2 talks without facts|7 told today"
    # Since another time: what fades is of the week all the same.
    since = PortraitLines(76, 20, NOW, UNICODE, 3, Since("2025-11-21T09", "since yesterday"))
    assert lines(since.lay_out(busy))[:2] == [
        "3 to review|2 talks without facts|1 fading this week|7 told today",
        "Since yesterday:|9 new|3 changed|4 by agents",
    ]
    # Each of a line is above or below one of the other.
    found = laid(busy, 76, 20)
    assert [found.rows[at] for at, column in enumerate(found.columns) if column == HEAD] == [0] * 3 + [1] * 4


def test_plans_have_their_day_before_them() -> None:
    plans = (
        fact(1, happens_at=NOW, content="the dentist"), fact(2, happens_at=NOW + 40 * DAY, content="the ferry"),
        fact(3, happens_at=NOW + 41 * DAY, topic="health", content="the allergist"),
    )  # fmt: skip
    known = Plans(
        ahead=3, next=plans, others=14, others_new=2, over=3, undated=(fact(4, content="the move"),)
    )
    portrait = Portrait(since=0, topics=(topic("plan", 1),), plans=known)
    told = shown(portrait).split("\n")
    rows = [row for row in told if " the " in row]
    assert "  today       the dentist" in rows[0] and "  1 Jan 2026  the ferry" in rows[1]
    assert "the allergist" in rows[2] and rows[2].endswith("Health")  # it stands there, too
    [others] = [row for row in told if row.startswith("Other plans")]
    assert others.split()[2:6] == ["2", "new", "3", "over"] and others.endswith(" 14")
    assert rows[3].startswith("·  the move")


def test_a_day_of_another_topic_is_ahead_without_any_plan() -> None:
    test = fact(1, happens_at=NOW + DAY, topic="health", content="the allergist")
    portrait = Portrait(since=0, topics=(topic("health", 1),), plans=Plans(ahead=1, next=(test,)))
    assert "Plans ahead" in shown(portrait) and "Other plans" not in shown(portrait)


def test_all_dangers_are_shown_where_there_is_room_even_with_less_of_all_else() -> None:
    def drawn(dangers: int, width: int, height: int) -> tuple[int, int, int]:
        """So many dangers and other topics are in sight; and so many lines there are."""
        health = topic("health", max(dangers, 8), total=40)
        topics = tuple(
            replace(health, dangers=dangers) if one.topic == "health" else one for one in FULL.topics
        )
        found = lines(laid(replace(FULL, topics=topics), width, height))
        numbers = [f"number {one.rid} " for one in health.facts[:dangers]]
        sight = "\n".join(found[:height])
        return (
            sum(number in sight for number in numbers),
            sum(f"{title} " in sight for title in TITLES.values()),
            len(found),
        )

    # With its twelve dangers the health of a person takes the room of second facts and of what goes on.
    number, titles, high = drawn(12, 113, 29)
    assert (number, high <= 29) == (12, True) and titles == len(TITLES)
    assert drawn(3, 113, 29)[0] == 3
    # Where all of it has to be scrolled they are all there; where they are too many as many as have room.
    assert drawn(12, 76, 20)[2] > 20
    assert 2 < drawn(30, 113, 29)[0] < 30 and drawn(30, 113, 29)[2] <= 29


def test_one_fact_is_enough_and_no_person_needs_a_fact() -> None:
    one = Portrait(since=0, topics=(topic("health", 1),))
    assert "Health" in shown(one) and "Fact number" in shown(one)
    known = Portrait(since=0, topics=(topic("health", 1),), people=(ADA,))
    assert shown(known).split("\n")[2].startswith("People") and "12 mentions" in shown(known)


texts = st.text(max_size=60) | st.sampled_from(
    [
        "\x1b]52;c;aGk=\x07",
        "a\nb\tc",
        "\u202egnp.exe",
        "漢字" * 40,
        "e\u0301" * 90,
        "👩‍👩‍👧" * 20,
        "",
        "[/red]",
        "\ud800",
    ]
)


@settings(max_examples=examples(40))
@given(text=texts, name=texts, width=st.integers(30, 220), ascii=st.booleans())
def test_no_text_gets_out_of_its_cell(text: str, name: str, width: int, ascii: bool) -> None:
    hostile = fact(1, content=text, attributes={"pinned_at": NOW})
    topics = tuple(
        TopicFacts(topic=one, total=10**6, confirmed=0, new=10**6, facts=(hostile,)) for one in TOPICS
    )
    person = Entity(eid=1, id="ent_1", canonical_name=name, type="person", mention_count=10**6)
    served = Status(review=0, served=(ServedToday(agent=name, times=1, memories=10**6),), memories=10**6)
    changed = Replacement(old=hostile, new=hostile, at=NOW, how="asked")
    then = month(
        5,
        persons=(PersonInMonth(person=person, memories=10**6, beside=(person,)),),
        changed=2,
        changes=(changed,),
    )
    portrait = Portrait(
        since=0, topics=topics, people=(person,), newest=(hostile,), status=served, months=(then,)
    )
    for line in laid(portrait, width, 30, ascii=ascii).lines:
        for part in line:
            for piece in part.pieces:
                assert "\x1b" not in piece.text and "\n" not in piece.text and "\u202e" not in piece.text
        if len(line) == 1:
            assert sum(max_cells(piece.text) for piece in line[0].pieces) <= width
