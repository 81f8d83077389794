"""Effective confidence is a function of time: the same at any schedule, through any gap, whatever the clock did.

Must fail on: saving the product (the faded value written back as the new confidence).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import apsw
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.confidence import EFFECTIVE_SQL, RECALL_SLOWS, effective_confidence, fades_at
from memtui.engine.records import Options

pytestmark = pytest.mark.decay

DAY = 86_400
YEAR = 365 * DAY
START = 1_700_000_000
OPTIONS = Options(background=False, embedder="off")


@dataclass(frozen=True)
class Row:
    """The columns that decide what is left of a confidence."""

    confidence: float
    decay_rate: float
    recall_days: int
    created_at: int
    last_accessed: int | None
    confirmed_at: int | None
    happens_at: int | None = None

    def at(self, now: float) -> float:
        return effective_confidence(
            self.confidence, self.decay_rate, self.recall_days, self.created_at, self.last_accessed,
            self.confirmed_at, self.happens_at, now,
        )  # fmt: skip

    @property
    def anchor(self) -> int:
        return max(
            self.created_at,
            self.last_accessed or self.created_at,
            self.confirmed_at or self.created_at,
            self.happens_at or self.created_at,
        )


times = st.integers(START - YEAR, START + YEAR)
rows = st.builds(
    Row,
    confidence=st.floats(0.0, 1.0),
    decay_rate=st.one_of(st.just(0.0), st.floats(1e-6, 5.0)),
    recall_days=st.integers(0, 60),
    created_at=times,
    last_accessed=st.none() | times,
    confirmed_at=st.none() | times,
    happens_at=st.none() | times,
)
moments = st.floats(START - 2 * YEAR, START + 5 * YEAR)


@pytest.fixture(scope="module")
def sqlite() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE TABLE m(confidence, decay_rate, recall_days, created_at, last_accessed, confirmed_at, happens_at)"
    )
    return connection


@given(row=rows, now=moments)
def test_sql_and_python_agree(sqlite: apsw.Connection, row: Row, now: float) -> None:
    sqlite.execute("DELETE FROM m")
    sqlite.execute(
        "INSERT INTO m VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            row.confidence,
            row.decay_rate,
            row.recall_days,
            row.created_at,
            row.last_accessed,
            row.confirmed_at,
            row.happens_at,
        ),
    )
    (sql,) = sqlite.execute(f"SELECT {EFFECTIVE_SQL} FROM m", {"now": now}).fetchone()
    assert math.isclose(sql, row.at(now), rel_tol=1e-12, abs_tol=1e-12)


@given(row=rows, now=moments)
def test_it_is_the_closed_form(row: Row, now: float) -> None:
    days = max(0.0, now - row.anchor) / DAY
    expected = row.confidence * math.exp(-row.decay_rate * RECALL_SLOWS**row.recall_days * days)
    assert math.isclose(row.at(now), expected, rel_tol=1e-9, abs_tol=1e-12)
    assert 0.0 <= row.at(now) <= 1.0


@given(row=rows, schedule=st.lists(moments, max_size=20), now=moments)
def test_reading_it_at_any_schedule_changes_nothing(row: Row, schedule: list[float], now: float) -> None:
    """Gaps, repetitions and clocks that jump back are all in ``schedule``."""
    before = row.at(now)
    for moment in schedule:
        row.at(moment)
    assert row.at(now) == before


@given(row=rows, earlier=moments, later=moments)
def test_it_never_grows_with_time(row: Row, earlier: float, later: float) -> None:
    earlier, later = sorted((earlier, later))
    assert row.at(later) <= row.at(earlier) + 1e-12


@given(row=rows, now=moments)
def test_a_recall_slows_forgetting(row: Row, now: float) -> None:
    recalled = replace(row, recall_days=row.recall_days + 1)
    assert recalled.at(now) >= row.at(now) - 1e-12


@given(row=rows, back=st.floats(0, 10 * YEAR))
def test_a_clock_before_the_last_sign_of_life_takes_nothing_away(row: Row, back: float) -> None:
    assert row.at(row.anchor - back) == row.confidence


@given(row=rows, threshold=st.floats(0.001, 0.999))
def test_fades_at_is_when_the_threshold_is_reached(row: Row, threshold: float) -> None:
    moment = fades_at(
        row.confidence, row.decay_rate, row.recall_days, row.created_at, row.last_accessed, row.confirmed_at,
        row.happens_at, threshold,
    )  # fmt: skip
    if row.decay_rate == 0.0 or row.confidence == 0.0:
        assert moment is None
        return
    assert moment is not None
    if row.confidence <= threshold:
        assert moment == row.anchor
        return
    assume(moment < 1e14)  # beyond that a second is less than the precision of the number
    assert math.isclose(row.at(moment), threshold, rel_tol=1e-6)
    assert row.at(moment - DAY) >= threshold * (1 - 1e-9)
    assert row.at(moment + DAY) <= threshold * (1 + 1e-9)


@given(row=rows, back=st.integers(0, YEAR))
def test_what_names_a_day_does_not_fade_before_it(row: Row, back: int) -> None:
    dated = replace(row, happens_at=row.anchor + YEAR)
    assert dated.at(row.anchor + YEAR - back) == row.confidence


def test_an_unrecalled_fact_is_below_the_default_threshold_on_day_30_not_on_day_8() -> None:
    row = Row(1.0, 0.1, 0, START, None, None)
    assert row.at(START + 8 * DAY) > 0.4
    assert row.at(START + 29 * DAY) > 0.05 > row.at(START + 30 * DAY)


def test_what_the_facade_shows_does_not_depend_on_who_looked_before() -> None:
    """Two memories, one looked at every day and one never, show the same after a month."""
    now = [float(START)]
    shown = []
    for looks in (0, 1, 10):
        now[0] = START
        with Memory.open(":memory:", actor="agent:a", clock=lambda: now[0], options=OPTIONS) as memory:
            fact = memory.remember("The ferry leaves at nine", confidence=0.9)
            for day in range(20):
                now[0] = START + day * DAY
                for _ in range(looks):
                    memory.get(fact.id)
                    memory.view.page("kind:fact", sort="confidence")
                    memory.stats()
            now[0] = START + 20 * DAY
            shown.append(memory.get(fact.id).effective)
            assert memory.get(fact.id).confidence == 0.9
    assert shown == pytest.approx([0.9 * math.exp(-2.0)] * 3, abs=1e-9)


def test_the_harness_catches_a_product_that_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    def save_the_product(self: Memory, id: str) -> object:
        row = self.view.get(id)
        with self._core.connections.write() as connection:
            connection.execute("UPDATE memories SET confidence = ? WHERE rid = ?", (row.effective, row.rid))
        return row

    monkeypatch.setattr(Memory, "get", save_the_product)
    with pytest.raises(AssertionError):
        test_what_the_facade_shows_does_not_depend_on_who_looked_before()
