"""What took whose place: by a correction, by what was said later, and where Review asks whether it did."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import FilterError
from memtui.engine.records import NewMemory, Options, Replacement
from memtui.engine.store import memories, proposals
from memtui.present import replacement
from memtui.present.for_others import redacted_portrait
from memtui.present.portrait import is_new

DAY = 86_400
NOW = int(datetime(2026, 5, 20, 10, tzinfo=UTC).timestamp())
OPTIONS = Options(background=False, embedder="off")


class Desk:
    def __init__(self, place: Path) -> None:
        self.now = NOW
        self.memory = Memory.open(place, clock=lambda: self.now, options=OPTIONS)

    def learn(self, text: str, *, ago: float, **given: Any) -> str:
        """A fact that was said so many days ago, by its id."""
        at = int(NOW - ago * DAY)
        row: NewMemory = {
            "kind": "fact", "content": text, "event_time": at, "created_at": at, "trust": "user", "topic": "plan", **given
        }  # type: ignore[typeddict-item] # fmt: skip
        with self.memory._core.connections.write() as connection:
            [rid] = memories.insert_all(connection, [row])
            assert rid is not None
            [one] = memories.by_rid(connection, [rid], self.now)
        return one.id

    def ask(self, new: str, old: str, **more: Any) -> str:
        """A card of Review. ``more``: of its payload."""
        id = proposals.identity(proposals.CONFLICT, new, old)
        with self.memory._core.connections.write() as connection:
            payload = {"new": new, "old": old, "reason": "a different day", **more}
            proposals.ask(connection, id, proposals.CONFLICT, payload, NOW)
        return id

    def decide(self, card: str, state: proposals.State) -> None:
        with self.memory._core.connections.write() as connection:
            proposals.decide(connection, card, state, NOW)

    def found(self, filter: str) -> list[str]:
        return sorted(one.content for one in self.memory.view.page(filter))

    def chain(self, id: str) -> list[tuple[str, str, str, int]]:
        return list(map(shown, self.memory.view.detail(id).replacements))


def shown(one: Replacement) -> tuple[str, str, str, int]:
    """``at`` in days before now."""
    return one.how, one.old.content if one.old else one.was, one.new.content, round((NOW - one.at) / DAY)


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    opened = Desk(place)
    yield opened
    opened.memory.close()


def test_a_correction_is_a_change_on_the_day_it_was_made(desk: Desk) -> None:
    old = desk.learn("Dentist on 12 May", ago=30)
    desk.now = NOW - 3 * DAY
    new = desk.memory.correct(old, "Dentist on 19 May")
    desk.now = NOW
    expected = [("corrected", "Dentist on 12 May", "Dentist on 19 May", 3)]
    assert desk.chain(old) == desk.chain(new.id) == expected
    assert (
        desk.found("is:changed")
        == desk.found("changed:7d")
        == desk.found("changed:*")
        == ["Dentist on 19 May"]
    )
    assert desk.found("changed:2d") == desk.found("changed:2026-04") == []
    assert desk.found("-is:changed") == []
    desk.memory.undo()
    assert desk.chain(old) == [] and desk.found("is:changed") == []


def test_what_was_said_later_is_a_change_on_the_day_it_was_said(desk: Desk) -> None:
    old = desk.learn("Course on Wednesdays", ago=30)
    later = {"supersedes": old, "conflict_reason": "a different day"}
    desk.learn("Course on Thursdays", ago=10, attributes=later)
    assert desk.chain(old) == [("replaced", "Course on Wednesdays", "Course on Thursdays", 10)]
    assert desk.found("changed:2026-05-10") == ["Course on Thursdays"]
    desk.memory.confirm(old)  # the person says that the old one stands all the same
    assert desk.chain(old) == [] and desk.found("is:changed") == []


def test_a_card_of_review_leads_from_the_old_date_to_the_new_one(desk: Desk) -> None:
    old = desk.learn("Dentist on 12 May", ago=30)
    new = desk.learn("Dentist moved to 19 May", ago=4)
    card = desk.ask(old, new)  # drawn in the other order: what was said later is the new one
    expected = [("asked", "Dentist on 12 May", "Dentist moved to 19 May", 4)]
    assert desk.chain(old) == desk.chain(new) == expected
    assert desk.found("is:changed") == desk.found("changed:7d") == ["Dentist moved to 19 May"]
    desk.decide(card, "rejected")
    assert desk.chain(old) == [] and desk.found("is:changed") == []


def test_where_it_is_doubtful_which_fact_changed_only_review_asks(desk: Desk) -> None:
    old = desk.learn("Two days off, to stay with her", ago=30)
    new = desk.learn("We stay in Rotterdam for now", ago=1)
    desk.ask(new, old, weak=True)
    assert desk.chain(old) == desk.chain(new) == [] and desk.found("is:changed") == []
    portrait = desk.memory.view.portrait()
    assert (portrait.changed, portrait.changes, portrait.replaced) == (0, (), {})
    assert sum(month.changed for month in portrait.months) == 0
    assert desk.memory.view.detail(old).asked and desk.memory.view.status().review == 1


def test_a_text_that_names_the_value_that_is_over_is_a_change_by_itself(desk: Desk) -> None:
    text = "Go-live is 31 December and no longer 10 December"
    id = desk.learn(text, ago=4, attributes={"was": "10 December"})
    expected = [("told", "10 December", text, 4)]
    assert desk.chain(id) == expected
    assert desk.found("is:changed") == desk.found("changed:7d") == desk.found("changed:2026-05") == [text]
    assert desk.found("changed:2d") == []
    portrait = desk.memory.view.portrait()
    assert (portrait.changed, list(map(shown, portrait.changes))) == (1, expected)
    assert sum(month.changed for month in portrait.months) == 1
    (change,) = portrait.changes
    assert replacement.short_note(change, NOW) == "was 10 December"
    assert (
        "".join(part for part, _ in replacement.line(change, NOW, change.new))
        == "was: 10 December (said on 16 May)"
    )
    new = desk.memory.correct(id, "Go-live is in January")
    assert [one[0] for one in desk.chain(new.id)] == ["told", "corrected"]


def test_a_chain_is_whole_from_each_of_its_versions(desk: Desk) -> None:
    first = desk.learn("Party on 1 May", ago=40)
    second = desk.memory.correct(first, "Party on 8 May")
    third = desk.memory.correct(second.id, "Party on 15 May")
    other = desk.learn("Party perhaps in June", ago=1)
    desk.ask(other, third.id)
    expected = {
        ("corrected", "Party on 1 May", "Party on 8 May"),
        ("corrected", "Party on 8 May", "Party on 15 May"),
        ("asked", "Party on 15 May", "Party perhaps in June"),
    }
    for id in (first, second.id, third.id):
        assert {one[:3] for one in desk.chain(id)} == expected and len(desk.chain(id)) == 3


def test_a_restored_text_a_same_text_and_a_turn_are_no_change(desk: Desk) -> None:
    old = desk.learn("Moves in June", ago=9)
    new = desk.memory.correct(old, "Moves in July")
    desk.memory.restore(old)
    desk.learn("Has a boat", ago=9)
    desk.memory.record_turn("s", "user", "The course moved to Thursdays")
    assert desk.chain(new.id) == [] and desk.found("is:changed") == []
    assert desk.memory.view.replacements([new.id, old]) == {}


def test_many_facts_are_asked_about_at_once(desk: Desk) -> None:
    ids = [desk.learn(f"Meeting {number} on 12 May", ago=20) for number in range(60)]
    later = [desk.learn(f"Meeting {number} on 19 May", ago=2) for number in range(60)]
    for new, old in zip(later, ids, strict=True):
        desk.ask(new, old)
    found = desk.memory.view.replacements([*ids, *later])
    assert set(found) == {*ids, *later}
    assert all(len(those) == 1 for those in found.values())
    assert desk.memory.view.count("changed:7d") == 60


def test_the_portrait_tells_what_changed_lately_and_what_it_was(desk: Desk) -> None:
    old = desk.learn("Dentist on 12 May", ago=30)
    new = desk.learn("Dentist moved to 19 May", ago=4)
    desk.ask(new, old)
    course = desk.learn("Course on Wednesdays", ago=60, topic="routine")
    desk.learn(
        "Course on Thursdays",
        ago=20,
        topic="routine",
        attributes={"supersedes": course, "conflict_reason": "day"},
    )
    bike = desk.learn("Has a red bike", ago=50, topic="possession")
    corrected = desk.memory.correct(bike, "Has a blue bike")
    found = desk.memory.view.portrait()
    assert [one.new.content for one in found.changes] == ["Has a blue bike", "Dentist moved to 19 May"]
    assert found.changed == desk.memory.view.count("kind:fact changed:7d") == 2
    before = {id: those[-1].old.content for id, those in found.replaced.items()}
    assert before[new] == "Dentist on 12 May" and before[corrected.id] == "Has a red bike"
    assert course not in before
    month = desk.memory.view.portrait("-topic:possession", since="30d")
    assert [one.new.content for one in month.changes] == ["Dentist moved to 19 May", "Course on Thursdays"]
    assert desk.memory.view.portrait(since="2026-05-18").changed == 1
    with pytest.raises(FilterError):
        desk.memory.view.portrait(since="whenever")


def test_the_portrait_tells_of_both_sides_that_review_asks_about_a_change(desk: Desk) -> None:
    old = desk.learn("My boss is Kirsten", ago=30, topic="people")
    new = desk.learn("My boss is now Peter", ago=4, topic="people")
    desk.ask(new, old)
    found = desk.memory.view.portrait().replaced
    assert [(one.how, one.new.id) for one in (*found[old], *found[new])] == [("asked", new)] * 2


def test_an_agents_correction_that_no_source_says_is_shown_with_what_it_was(desk: Desk) -> None:
    desk.memory.record_turn("monday", "user", "Our vet is Aisha Rahman, her phone is +45 8612 4471.")
    asyncio.run(desk.memory.consolidate("monday"))
    (fact,) = desk.memory.view.page("kind:fact")
    new = desk.memory.acting_as("agent:bot").correct(fact.id, "Our vet is Tom Birk, his mobile: 1111 0000")
    (card,) = desk.memory.review.items(kinds=["agent_change"])
    assert "unsupported" in card.reason
    found = desk.memory.view.portrait()
    assert [one.id for topic in found.topics for one in topic.facts] == [new.id]
    assert [one.old.id for one in found.replaced[new.id]] == [fact.id]


def test_what_was_rejected_is_not_told_as_the_new_text_beside_what_came_then(desk: Desk) -> None:
    old = desk.learn("My husband Jens runs the bakery", ago=30)
    wrong = desk.memory.acting_as("agent:bot").correct(old, "My husband Lars runs the bakery")
    desk.memory.forget(wrong.id)
    assert old not in desk.memory.view.replacements([old])
    right = desk.memory.correct(old, "My husband Jens runs the two bakeries")
    assert [one.new.id for one in desk.memory.view.replacements([old])[old]] == [right.id]


def test_a_picture_for_others_has_nothing_of_what_it_was_before_nor_of_agents(desk: Desk) -> None:
    desk.memory.correct(desk.learn("Has a red bike", ago=3), "Has a blue bike")
    desk.learn("Answers best in the morning", ago=1, trust="agent")
    found = desk.memory.view.portrait()
    assert (found.changed, found.by_agents) == (1, 1) and found.replaced
    assert [one.content for one in found.from_agents] == desk.found("kind:fact trust:agent on:7d..")
    shown = redacted_portrait(found)
    assert (shown.changed, shown.changes, shown.replaced, shown.by_agents, shown.from_agents) == (
        0,
        (),
        {},
        0,
        (),
    )


@pytest.mark.parametrize("text", ["\x1b]52;c;aGk=\x07 [/]", "\u202eevil", "e" + "\u0301" * 90, "x" * 9_000])
def test_hostile_texts_are_told_in_plain_lines(desk: Desk, text: str) -> None:
    desk.memory.correct(desk.learn(f"old {text}", ago=3), f"new {text}")
    [one] = desk.memory.view.portrait().changes
    for of in (None, one.old, one.new):
        assert all("\n" not in part for part, _ in replacement.line(one, NOW, of))


def test_a_correction_is_changed_and_not_new(desk: Desk) -> None:
    old = desk.learn("Dentist on 12 June", ago=30)
    desk.now = NOW - 2 * DAY
    first = desk.memory.correct(old, "Dentist on 13 June")
    again = desk.memory.correct(first.id, "Dentist on 14 June")
    desk.now = NOW
    fresh = desk.learn("Party on 1 July", ago=3)
    corrected = desk.memory.correct(fresh, "Party on 2 July")
    course = desk.learn("Course on Wednesdays", ago=30)
    later = {"supersedes": course, "conflict_reason": "a different day"}
    desk.learn("Course on Thursdays", ago=1, attributes=later)
    new = ["Course on Thursdays", "Party on 2 July"]
    assert desk.found("kind:fact learned:7d") == new
    assert desk.found("learned:2026-04") == ["Course on Wednesdays", "Dentist on 14 June"]
    portrait = desk.memory.view.portrait()
    assert portrait.new == 2 and sorted(one.content for one in portrait.newest) == new
    shown = {fact.id for one in portrait.topics for fact in one.facts}
    assert {again.id, corrected.id} <= shown and not is_new(desk.memory.get(again.id), portrait)
    assert is_new(desk.memory.get(corrected.id), portrait)
    assert portrait.changed == 3
