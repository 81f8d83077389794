"""The timeline in words and as lines: whatever the names and numbers, every line fits and says the same in both."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.overview.periods import period_bounds
from memtui.engine.records import LAYERS, ROWS_BY, TOPICS, UNITS, Layer, RowsBy, Timeline, TimelineRow, Unit
from memtui.present import timeline as words
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.text import max_cells, visible_text

STARTS = {
    "year": (2024, 1, 1), "quarter": (2026, 4, 1), "month": (2026, 3, 1),
    "week": (2026, 3, 30), "day": (2026, 3, 2), "hour": (2026, 3, 2, 14),
}  # fmt: skip


def start(unit: Unit) -> int:
    return int(datetime(*STARTS[unit], tzinfo=UTC).timestamp())  # type: ignore[arg-type, misc]


def made(unit: Unit, by: RowsBy, rows: dict[str | None, list[int]], layer: Layer = "learned") -> Timeline:
    periods = len(next(iter(rows.values()), [0]))
    nothing = dict.fromkeys(LAYERS, (0,) * periods)
    those = [
        TimelineRow(name=name, term=f"x:{number}", counts={**nothing, layer: tuple(numbers)})
        for number, (name, numbers) in enumerate(rows.items())
    ]
    total = tuple(map(sum, zip(*rows.values(), strict=True))) if rows else (0,)
    return Timeline(
        by=by, unit=unit, bounds=period_bounds(unit, datetime(*STARTS[unit]), periods, UTC),  # type: ignore[arg-type]
        terms=("",) * periods, all=TimelineRow(name=None, term="", counts={**nothing, layer: total}), rows=tuple(those),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ("year", "2024"), ("quarter", "April to June 2026"), ("month", "March 2026"),
        ("week", "30 March to 5 April 2026"), ("day", "Monday 2 March 2026"), ("hour", "Monday 2 March 2026, 14:00 to 15:00"),
    ],
)  # fmt: skip
def test_a_period_has_a_name(unit: Unit, name: str) -> None:
    assert words.period_name(unit, start(unit), UTC) == name


def test_sentences() -> None:
    one = made("month", "topic", {"plan": [0, 3, 1], None: [0, 0, 0], "rule": [1, 0, 1], "home": [0, 2, 0]})
    everything, *rows = words.rows_in_order(one)
    assert [words.row_name(one, row) for row in rows] == [
        "Plans",
        "Home",
        "Rules for assistants",
        "No topic",
    ]
    assert [words.row_sentence(one, row, UTC) for row in rows] == [
        "Plans: 4 learned, most in April 2026 (3).", "Home: 2 learned, in April 2026.",
        "Rules for assistants: 2 learned, the last in May 2026.", "No topic: nothing.",
    ]  # fmt: skip
    assert words.cell_sentence(one, everything, 1, UTC) == "Everything, April 2026: 5 learned."
    assert words.cell_sentence(one, rows[3], 1, UTC) == "No topic, April 2026: nothing."
    assert words.headline(one, UTC) == "Memories by topic and month, March 2026 until May 2026."
    days = words.headline(made("day", "topic", {"plan": [0, 3, 1]}), UTC)
    assert days == "Memories by topic and day, 2 March until 4 March 2026."


HOSTILE = ("\u202eevil\x1b[31m", "n" * 500, "עברית שלום", "😀\u200d👩 party", "e\u0301" * 90)
names = st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE))
numbers = st.lists(st.integers(0, 10**9), min_size=1, max_size=90)


@given(
    st.sampled_from(UNITS), st.sampled_from(ROWS_BY), st.lists(names, max_size=20), numbers, st.sampled_from(LAYERS),
    st.integers(30, 220), st.integers(6, 60), st.booleans(), st.data(),
)  # fmt: skip
def test_every_line_fits(
    unit: Unit, by: RowsBy, given: list[str], counted: list[int], layer: Layer, width: int, height: int, plain: bool,
    data: st.DataObject,
) -> None:  # fmt: skip
    counted = counted[: words.grid_width(width)]
    rows = dict.fromkeys(TOPICS[: len(given)] if by == "topic" else given, counted)
    one = made(unit, by, rows, layer)  # type: ignore[arg-type]
    where = words.plan_drawing(one, width, height)
    cursor = data.draw(st.integers(0, len(one.rows))), data.draw(st.integers(0, one.periods - 1))
    first = max(cursor[0] - where.shown, 0)
    lines = words.draw_timeline(
        one, layer, where, ASCII if plain else UNICODE, cursor=cursor, first=first, zone=UTC
    )
    shown = ["".join(visible_text(text) for text, _ in line) for line in lines]
    assert all(max_cells(line) <= width for line in shown)
    assert len(lines) == where.line_below_grid + bool(where.below)
    assert where.line_below_grid + where.below <= max(height, 5)
    # The cursor is seen without colours; a place in the grid leads to its cell.
    signs = ASCII if plain else UNICODE
    if cursor[0] and not where.shown:
        return
    marked = where.top + where.sky - 1 + (cursor[0] and (cursor[0] - first) * where.high)
    assert shown[marked].startswith(signs.cursor) and where.row_at(marked) == (
        cursor[0] and cursor[0] - first
    )
    assert not where.below or signs.rising in shown[-1]
    for at in (0, cursor[1], one.periods - 1):
        assert where.cell_at(where.left + where.edges[at], where.top) == (0, at)
    # A bar wherever there is anything, and none where there is nothing.
    columns = [shown[marked][where.left + where.edges[at]] for at in range(one.periods)]
    if by == "topic":
        numbers = words.rows_in_order(one)[cursor[0]].counts[layer]
        assert [sign in signs.bars for sign in columns] == [bool(number) for number in numbers]
    assert all(words.row_sentence(one, row, UTC).endswith(".") for row in words.rows_in_order(one))
