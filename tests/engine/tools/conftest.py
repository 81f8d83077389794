"""The door for agents, open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from door_kit import NOW, Door, beside
from memtui import Memory
from memtui.engine.records import Options

from clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def door(clock: Clock) -> Iterator[Door]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=clock, options=options) as person:
        yield Door(person, beside(person))
