"""The timeline: every cell has what its filter passes, everything is the sum of its parts, and zooming keeps sums."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import FilterError, InputError
from memtui.engine.overview import periods
from memtui.engine.records import LAYERS, ROWS_BY, TOPICS, UNITS, NewMemory, Options, Timeline, Unit
from memtui.engine.search.filters import dates
from memtui.engine.store import entities, memories, recalls

DAY = 86_400
NOW = int(datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp())
OPTIONS = Options(background=False, embedder="off")
LISTED = "kind:fact,reflection,observation"
NAMES = ("Ada", "Grace", "Ada Lovelace", 'Bo "the, boat*"', "\u202eevil\u0000", "n" * 900, "עדה", "😀 party")
PROJECTS = (None, "boat", "Boat", 'a "quoted, one*', "p" * 600, "עברית", "\x1b[31mred", "garden")


def write(memory: Memory, rows: list[NewMemory]) -> list[int]:
    with memory._core.connections.write() as connection:
        return [rid for rid in memories.insert_all(connection, rows) if rid is not None]


def note(number: int, at: int, **given: object) -> NewMemory:
    base = {"kind": "fact", "content": f"note {number}", "event_time": at, "created_at": at, "trust": "user"}
    return {**base, **given}  # type: ignore[typeddict-item]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Three hundred memories of three years, of every kind, state, topic, project and person; some were recalled."""
    dice = random.Random(7)
    memory = Memory.open(
        tmp_path_factory.mktemp("timeline") / "memory.db", clock=lambda: NOW, options=OPTIONS
    )
    rows = [
        note(
            number, NOW - int(dice.random() ** 2 * 1_100 * DAY), project=dice.choice(PROJECTS),
            kind=(kind := dice.choice(["fact", "fact", "fact", "reflection", "observation", "episode"])),
            topic=dice.choice([*TOPICS[:5], None]) if kind != "episode" else None,
            category="lesson" if kind == "observation" else None, tags=dice.choice([(), ("work",)]),
        )
        for number in range(300)
    ]  # fmt: skip
    rids = write(memory, rows)
    with memory._core.connections.write() as connection:
        for rid in rids:
            if dice.random() < 0.4:
                names = dice.sample(NAMES, dice.choice([1, 1, 2]))
                entities.link(connection, rid, [entities.Mention(one, "person", one) for one in names], NOW)
            if dice.random() < 0.3:
                ending = dice.choice(["forgotten", "faded", "superseded", "merged"])
                memories.update(connection, rid, valid_until=NOW - dice.randrange(500 * DAY), ended_by=ending)
        ids = [str(id) for (id,) in connection.execute("SELECT id FROM memories")]
        for id in dice.sample(ids, 60):
            later = {"supersedes": dice.choice(ids), **dice.choice([{}, {"conflict_reason": "another day"}])}
            connection.execute("UPDATE memories SET attributes = ? WHERE id = ?", (json.dumps(later), id))
        for _ in range(80):
            at = NOW - dice.randrange(80 * DAY)
            recalls.add(
                connection, at=at, agent="a", session_id=None, query="q", memory_ids=dice.sample(ids, 4)
            )
    yield memory
    memory.close()


filters = st.sampled_from(
    [
        LISTED,
        "",
        "kind:episode",
        "kind:fact",
        f"{LISTED} tag:work",
        "note after:2025",
        "-topic:health",
        "is:trash",
        "-id:x",
    ]
)


@settings(max_examples=60)
@given(
    filters,
    st.sampled_from(ROWS_BY),
    st.sampled_from([None, *UNITS]),
    st.integers(1, 200),
    st.floats(0, 1),
    st.data(),
)
def test_a_cell_has_what_its_filter_passes(
    full: Memory, filter: str, by: str, unit: Unit | None, most: int, where: float, data: st.DataObject
) -> None:
    """And everything of a layer is what the filter passes in all periods together."""
    middle = data.draw(st.sampled_from([None, NOW - where * 1_100 * DAY]))
    found = full.view.timeline(filter, by=by, unit=unit, most=most, middle=middle)  # type: ignore[arg-type]
    assert found.layers == LAYERS and 1 <= found.periods <= most
    rows = (found.all, *found.rows)
    assert all(len(numbers) == found.periods for row in rows for numbers in row.counts.values())
    for _ in range(4):
        row, layer = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(LAYERS))
        filled = [at for at, number in enumerate(row.counts[layer]) if number] or [0]
        at = data.draw(st.sampled_from([*filled, found.periods - 1]))
        assert full.view.count(found.cell_filter(filter, row, layer, at)) == row.counts[layer][at]
    if by != "person":
        for layer in LAYERS:
            sums = tuple(map(sum, zip(*(row.counts[layer] for row in found.rows), strict=True)))
            assert not found.rows or sums == found.all.counts[layer]
    if unit is None and found.unit != "year":
        assert found.all.total("learned") == full.view.count(filter)
        for layer, term in (
            ("forgotten", "is:forgotten"),
            ("changed", "is:changed"),
            ("faded", "is:faded"),
        ):
            assert found.all.total(layer) == full.view.count(f"{filter} {term}")


