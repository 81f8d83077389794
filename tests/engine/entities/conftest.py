"""One memory, seen by the person and by an agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options

NOW = 1_750_000_000
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, clock=lambda: NOW, options=OPTIONS) as opened:
        yield opened


@pytest.fixture
def agent(memory: Memory) -> Iterator[Memory]:
    assert memory.path is not None
    with Memory.open(memory.path, actor="agent:codex", clock=lambda: NOW, options=OPTIONS) as opened:
        yield opened
