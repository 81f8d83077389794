"""What took whose place, in words: what Review only asks about is said with a question mark, and hides no decision."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from memtui.engine.records import MemoryRecord, Replacement
from memtui.present import replacement as words
from memtui.present.text import max_cells

NOW = int(datetime(2026, 6, 4, 10, tzinfo=UTC).timestamp())
DAY = 86_400


def fact(number: int, text: str, **fields: Any) -> MemoryRecord:
    return MemoryRecord(
        rid=number, id=f"fact_{number}", kind="fact", content=text, event_time=NOW, created_at=NOW, confidence=0.9,
        effective=0.9, decay_rate=0.1, trust="user", **fields,
    )  # fmt: skip


PORTO, LISBON, FARO = fact(1, "Lives in Porto"), fact(2, "Lives in Lisbon"), fact(3, "Lives in Faro")
ASKED = Replacement(old=PORTO, new=LISBON, at=NOW - DAY, how="asked")
DECIDED = Replacement(old=FARO, new=LISBON, at=NOW - 9 * DAY, how="corrected")


def said(one: Replacement, of: MemoryRecord | None = None) -> str:
    return "".join(text for text, _ in words.line(one, NOW, of))


def test_a_change_that_review_asks_about_is_a_question() -> None:
    assert said(ASKED, LISBON) == "was? Lives in Porto (said on 3 Jun; Review asks whether it did)"
    assert said(ASKED, PORTO).startswith("now? Lives in Lisbon (")
    assert said(ASKED).startswith("was? Lives in Porto; now? Lives in Lisbon (")
    assert words.line(ASKED, NOW, LISBON)[0] == ("was? ", "warning")
    assert said(DECIDED, LISBON) == "was: Lives in Faro (corrected on 26 May)"
    may, june = (fact(at, "The ferry", happens_at=NOW + at * DAY) for at in (1, 8))
    asked = Replacement(old=may, new=june, at=NOW, how="asked")
    assert said(asked, june).startswith("was 5 Jun, now 12 Jun? (")
    assert words.short_note(asked, NOW) == words.short_note(asked, NOW, june) == "was 5 Jun?"
    assert words.short_note(asked, NOW, may) == "now 12 Jun?"


def test_what_stands_by_the_word_of_an_agent_alone_is_said_to_be_by_an_agent() -> None:
    by_agent = {"trust": "agent", "attributes": {"corrected_by": "cursor"}}
    is_not = msgspec.structs.replace(LISBON, **by_agent)
    changed = Replacement(old=PORTO, new=is_not, at=NOW, how="corrected")
    assert (words.short_note(changed, NOW), words.role(changed)) == ("changed by an agent", "warning")
    may, june = (fact(at, "The ferry", happens_at=NOW + at * DAY) for at in (1, 8))
    moved = Replacement(old=may, new=msgspec.structs.replace(june, **by_agent), at=NOW, how="corrected")
    assert words.short_note(moved, NOW) == "was 5 Jun, by an agent"
    kept = msgspec.structs.replace(is_not, confirmed_at=NOW)
    confirmed = Replacement(old=PORTO, new=kept, at=NOW, how="corrected")
    assert (words.short_note(confirmed, NOW), words.role(confirmed)) == ("changed", "accent")


def test_a_question_hides_no_decision() -> None:
    assert words.latest_of((DECIDED, ASKED), LISBON) is DECIDED
    assert words.latest_of((ASKED,), LISBON) is ASKED and words.latest_of((ASKED,), PORTO) is ASKED
    later = Replacement(old=LISBON, new=FARO, at=NOW, how="corrected")
    assert words.latest_of((later,), LISBON) is None
    assert words.latest_of((), LISBON) is None


def test_of_several_changes_of_a_text_the_latest_decided_one_is_listed() -> None:
    first = Replacement(old=PORTO, new=LISBON, at=NOW - 20 * DAY, how="replaced")
    other = Replacement(old=LISBON, new=FARO, at=NOW, how="asked")
    assert words.latest_of_each([other, ASKED, DECIDED, first]) == [other, DECIDED]


def test_both_sides_show_what_differs_in_little_room() -> None:
    old = fact(1, "Ada's birthday is on Wednesday 2 December, and in this chaos I'm going to forget it")
    new = fact(2, "Ada's birthday is on Wednesday 2 December, she turns 40")
    one = Replacement(old=old, new=new, at=NOW, how="corrected")
    assert words.shown_sides(one, 200) == (new.content, old.content)
    for room in (30, 36, 44, 60, 90):
        is_now, was = words.shown_sides(one, room)
        assert max_cells(is_now) + max_cells(was) <= room
        assert "she turns" in is_now and was.startswith("… and in")
    assert words.shown_sides(one, 60) == ("Ada's birthday … she turns 40", "… and in this chaos I'm going …")
    assert words.shown_new(one, 40) == "Ada's birthday is on … she turns 40"
    assert words.shown_old(one, 20) == "… and in this chaos…"
    # One text is the beginning of the other.
    longer = fact(3, "Yuki is mildly allergic to dogs, so I have to think about Rhubarb")
    shorter = fact(4, "Yuki is mildly allergic to dogs")
    cut = Replacement(old=longer, new=shorter, at=NOW, how="corrected")
    assert words.shown_sides(cut, 61) == (shorter.content, "… so I have to think about Rh…")
    grown = Replacement(old=shorter, new=longer, at=NOW, how="corrected")
    assert words.shown_sides(grown, 50) == ("Yuki is … so I have to think about Rhuba…", "… to dogs")
    # Nothing is alike, or nothing can be cut.
    assert words.shown_sides(DECIDED, 20) == ("Lives … Lisbon", "… Faro")
    long = Replacement(old=fact(5, "x" * 99), new=fact(6, "字" * 99), at=NOW, how="corrected")
    assert sum(map(max_cells, words.shown_sides(long, 21))) <= 21


def test_a_text_that_changed_while_its_day_did_not_is_not_taken_for_a_moved_day() -> None:
    day = {"happens_at": NOW + DAY}
    one = Replacement(old=fact(1, "Tea", **day), new=fact(2, "Tea for two", **day), at=NOW, how="corrected")
    assert words.short_note(one, NOW) == "text changed"
    assert (
        words.short_note(Replacement(old=fact(1, "Tea"), new=fact(2, "Tea", **day), at=NOW, how="asked"), NOW)
        == "changed?"
    )


def test_of_a_text_that_names_what_is_over_the_new_value_is_seen() -> None:
    new = fact(4, "The go-live for all water boards is Friday 1 January and no longer Friday 11 December")
    told = Replacement(old=None, new=new, at=NOW, how="told", was="Friday 11 December")
    shown, was = words.shown_sides(told, 60)
    assert "Friday 1 January" in str(shown) and str(was) == "Friday 11 December"
    assert max_cells(str(shown)) + max_cells(str(was)) <= 60