@settings(max_examples=30)
@given(
    filters,
    st.sampled_from(ROWS_BY),
    st.sampled_from(list(pairwise(UNITS))),
    st.integers(0, 999),
)
def test_zooming_in_keeps_the_sums(
    full: Memory, filter: str, by: str, units: tuple[Unit, Unit], place: int
) -> None:
    coarse = full.view.timeline(filter, by=by, unit=units[0], most=1_000)  # type: ignore[arg-type]
    at = place % coarse.periods
    begun, end = coarse.bounds[at : at + 2]
    fine = full.view.timeline(filter, by=by, unit=units[1], most=60, middle=(begun + end) / 2)  # type: ignore[arg-type]
    # Weeks cross the bounds of months: only those are compared that begin and end in it.
    inside = [one for one in range(fine.periods) if begun <= fine.bounds[one] and fine.bounds[one + 1] <= end]
    assert [row.name for row in coarse.rows] == [row.name for row in fine.rows]
    for row, finer in zip((coarse.all, *coarse.rows), (fine.all, *fine.rows), strict=True):
        for layer in LAYERS:
            sums, whole = sum(finer.counts[layer][one] for one in inside), row.counts[layer][at]
            if units == ("month", "week"):
                assert sums <= whole or layer == "recalled"
            elif layer == "recalled":
                assert sums >= whole  # told on two days, it is in both
            elif fine.bounds[0] <= begun and end <= fine.bounds[-1]:
                assert sums == whole


def test_an_index_counts_what_grouping_counts(full: Memory) -> None:
    for filter in (LISTED, "", "kind:episode", "kind:observation,episode"):
        for by in ROWS_BY:
            quick = full.view.timeline(filter, by=by, most=100, unit="month")
            slow = full.view.timeline(f"{filter} -id:x", by=by, most=100, unit="month")
            assert quick.all == slow.all
            grouped = {row.term: row for row in slow.rows}
            for row in quick.rows:  # most mentioned first, also in what the filter does not pass
                assert row == grouped.get(row.term, row)
            assert by == "person" or quick.rows == slow.rows


def test_zones_and_clocks_that_change(full: Memory) -> None:
    for zone in (
        "Europe/Lisbon",
        "Pacific/Apia",
        "America/Sao_Paulo",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
    ):
        tz = ZoneInfo(zone)
        for unit in UNITS:
            for first in (
                datetime(2011, 12, 26),
                datetime(2018, 10, 30),
                datetime(2026, 3, 24),
                datetime(2026, 10, 20),
            ):
                begun = periods.beginning_of_period(unit, first)
                bounds = periods.period_bounds(unit, begun, 60 if unit != "hour" else 200, tz)
                assert list(bounds) == sorted(set(bounds))
                for start, end in pairwise(bounds):
                    first_date, _, last_date = periods.filter_term_of_period(unit, start, tz).partition("..")
                    named = (
                        dates.parse_period(first_date, NOW, tz),
                        dates.parse_period(last_date or first_date, NOW, tz),
                    )
                    assert named[0] is not None and named[1] is not None
                    assert (named[0][0], named[1][1]) == (start, end), (zone, unit, first_date)


@given(
    st.sampled_from(UNITS), st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), st.integers(-500, 500)
)
def test_steps_of_the_calendar(unit: Unit, moment: datetime, by: int) -> None:
    begun = periods.beginning_of_period(unit, moment)
    assert begun <= moment and periods.beginning_of_period(unit, begun) == begun
    assert unit != "week" or begun.weekday() == 0
    there = periods.shift_period(unit, begun, by)
    if timedelta() < there - datetime.min and datetime(2, 1, 1) < there < datetime(9998, 1, 1):
        assert (
            periods.periods_between(unit, begun, there) == by
            and periods.beginning_of_period(unit, there) == there
        )


def counts(found: Timeline, layer: str = "learned") -> dict[str | None, int]:
    return {row.name: row.total(layer) for row in found.rows}  # type: ignore[arg-type]


