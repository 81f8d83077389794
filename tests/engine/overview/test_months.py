"""The latest months: who was talked about in each and with whom, and what changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.overview import months
from memtui.engine.records import Month, Options
from memtui.present.portrait import due_in_month_filter

DAY = 86_400
NOW = datetime(2026, 6, 20, 10, tzinfo=UTC).timestamp()
OPTIONS = Options(background=False, embedder="off")


class Desk:
    """The person's memory at a time."""

    def __init__(self, place: Path) -> None:
        self.now = NOW
        self.memory = Memory.open(place, clock=lambda: self.now, options=OPTIONS)

    def write(self, day: str, *texts: str) -> list[str]:
        self.now = datetime.fromisoformat(f"{day}T12:00+00:00").timestamp()
        return [self.memory.remember(text).id for text in texts]

    def correct(self, day: str, id: str, text: str) -> str:
        self.now = datetime.fromisoformat(f"{day}T12:00+00:00").timestamp()
        return self.memory.correct(id, text).id

    def months(self, filter: str = "") -> dict[str, Month]:
        self.now = NOW
        self.memory.models.index_pending()
        return {one.term: one for one in self.memory.view.portrait(filter).months}


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    opened = Desk(place)
    yield opened
    opened.memory.close()


def said(month: Month) -> list[tuple[str, int, list[str]]]:
    return [
        (one.person.canonical_name, one.memories, [other.canonical_name for other in one.beside])
        for one in month.persons
    ]


def test_who_was_talked_about_and_with_whom(desk: Desk) -> None:
    for name in ("Nadia Haddad", "Samir Haddad", "Ada Ferreira"):
        desk.write("2026-03-01", f"I met my friend {name} today")
    desk.write("2026-04-02", "Ada Ferreira saw Nadia Haddad", "Ada Ferreira is in Ghent")
    desk.write("2026-04-05", "Ada Ferreira and Nadia Haddad cooked", "Samir Haddad called Ada Ferreira")
    desk.write("2026-06-01", "Samir Haddad moved")
    found = desk.months()
    assert list(found) == ["2026-06", "2026-04", "2026-03"]
    assert said(found["2026-06"]) == [("Samir Haddad", 1, [])]
    assert said(found["2026-04"])[:2] == [
        ("Ada Ferreira", 4, ["Nadia Haddad", "Samir Haddad"]), ("Nadia Haddad", 2, ["Ada Ferreira"]),
    ]  # fmt: skip
    assert len(said(found["2026-03"])) == 3 and found["2026-03"].others == 0
    assert found["2026-04"].start == datetime(2026, 4, 1).timestamp() and found["2026-04"].changed == 0
    # Persons are of the whole memory: with a filter none is named.
    assert desk.months("topic:plan") == {}


def test_what_was_forgotten_or_is_nobody_counts_no_more_and_merged_persons_are_one(desk: Desk) -> None:
    desk.write("2026-04-01", "I met my friend Ada Ferreira", "I met my friend Nadia Haddad")
    [gone] = desk.write("2026-04-03", "Ada Ferreira saw Nadia Haddad")
    assert said(desk.months()["2026-04"])[0] == ("Ada Ferreira", 2, ["Nadia Haddad"])
    desk.memory.forget(gone)
    assert said(desk.months()["2026-04"]) == [("Ada Ferreira", 1, []), ("Nadia Haddad", 1, [])]
    desk.memory.entities.merge("Ada Ferreira", "Nadia Haddad")
    assert said(desk.months()["2026-04"]) == [("Ada Ferreira", 2, [])]
    desk.memory.entities.not_an_entity("Ada Ferreira")
    assert desk.months() == {}


def test_what_changed_in_the_month_in_which_it_did(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ferry, home, work = desk.write(
        "2026-01-05", "The ferry is on 12 June 2026", "Lives in Porto", "Works at Initech"
    )
    moved = desk.correct("2026-04-04", ferry, "The ferry is on 19 June 2026")
    desk.correct("2026-05-01", home, "Lives in Lisbon")
    desk.correct("2026-05-09", work, "Works at Globex")
    found = desk.months("kind:fact")
    assert {term: one.changed for term, one in found.items()} == {"2026-05": 2, "2026-04": 1}
    assert [(one.old.content, one.new.content) for one in found["2026-05"].changes] == [
        ("Works at Initech", "Works at Globex"), ("Lives in Porto", "Lives in Lisbon"),
    ]  # fmt: skip
    assert [one.new.id for one in found["2026-04"].changes] == [moved]
    assert list(desk.months("Lisbon")) == ["2026-05"]
    # The months are counted back from the last one with anything, and of very many changes the latest written count.
    monkeypatch.setattr(months, "MONTHS", 1)
    assert list(desk.months("kind:fact")) == ["2026-05"] and list(desk.months("ferry")) == ["2026-04"]
    monkeypatch.setattr(months, "_LATEST", 1)
    assert [one.new.content for one in desk.months("kind:fact")["2026-05"].changes] == ["Works at Globex"]


def test_a_change_that_review_asks_about_is_among_them(desk: Desk) -> None:
    desk.write("2026-03-05", "The dentist is on 12 May 2026")
    desk.write("2026-04-05", "The dentist is on 19 May 2026")
    old, new = (desk.memory.view.page(f'"{day} May"')[0].id for day in (12, 19))
    from memtui.engine.store import proposals

    with desk.memory._core.connections.write() as connection:
        payload = {"new": new, "old": old, "reason": "a different day"}
        proposals.ask(connection, "prop_1", proposals.CONFLICT, payload, int(NOW))
    [asked] = desk.months("kind:fact")["2026-04"].changes
    assert (asked.how, asked.old.id, asked.new.id) == ("asked", old, new)


def test_nothing_has_no_month(desk: Desk) -> None:
    assert desk.months() == {}
    desk.write("2026-04-05", "Sleeps badly after coffee")
    assert desk.months() == {}


def test_the_months_with_days_ahead_and_how_many_facts_name_one_of_each(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, day in (
        ("the race", "2026-06-03"), ("the ferry", "2026-06-20"), ("the party", "2026-06-30"), ("the exam", "2026-12-24"),
        ("the move", "2027-01-01"), ("the boat", "none"),
    ):  # fmt: skip
        desk.now = NOW
        desk.memory.classify(desk.memory.remember(f"There is {text}", topic="plan").id, happens=day)
    desk.memory.classify(desk.memory.remember("Ada was born", topic="people").id, happens="2026-12-02")
    due = desk.memory.view.portrait().due
    assert [(one.term, one.facts) for one in due] == [("2026-06", 2), ("2026-12", 2), ("2027-01", 1)]
    for one in due:
        assert one.facts == desk.memory.view.count(due_in_month_filter(one.start, NOW))
        assert datetime.fromtimestamp(one.start).isoformat()[:7] == one.term
    assert [one.term for one in desk.memory.view.portrait("exam").due] == ["2026-12"]
    assert [one.content for one in desk.memory.view.page("happens:december topic:plan")] == [
        "There is the exam"
    ]
    monkeypatch.setattr(months, "MONTHS", 2)
    assert [one.term for one in desk.memory.view.portrait().due] == ["2026-06", "2026-12"]


def test_a_portrait_without_months_does_not_read_them(desk: Desk) -> None:
    [home] = desk.write("2026-01-05", "Lives in Porto with Ada")
    desk.correct("2026-05-01", home, "Lives in Lisbon with Ada")
    assert desk.months("kind:fact") and desk.memory.view.portrait(months=False).months == ()
