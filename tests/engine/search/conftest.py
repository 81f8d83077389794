"""The memory that these tests search."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui.engine.store.file import open_file
from shelf import Book


@pytest.fixture
def book() -> Iterator[Book]:
    connections = open_file(":memory:")
    yield Book(connections)
    connections.close()