def test_nothing_one_memory_and_sixty_years(place: Path) -> None:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as memory:
        empty = memory.view.timeline(LISTED)
        assert (empty.periods, empty.rows, empty.earliest, empty.all.total("learned")) == (1, (), None, 0)
        write(memory, [note(1, NOW, topic="health")])
        one = memory.view.timeline(LISTED)
        assert (one.unit, one.periods, counts(one)) == ("hour", 1, {"health": 1})
        write(memory, [note(2, NOW - 60 * 365 * DAY, topic="home")])
        long = memory.view.timeline(LISTED)
        assert (long.unit, long.periods, counts(long)) == ("year", 60, {"health": 1, "home": 0})
        # The oldest of more years than fit are shown when they are asked for.
        assert counts(memory.view.timeline(LISTED, most=70)) == {"health": 1, "home": 1}
        assert counts(memory.view.timeline(LISTED, unit="year", middle=0)) == {"health": 0, "home": 1}
        write(memory, [note(3, NOW + 400 * DAY, topic="plan")])
        assert memory.view.timeline(LISTED).latest == NOW + 400 * DAY


def test_ten_thousand_names_give_so_many_rows_and_say_how_many_more(place: Path) -> None:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as memory:
        rids = write(
            memory, [note(number, NOW - number, project=f"project {number}") for number in range(300)]
        )
        with memory._core.connections.write() as connection:
            connection.executemany(
                "INSERT INTO entities(id, canonical_name, type, created_at) VALUES (?, ?, 'person', 0)",
                [(f"ent_{number:05}", f"Person {number}") for number in range(10_000)],
            )
            connection.execute(
                "INSERT INTO memory_entities(rid, eid) SELECT ?1 + eid % 300, eid FROM entities", (rids[0],)
            )
        persons = memory.view.timeline(LISTED, by="person", rows=30)
        assert (len(persons.rows), persons.left_out, persons.all.total("learned")) == (30, 9_970, 300)
        projects = memory.view.timeline(LISTED, by="project", rows=200)
        assert (len(projects.rows), projects.left_out) == (200, 100)
        with pytest.raises(InputError):
            memory.view.timeline(most=5_000)
        with pytest.raises(FilterError):
            memory.view.timeline("kind:nonsense")


def test_a_change_before_anything_that_passes_is_in_a_period(place: Path) -> None:
    """What took the place of another one earlier than it was said itself, and that one does not pass the filter."""
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as memory:
        old, _ = write(
            memory, [note(1, NOW - 900 * DAY), note(2, NOW - 3 * DAY, id="fact_new", tags=("work",))]
        )
        with memory._core.connections.write() as connection:
            memories.update(connection, old, valid_until=NOW - 400 * DAY, ended_by="superseded")
            [(id,)] = connection.execute("SELECT id FROM memories WHERE rid = ?", (old,))
            memories.update(connection, old + 1, attributes={"supersedes": id})
        found = memory.view.timeline("tag:work")
        assert found.earliest == NOW - 400 * DAY
        assert found.all.total("changed") == memory.view.count("tag:work is:changed") == 1
        at = found.all.counts["changed"].index(1)
        assert memory.view.count(found.cell_filter("tag:work", found.all, "changed", at)) == 1


def test_merged_persons_are_one_and_a_shared_name_is_told_by_its_id(place: Path) -> None:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as memory:
        rids = write(memory, [note(number, NOW - number * DAY) for number in range(4)])
        with memory._core.connections.write() as connection:
            for rid, name in zip(rids, ("Ada", "Ada L.", "Grace", "Ada"), strict=True):
                entities.link(connection, rid, [entities.Mention(name, "person", name)], NOW)
            entities.link(connection, rids[0], [entities.Mention("Ada L.", "person", "Ada L.")], NOW)
        memory.entities.merge("Ada", "Ada L.")
        found = memory.view.timeline(LISTED, by="person")
        assert counts(found) == {"Ada": 3, "Grace": 1} and found.all.total("learned") == 4
        assert [row.term for row in found.rows] == ['entity:"Ada"', 'entity:"Grace"']
        with memory._core.connections.write() as connection:
            other = entities.make_row(connection, "Grace", "person", NOW)
            entities.add_link(connection, rids[1], other)
        terms = {row.term for row in memory.view.timeline(LISTED, by="person").rows if row.name == "Grace"}
        assert len(terms) == 2 and all(term.startswith("entity:ent_") for term in terms)
