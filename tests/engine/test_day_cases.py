"""Statements of four languages and the day that each names: ``tests/data/days``, of which one half is read as counts only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from memtui.engine.days import day_of_fact
from memtui.engine.records import Topic

DATA = Path(__file__).parents[1] / "data" / "days"
SAID = datetime(2026, 3, 4, 12, 30, tzinfo=UTC).timestamp()


class Case(NamedTuple):
    day: str
    topic: Topic
    text: str


def cases(name: str) -> list[Case]:
    found = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        day, topic, text = line.split("\t")
        (known,) = [one for one in get_args(Topic) if one == topic]
        found.append(Case(day, known, text))
    return found


def named(case: Case) -> str:
    found = day_of_fact(case.text, SAID, case.topic)
    return "-" if found is None else f"{datetime.fromtimestamp(found):%Y-%m-%d}"


@pytest.mark.parametrize("case", cases("dev.tsv"), ids=lambda case: case.text)
def test_the_day_of_a_statement(case: Case) -> None:
    assert named(case) == case.day


def test_the_half_that_nobody_looked_at() -> None:
    held = cases("held.tsv")
    right = sum(named(case) == case.day for case in held)
    assert right >= 24, f"{right} of {len(held)}"
